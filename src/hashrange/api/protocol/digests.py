"""A request's fingerprint: what an idempotency token or a page token is bound to."""

import hashlib
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")


def digest(*elements: Any) -> bytes:
    """The same for equal elements, however the members of their maps are ordered."""
    fingerprint = hashlib.sha256()
    for element in elements:
        # One call for all of them would hold up the other threads: they may have hundreds of thousands of values.
        fingerprint.update(_encoded(element) + b"\n")
    return fingerprint.digest()


def _encoded(element: Any) -> bytes:
    try:
        return _encoder.encode(element)
    except RecursionError:
        # Nested beyond what is accepted: the request is refused later on, in the service's own words.
        return b""
