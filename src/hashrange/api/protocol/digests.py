"""A request's fingerprint: what an idempotency token or a page token is bound to."""

import hashlib
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")


def digest(content: Any) -> bytes:
    """The same for equal structures, however the members of their maps are ordered."""
    try:
        encoded = _encoder.encode(content)
    except RecursionError:
        # Nested beyond what is accepted: the request is refused later on, in the service's own words.
        encoded = b""
    return hashlib.sha256(encoded).digest()
