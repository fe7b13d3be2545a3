"""One change of one item, as the change log stores it.

A record says when, on whose behalf and to which key, whether there was an item before and is one now, and holds the
images that somebody wants, in their stored form. The document of record is docs/design/014-change-log.md.
"""

from struct import Struct
from typing import Literal

import msgspec
import orjson
from zlib_ng.zlib_ng import adler32

from hashrange.core import items
from hashrange.core.keys import key_parts
from hashrange.core.mutation import Actor
from hashrange.core.schema import Table
from hashrange.core.values import Item, Value

Event = Literal["INSERT", "MODIFY", "REMOVE"]

FORMAT = 1
_ACTORS: tuple[Actor, ...] = ("client", "ttl", "replication", "restore")
_EXISTED, _EXISTS, _HAS_BEFORE, _HAS_AFTER = 1, 2, 4, 8
_HEAD = Struct(">BBBHHI")  # format, flags, actor; lengths of the key, of the keys' JSON, of the image before
_SUM_OF_BYTES = 0xFFFF  # the half of the checksum in which their order does not count
_SETS = ("SS", "NS", "BS")


class ChangeRecord(msgspec.Struct, frozen=True):
    """A record taken apart."""

    event: Event
    actor: Actor
    key: bytes  # of the item's row, as core/keys/ encodes it
    keys: bytes  # the JSON of the key attributes
    before: bytes | None  # stored form; None: there was none, or nobody wanted it
    after: bytes | None


def encode(
    table: Table,
    key: bytes,
    before: bytes | None,
    after: bytes | None,
    actor: Actor,
    item: Item | None = None,
) -> bytes:
    """The record of a change, of the stored forms of the item as it was and as it is; neither is looked into.

    Who has one of the two at hand as an `item` saves reading its key attributes from the key.
    """
    keys = orjson.dumps(key_parts.item_attributes(table, key) if item is None else _keys(table, item))
    flags = (_EXISTED if before is not None else 0) | (_EXISTS if after is not None else 0)
    old = new = b""
    if before is not None and table.logs_before:
        flags |= _HAS_BEFORE
        old = before
    if after is not None and table.logs_after:
        flags |= _HAS_AFTER
        new = after
    head = _HEAD.pack(FORMAT, flags, _ACTORS.index(actor), len(key), len(keys), len(old))
    return b"".join((head, key, keys, old, new))


def _keys(table: Table, item: Item) -> Item:
    return {key.name: item[key.name] for key in table.keys}


def decode(stored: bytes) -> ChangeRecord:
    """The record of a stored form."""
    _, flags, actor, key_length, keys_length, before_length = _HEAD.unpack_from(stored)
    keys_at = _HEAD.size + key_length
    before_at = keys_at + keys_length
    after_at = before_at + before_length
    return ChangeRecord(
        _event(flags),
        _ACTORS[actor],
        stored[_HEAD.size : keys_at],
        stored[keys_at:before_at],
        stored[before_at:after_at] if flags & _HAS_BEFORE else None,
        stored[after_at:] if flags & _HAS_AFTER else None,
    )


def _event(flags: int) -> Event:
    if not flags & _EXISTED:
        return "INSERT"
    return "MODIFY" if flags & _EXISTS else "REMOVE"


def changes_nothing(before: bytes | None, after: bytes | None) -> bool:
    """Whether a write leaves the item as it was, by its stored forms: the order in maps and sets does not count."""
    if before is None or after is None or before[items.SIZE_FIELD] != after[items.SIZE_FIELD]:
        return False
    old, new = items.stored_json(before), items.stored_json(after)
    if old == new:
        return True
    # Equal items have the same bytes in another order: most changes are seen without reading the item before.
    if len(old) != len(new) or (adler32(old) ^ adler32(new)) & _SUM_OF_BYTES:
        return False
    return same_items(items.decode(before), items.decode(after))


def same_items(one: Item, other: Item) -> bool:
    """Whether two items have equal attributes."""
    return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())


def _same(one: Value, other: Value) -> bool:
    if one == other:
        return True
    ((kind, content),) = one.items()
    if kind not in other:
        return False
    if kind in _SETS:
        return set(content) == set(other[kind])
    if kind == "L":
        return len(content) == len(other["L"]) and all(map(_same, content, other["L"]))
    return kind == "M" and same_items(content, other["M"])
