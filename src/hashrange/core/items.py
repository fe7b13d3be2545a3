"""Whole items: their size, and their stored form of a short header followed by canonical JSON."""

import orjson

from hashrange.core.values import Item, attributes_size

# Stored form: one byte of format, four bytes of item size in the service's own bytes, then the item as DynamoDB JSON.
FORMAT = b"\x01"
HEADER_BYTES = 5


def item_size(item: Item) -> int:
    """Names and values added up, as the service measures an item."""
    return attributes_size(item)


def encode(item: Item, size_bytes: int) -> bytes:
    """The stored form of an item whose size is already known."""
    return FORMAT + size_bytes.to_bytes(4, "big") + orjson.dumps(item)


def decode(stored: bytes) -> Item:
    """The item of a stored form."""
    return orjson.loads(memoryview(stored)[HEADER_BYTES:])  # type: ignore[no-any-return]


def stored_size(stored: bytes) -> int:
    """The item's size, read from the header alone."""
    return int.from_bytes(stored[1:HEADER_BYTES], "big")


def stored_json(stored: bytes) -> bytes:
    """The item's JSON, to be pasted into an answer as it is."""
    return stored[HEADER_BYTES:]
