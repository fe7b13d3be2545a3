"""The parts of key bytes: where the partition key ends, and where in an index row the item's own key begins."""

from hashrange.core.keys.encoding import HASH_BYTES
from hashrange.core.schema import Index

_LENGTH_BYTES = 2
_NEGATIVE_END = 102  # see numbers.encode
_ZERO = 0x80


def collection_end(key: bytes, attributes: int = 1) -> int:
    """Where the partition key ends, which has so many attributes."""
    at = HASH_BYTES
    for _ in range(attributes):
        at += _LENGTH_BYTES + int.from_bytes(key[at : at + _LENGTH_BYTES], "big")
    return min(at, len(key))


def own_key(index: Index | None, key: bytes) -> bytes:
    """The key of an item, or of an index row without the item's key at its end: rows with equal ones stay together."""
    if index is None:
        return key
    at = collection_end(key, len(index.hash))
    for attribute in index.range:
        at = _number_end(key, at) if attribute.type == "N" else _text_end(key, at)
    return key[:at]


def _text_end(key: bytes, at: int) -> int:
    end = key.find(b"\x00\x01", at)
    return len(key) if end < 0 else end + 2


def _number_end(key: bytes, at: int) -> int:
    if at >= len(key):
        return len(key)
    end = key.find(bytes([_NEGATIVE_END]) if key[at] < _ZERO else b"\x00", at + 1)
    return len(key) if end < 0 else end + 1
