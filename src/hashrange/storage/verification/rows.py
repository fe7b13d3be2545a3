"""What must hold of a single row: each check looks at other rows in the same snapshot, and at nothing else."""

import struct
from collections.abc import Iterator

import msgspec

from hashrange.core import indexes, items, schema
from hashrange.core.errors import Refused
from hashrange.core.expiry import expiry_second
from hashrange.core.indexes import Entry
from hashrange.core.items import StoredItem
from hashrange.core.keys import encoding, primary_key
from hashrange.core.schema import Index, Table, TimeToLive
from hashrange.core.values import Item
from hashrange.storage import (
    catalogue,
    custom_metric_rows,
    expiry,
    heat_rows,
    holds,
    layout,
    metric_rows,
    store,
    token_rows,
)
from hashrange.storage.engine import Reader
from hashrange.storage.errors import DamagedRow
from hashrange.storage.verification import log_rows
from hashrange.storage.verification.report import Problem
from hashrange.storage.verification.tables import Tables, find_index, has_slot

# What reading a value that is not what it should be may raise.
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, struct.error, msgspec.MsgspecError, Refused)


def problems_of(reader: Reader, tables: Tables, key: bytes, value: bytes) -> Iterator[Problem]:
    """Check one row whose checksum is right."""
    try:
        yield from _problems_of(reader, tables, key, value)
    except DamagedRow:
        return  # another row, which is reported when the walk gets there
    except UNREADABLE as error:
        yield Problem("unreadable value", tables.name(key), f"{type(error).__name__}: {error}")


def _problems_of(reader: Reader, tables: Tables, key: bytes, value: bytes) -> Iterator[Problem]:
    match key[:1]:
        case layout.ROWS:
            yield from _row(reader, tables, key, value)
        case layout.CATALOGUE:
            yield from _table_record(reader, tables, key, value)
        case layout.TABLE_VERSION:
            number = int.from_bytes(key[1:], "big")
            if number not in tables.by_number:
                yield Problem("orphan row", layout.describe(key), "there is no such table")
        case layout.TOKEN:
            row = token_rows.unpack(value)
            if reader.get(token_rows.expiry_key(row.expires_epoch_seconds, key)) is None:
                yield Problem("missing row", layout.describe(key), "the token never expires")
        case layout.BACKFILL:
            table = tables.by_number.get(int.from_bytes(key[1:5], "big"))
            if table is None or not has_slot(table, int.from_bytes(key[5:7], "big")):
                yield Problem("orphan row", layout.describe(key), "there is no such index")
        case layout.REMOVED_ENTRY:
            table = tables.by_number.get(int.from_bytes(key[1:5], "big"))
            if not tables.is_garbage(key) and (
                table is None or not has_slot(table, int.from_bytes(key[5:7], "big"))
            ):
                yield Problem("orphan row", layout.describe(key), "there is no such index")
        case layout.MIGRATION:
            yield Problem("unfinished copy", layout.describe(key), "run `hashrange migrate` again")
        case layout.LOG | layout.LOG_HEAD | layout.LOG_SHARD | layout.STREAM | layout.HOLD:
            yield from log_rows.problems_of(reader, tables, key, value)
        case layout.JOB | layout.ACTIVE_JOB:
            if key.startswith(layout.ACTIVE_JOB) and reader.get(layout.JOB + key[1:]) is None:
                yield Problem("orphan row", layout.describe(key), "there is no such job")
        case layout.HEAT:
            heat_rows.check(value)
        case layout.GARBAGE | layout.TOKEN_EXPIRY | layout.CATALOGUE_EPOCH | layout.LEASE | layout.CLOCK:
            pass
        case layout.REPORT | layout.SETTING | layout.INSIGHT | layout.PAST | layout.CHARGES | layout.FAULTS:
            pass
        case layout.IDENTITY_GENERATION | layout.ROOT_KEY_CHECK | layout.HIDDEN | layout.TABLE_KEY:
            pass
        case layout.METRIC | layout.METRIC_TOTAL | layout.METRIC_SERIES | layout.METRIC_WORKER:
            metric_rows.check(key, value)
        case layout.CUSTOM_METRIC | layout.CUSTOM_SERIES:
            custom_metric_rows.check(key, value)
        case _:
            yield Problem("orphan row", layout.describe(key), "no known kind of row has such a key")


def _table_record(reader: Reader, tables: Tables, key: bytes, value: bytes) -> Iterator[Problem]:
    table = schema.decode(value)
    if layout.catalogue_key(*catalogue.address(table)) != key:
        yield Problem("misplaced row", layout.describe(key), f"it is the record of table {table.name}")
    if tables.by_number.get(table.number, table) != table:
        yield Problem("table number used twice", f"table {table.name} ({table.region})", f"{table.number}")
    if reader.get(layout.version_key(table.number)) != table.stamp:
        yield Problem("wrong version", f"table {table.name} ({table.region})", "its writes would be refused")
    if table.number > reader.counter(layout.TABLE_NUMBER):
        place = f"table {table.name} ({table.region})"
        yield Problem("wrong sequence", place, f"number {table.number} would be given to another table")


