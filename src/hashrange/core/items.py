"""Whole items: their size, and their stored form of a short header followed by canonical JSON.

The header is 16 bytes: one of format, four of item size in the service's own bytes, eight of the time it was written
(microseconds since the epoch), three for the number of the key it is encrypted with (0: none). The document of record
is docs/design/009-stored-items.md.
"""

import struct
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from operator import add

import orjson

from hashrange.core import effort, patient_json
from hashrange.core.values import Item, attributes_size

FORMAT = 2
HEADER_BYTES = 16
SIZE_FIELD = slice(1, 5)  # of a header
# One header among many that stand in a row: see `storage.pages`.
HEADER_SIZE_FIELD = "xI11x"
_pack = struct.Struct(">BIQ3x").pack
_unpack_size = struct.Struct(">xI").unpack_from
_MICROSECONDS = 1_000_000
LARGE_BYTES = 16 * 1024  # smaller items are not counted: see core/effort.py


def item_size(item: Item) -> int:
    """Names and values added up, as the service measures an item."""
    return attributes_size(item)


def encode(item: Item, size_bytes: int, written_at: float, json: bytes | None = None) -> bytes:
    """The stored form of an item whose size is already known, and maybe its JSON."""
    return headed(orjson.dumps(item) if json is None else json, size_bytes, written_at)


def headed(json: bytes, size_bytes: int, written_at: float) -> bytes:
    """The stored form of an item whose size and JSON are known."""
    return _pack(FORMAT, size_bytes, int(written_at * _MICROSECONDS)) + json


def all_headed(jsons: Iterable[bytes], sizes: Iterable[int], written_at: float) -> list[bytes]:
    """The same of many, without a line of Python for each of them."""
    written = repeat(int(written_at * _MICROSECONDS))
    return list(map(add, map(_pack, repeat(FORMAT), sizes, written), jsons))


def of_json(json: bytes) -> Item:
    """The item of its JSON."""
    return orjson.loads(json)  # type: ignore[no-any-return]


def item_json(item: Item) -> bytes:
    """The JSON of an item, as its stored form has it."""
    return orjson.dumps(item)


def decode(stored: bytes) -> Item:
    """The item of a stored form."""
    if len(stored) > LARGE_BYTES:
        # Making the objects costs about as much as looking at each of them twice.
        effort.spend(2 * len(stored))
        return patient_json.loads(memoryview(stored)[HEADER_BYTES:], orjson.loads)  # type: ignore[no-any-return]
    return orjson.loads(memoryview(stored)[HEADER_BYTES:])  # type: ignore[no-any-return]


def stored_size(stored: bytes) -> int:
    """The item's size, read from the header alone."""
    return int.from_bytes(stored[SIZE_FIELD], "big")


def stored_sizes(stored: Iterable[bytes]) -> Sequence[int]:
    """The sizes of many items."""
    return tuple(chain.from_iterable(map(_unpack_size, stored)))


def stored_time(stored: bytes) -> float:
    """When the item was written, in epoch seconds."""
    return int.from_bytes(stored[5:13], "big") / _MICROSECONDS


def stored_json(stored: bytes) -> bytes:
    """The item's JSON, to be pasted into an answer as it is."""
    return stored[HEADER_BYTES:]


class StoredItem:
    """An item in its stored form, decoded when somebody looks at its attributes."""

    __slots__ = ("_item", "size", "stored")

    def __init__(self, stored: bytes) -> None:
        self.stored = stored
        self.size = int.from_bytes(stored[1:5], "big")
        self._item: Item | None = None

    @property
    def item(self) -> Item:
        """The attributes."""
        if self._item is None:
            self._item = decode(self.stored)
        return self._item
