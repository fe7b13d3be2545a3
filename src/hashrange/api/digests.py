"""A request's fingerprint: what an idempotency token or a page token is bound to."""

import hashlib
import marshal
from typing import Any

import orjson


def digest(asked: Any) -> bytes:
    """The same for equal JSON, however its members are ordered."""
    try:
        content = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        # It reads four times as deep as it writes. Such a request is refused later on, in the service's own words.
        content = marshal.dumps(asked)
    return hashlib.sha256(content).digest()