def _row(reader: Reader, tables: Tables, key: bytes, value: bytes) -> Iterator[Problem]:
    number, slot = layout.split_rows_key(key)
    table = tables.by_number.get(number)
    index = None if table is None else find_index(table, slot)
    if slot == layout.BASE_SLOT and table is not None:
        yield from _item(reader, tables, table, key, value)
    elif slot == layout.COLLECTION_SLOT and table is not None:
        yield from _collection(reader, tables, table, key, value)
    elif table is not None and index is not None:
        yield from _index_entry(reader, tables, (table, index), key, value)
    elif table is not None and table.ttl is not None and table.ttl.slot == slot:
        yield from _expiry_row(reader, tables, (table, table.ttl), key)
    elif not tables.is_garbage(key) and not any(True for _ in holds.held(reader, number)):
        yield Problem("orphan row", tables.name(key), "there is no such table or index")


def _item(reader: Reader, tables: Tables, table: Table, key: bytes, value: bytes) -> Iterator[Problem]:
    item, base_key = items.decode(value), key[layout.ROWS_PREFIX_BYTES :]
    if primary_key.of_key(table, primary_key.key_of(table, item)) != base_key:
        yield Problem("misplaced row", tables.name(key), "the item's key is another one")
        return
    if items.stored_size(value) != items.item_size(item):
        yield Problem(
            "wrong size", tables.name(key), f"{items.stored_size(value)} for {items.item_size(item)} bytes"
        )
    for index in table.live_indexes:
        if not index.backfilling:
            yield from _entry_of(reader, tables, (table, index), item, base_key)
    if table.ttl is not None and not table.ttl.backfilling:
        second = expiry_second(item, table.ttl.attribute)
        row = None if second is None else expiry.row_key(table.number, table.ttl.slot, second, base_key)
        if row is not None and reader.get(row) is None:
            yield Problem("missing expiry row", tables.name(key), "TTL would never delete the item")
    if table.local_indexes and reader.get(store.collection_key(table, base_key)) is None:
        yield Problem("missing row", tables.name(key), "its item collection has no size")


def _entry_of(
    reader: Reader, tables: Tables, place: tuple[Table, Index], item: Item, base_key: bytes
) -> Iterator[Problem]:
    table, index = place
    entry = indexes.entry(table, index, item, base_key)
    if entry is None:
        return
    row = layout.rows_prefix(table.number, index.slot) + entry.key
    if reader.get(row) is None:
        yield Problem("missing index entry", tables.name(row), f"of the item with key {base_key.hex()}")


def _index_entry(
    reader: Reader, tables: Tables, place: tuple[Table, Index], key: bytes, value: bytes
) -> Iterator[Problem]:
    table, index = place
    if index.status == "DELETING":
        return  # nothing is written to it any more
    entry = Entry(key[layout.ROWS_PREFIX_BYTES :], items.decode(value), items.stored_size(value))
    base_key = primary_key.of_key(table, primary_key.key_of(table, entry.item))
    base = reader.get(store.row_key(table, base_key))
    expected = None if base is None else indexes.entry(table, index, StoredItem(base).item, base_key)
    if expected is None:
        yield Problem("extra index entry", tables.name(key), f"there is no such item: {base_key.hex()}")
    elif expected != entry:
        yield Problem("wrong index entry", tables.name(key), f"it is not that of its item: {base_key.hex()}")


def _expiry_row(
    reader: Reader, tables: Tables, place: tuple[Table, TimeToLive], key: bytes
) -> Iterator[Problem]:
    table, ttl = place
    second, base_key = expiry.split_row_key(key)
    base = reader.get(store.row_key(table, base_key))
    if base is None or expiry_second(StoredItem(base).item, ttl.attribute) != second:
        yield Problem("extra expiry row", tables.name(key), f"no such item expires then: {base_key.hex()}")


def _collection(reader: Reader, tables: Tables, table: Table, key: bytes, value: bytes) -> Iterator[Problem]:
    partition = key[layout.ROWS_PREFIX_BYTES :]
    slots = [layout.BASE_SLOT, *(index.slot for index in table.local_indexes)]
    size = 0
    for slot in slots:
        start = layout.rows_prefix(table.number, slot) + partition
        size += sum(items.stored_size(stored) for _, stored in reader.scan(start, encoding.prefix_end(start)))
    if size != int.from_bytes(value, "big"):
        yield Problem(
            "wrong collection size", tables.name(key), f"{int.from_bytes(value, 'big')} for {size} bytes"
        )
