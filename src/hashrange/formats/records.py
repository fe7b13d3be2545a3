"""What the readers of all formats give: one record per line or value, and what exports and imports make of it."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from hashrange.core import indexes, mutation, values
from hashrange.core.errors import Invalid, Refused
from hashrange.core.keys import primary_key
from hashrange.core.mutation import PutCommand
from hashrange.core.schema import Table
from hashrange.core.values import Item, Malformed
from hashrange.formats.errors import Garbage, Rejection

_NO_ITEM = "The record has no Item"
MALFORMED = "An attribute value of the item is not valid DynamoDB JSON"
_NOT_A_CHANGE = "The record is not one of an incremental export"
_MICROS_DIGITS_MAX = 18


class Record(msgspec.Struct):
    """The members of one line: `Item` and others, with attribute values as DynamoDB JSON has them."""

    index: int
    members: dict[str, Any]


class Unread(msgspec.Struct, frozen=True):
    """A line that no item can be made of, though the lines behind it can be read."""

    index: int
    message: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an item between two moments: none, one or both images."""

    written_at_micros: int
    keys: Item
    old_image: Item | None = None
    new_image: Item | None = None


class Row(msgspec.Struct, frozen=True):
    """An item that is as PutItem would store it, in a table that would take it."""

    index: int
    command: PutCommand


def rows(source: Iterable[Record | Unread], table: Table) -> Iterator[Row | Rejection]:
    """What an import writes and what it reports: an item that is refused is skipped, garbage ends the object."""
    index = 0
    try:
        for record in source:
            index = record.index
            yield _row(record, table)
            index += 1
    except Garbage as garbage:
        yield Rejection(index, garbage.message, stops=True)


def _row(record: Record | Unread, table: Table) -> Row | Rejection:
    if isinstance(record, Unread):
        return Rejection(record.index, record.message)
    try:
        return Row(record.index, put_command(table, item_of(record)))
    except Refused as refused:
        return Rejection(record.index, refused.message)
    except Malformed:
        raise Garbage(MALFORMED) from None


def item_of(record: Record) -> dict[str, Any]:
    """The record's Item, as it came."""
    item = record.members.get("Item")
    if type(item) is not dict:
        raise Garbage(_NO_ITEM)
    return item


def put_command(table: Table, raw: dict[str, Any]) -> PutCommand:
    """The same checks as PutItem's, in the same order, with the same messages."""
    item, size = values.canonical_sized(raw)
    mutation.refuse_large(size)
    key = primary_key.of_item(table, item)
    if table.indexes:
        indexes.check_index_keys(table, item)
    return PutCommand(key, item, size)


def changes(source: Iterable[Record]) -> Iterator[Change]:
    """The changes of an incremental export; what is none is `Garbage`."""
    for record in source:
        try:
            yield _change(record.members)
        except (Refused, Malformed, ValueError, TypeError, KeyError):
            raise Garbage(_NOT_A_CHANGE) from None


def _change(members: dict[str, Any]) -> Change:
    written_at = values.canonical(members["Metadata"]["WriteTimestampMicros"])["N"]
    if not written_at.isdigit() or len(written_at) > _MICROS_DIGITS_MAX:
        raise Invalid(_NOT_A_CHANGE)
    return Change(
        written_at_micros=int(written_at),
        keys=values.canonical_item(members["Keys"]),
        old_image=_image(members.get("OldImage")),
        new_image=_image(members.get("NewImage")),
    )


def _image(raw: Any) -> Item | None:
    return None if raw is None else values.canonical_item(raw)
