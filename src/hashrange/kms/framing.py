"""Lists of byte strings as one byte string, so that no two lists give the same one.

What is authenticated but not encrypted (a key's name, an encryption context) goes through here. Putting parts end to
end would let `{"ab": "c"}` pass for `{"a": "bc"}`; lengths before the parts do not.
"""

from collections.abc import Mapping

_LENGTH_BYTES = 4


def framed(*parts: bytes) -> bytes:
    """All parts, each behind its length, behind their number."""
    pieces = [len(parts).to_bytes(_LENGTH_BYTES, "big")]
    for part in parts:
        pieces += (len(part).to_bytes(_LENGTH_BYTES, "big"), part)
    return b"".join(pieces)


def framed_context(context: Mapping[str, str]) -> bytes:
    """An encryption context: its order does not count, everything else does."""
    pairs = sorted((name.encode(), value.encode()) for name, value in context.items())
    return framed(*(part for pair in pairs for part in pair))
