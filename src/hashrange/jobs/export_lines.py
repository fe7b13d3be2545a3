"""The lines of an export: what becomes of each item, and whether it is wanted at all."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from hashrange.api.transfers.export_filters import Filter
from hashrange.core import items
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.formats import dynamodb_json
from hashrange.formats.records import Change
from hashrange.storage.changed_items import ChangedItem, ChangedItems
from hashrange.storage.export_rows import Export
from hashrange.storage.history import PastTable, Row


class Line(NamedTuple):
    """What an item gives."""

    key: bytes
    line: bytes | None  # None: nothing of it is wanted
    size: int  # that was read, in the service's own bytes


def export_lines(source: PastTable | ChangedItems, export: Export) -> Iterator[list[Line]]:
    """All lines behind those that are in finished files, chunk by chunk."""
    after = export.progress.after or None
    wanted = None if export.filter is None else Filter(export.source, export.filter)
    if isinstance(source, PastTable):
        item_line = _item_line(export.format, wanted)
        return ([item_line(row) for row in chunk] for chunk in source.chunks(after))
    change_line = _change_line(export, wanted)
    return ([change_line(change) for change in chunk] for chunk in source.chunks(after))


def _item_line(export_format: str, wanted: Filter | None) -> Callable[[Row], Line]:
    def as_stored(row: Row) -> Line:
        key, stored = row
        return Line(key, dynamodb_json.item_line(items.stored_json(stored)), items.stored_size(stored))

    def decoded(row: Row) -> Line:
        key, stored = row
        item: Item | None = items.decode(stored)
        if wanted is not None:
            item = wanted.picked(key, item or {}, len(stored))
        return Line(key, None if item is None else line(item), items.stored_size(stored))

    if export_format == "DYNAMODB_JSON":
        if wanted is None:
            return as_stored
        line = _json_item_line
    else:
        from hashrange.formats import ion_writer  # noqa: PLC0415 - few servers ever need it

        line = ion_writer.item_line
    return decoded


def _json_item_line(item: Item) -> bytes:
    return dynamodb_json.item_line(items.item_json(item))


def _change_line(export: Export, wanted: Filter | None) -> Callable[[ChangedItem], Line]:
    if export.format == "DYNAMODB_JSON":
        line = dynamodb_json.change_line
    else:
        from hashrange.formats import ion_writer  # noqa: PLC0415 - few servers ever need it

        line = ion_writer.change_line
    has_old = export.window is not None and export.window.view_type == "NEW_AND_OLD_IMAGES"

    def change_line(found: ChangedItem) -> Line:
        size = sum(items.stored_size(image) for image in (found.before, found.after) if image is not None)
        change = _change(export.source, found, wanted, has_old=has_old)
        return Line(found.key, None if change is None else line(change), size)

    return change_line


def _change(table: Table, found: ChangedItem, wanted: Filter | None, *, has_old: bool) -> Change | None:
    """A change of a filtered export is one of an item that the filter lets through, before or after."""
    old = None if found.before is None else items.decode(found.before)
    new = None if found.after is None else items.decode(found.after)
    some = new or old or {}
    keys = {key.name: some[key.name] for key in table.keys}
    if wanted is not None:
        old = None if old is None else wanted.picked(found.key, old, len(found.before or b""))
        new = None if new is None else wanted.picked(found.key, new, len(found.after or b""))
        if old is None and new is None:
            return None
    return Change(
        written_at_micros=found.time_us, keys=keys, old_image=old if has_old else None, new_image=new
    )
