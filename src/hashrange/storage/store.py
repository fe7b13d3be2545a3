"""Items in their tables: a command is applied, and item, index rows and counters go into one transaction."""

from collections.abc import Iterable, Sequence

from hashrange.core import capacity, effort, items, mutation
from hashrange.core.indexes import IndexDiff
from hashrange.core.items import StoredItem
from hashrange.core.keys.encoding import HASH_BYTES
from hashrange.core.limits import WRITE_UNIT_BYTES
from hashrange.core.mutation import Command, Origin, Outcome, Puts
from hashrange.core.schema import Index, Table
from hashrange.storage import change_log, expiry, layout
from hashrange.storage.engine import GetMany, Reader, SwapRows, Transaction

_COLLECTION_BYTES_MAX = 10 * 1024**3
_FEW_ROWS = 3  # are read one by one
_LARGE_BYTES = 16 * 1024  # reading smaller items is not counted


class CollectionFull(Exception):
    """The write would grow an item collection past 10 GB."""


def row_key(table: Table, key: bytes) -> bytes:
    """Where an item is stored."""
    return layout.rows_prefix(table.number, layout.BASE_SLOT) + key


def row_keys(table: Table, keys: Iterable[bytes]) -> list[bytes]:
    """Where items are stored."""
    prefix = layout.rows_prefix(table.number, layout.BASE_SLOT)
    return list(map(prefix.__add__, keys))


def read_item(reader: Reader, table: Table, key: bytes) -> StoredItem | None:
    """The item at this key."""
    stored = reader.get(layout.rows_prefix(table.number, layout.BASE_SLOT) + key)
    if stored is None:
        return None
    return StoredItem(stored) if len(stored) <= _LARGE_BYTES else _counted(stored)


def stored_rows(reader: Reader, rows: Sequence[bytes]) -> Iterable[bytes | None]:
    """What is stored at each of these keys: a list, or if there are large values, one after the other as it is read."""
    get_many: GetMany | None = getattr(reader, "get_many", None)
    many = None if get_many is None or len(rows) < _FEW_ROWS else get_many(rows)
    return map(reader.get, rows) if many is None else many


def reads(table: Table, key: bytes) -> tuple[bytes, ...]:
    """The rows that a write of this item looks at for sure: a hint for engines across a network."""
    row = row_key(table, key)
    rows: tuple[bytes, ...]
    if table.local_indexes:
        rows = row, layout.version_key(table.number), collection_key(table, key)
    else:
        rows = row, layout.version_key(table.number)
    return rows if table.log is None else (*rows, change_log.head_key(table, table.log, key))


def apply(tx: Transaction, table: Table, command: Command, origin: Origin) -> Outcome:
    """Run one command: the outcome is written unless the condition fails or a rule is broken."""
    row = layout.rows_prefix(table.number, layout.BASE_SLOT) + command.key
    stored = tx.get(row)
    outcome = mutation.apply(table, command, None if stored is None else _counted(stored), origin)
    write(tx, table, outcome)
    return outcome


def put(tx: Transaction, table: Table, key: bytes, json: bytes, size: int, origin: Origin) -> float:
    """Store an item in a plain table: as `apply` does it, with less to do. Gives the units."""
    row = layout.rows_prefix(table.number, layout.BASE_SLOT) + key
    stored = tx.get(row)
    encoded = items.headed(json, size, origin.time)
    tx.put(row, encoded)
    if table.log is not None:
        change_log.append(tx, table, key, stored, encoded, origin)
    charged = size
    if stored is None:
        _count(tx, table, 1, size)
    else:
        before = _counted(stored).size
        _count(tx, table, 0, size - before)
        if before > size:
            charged = before
    return 1.0 if charged <= WRITE_UNIT_BYTES else float(capacity.write_units(charged))


def put_all(tx: Transaction, table: Table, puts: Puts, origin: Origin) -> list[float]:
    """Store items in a plain table, likewise. Gives their units."""
    if len(puts.keys) == 1:
        return [put(tx, table, puts.keys[0], puts.jsons[0], puts.sizes[0], origin)]
    return capacity.all_write_units(puts.sizes, replace_all(tx, table, puts, origin))


def replace_all(tx: Transaction, table: Table, puts: Puts, origin: Origin) -> Sequence[int]:
    """The same; gives the sizes of the items that were there, 0 for none."""
    rows, sizes = row_keys(table, puts.keys), puts.sizes
    encoded = items.all_headed(puts.jsons, sizes, origin.time)
    # Nobody looks at more of them than their sizes, unless the table has a log.
    replaced = _swapped(tx, rows, encoded, items.HEADER_BYTES if table.log is None else None)
    if table.log is not None:
        for key, before, after in zip(puts.keys, replaced, encoded, strict=True):
            change_log.append(tx, table, key, before, after, origin)
    there = list(filter(None, replaced))
    befores = items.stored_sizes(there)
    _count(tx, table, len(rows) - len(there), sum(sizes) - sum(befores))
    if len(there) == len(rows):
        return befores
    remaining = iter(befores)
    return [0 if stored is None else next(remaining) for stored in replaced]


def _swapped(
    tx: Transaction, rows: Sequence[bytes], values: Sequence[bytes], head: int | None
) -> Sequence[bytes | None]:
    """Store values, and give what they replace, or so many first bytes of it at least."""
    swap: SwapRows | None = getattr(tx, "swap", None)
    together = None if swap is None else swap(rows, values, head=head)
    if together is not None:
        return together
    tx.prefetch(rows)
    replaced = []
    for row, value in zip(rows, values, strict=True):
        stored = tx.get(row)
        if stored is not None:
            _count_copy(stored)
        replaced.append(stored)
        tx.put(row, value)
    return replaced


def _count(tx: Transaction, table: Table, count: int, growth: int) -> None:
    """Have the table's counters follow."""
    if count:
        tx.add(layout.count_key(table.number, layout.BASE_SLOT), count)
    if growth:
        tx.add(layout.size_key(table.number, layout.BASE_SLOT), growth)


def remove(tx: Transaction, table: Table, key: bytes, origin: Origin) -> float:
    """Remove an item from a plain table, likewise. Gives the units."""
    row = layout.rows_prefix(table.number, layout.BASE_SLOT) + key
    stored = tx.get(row)
    if stored is None:
        return 1.0
    size = _counted(stored).size
    tx.delete(row)
    _count(tx, table, -1, -size)
    if table.log is not None:
        change_log.append(tx, table, key, stored, None, origin)
    return 1.0 if size <= WRITE_UNIT_BYTES else float(capacity.write_units(size))


def _counted(stored: bytes) -> StoredItem:
    _count_copy(stored)
    return StoredItem(stored)


def _count_copy(stored: bytes) -> None:
    """Have the time that it takes to copy an item counted."""
    if len(stored) > _LARGE_BYTES:
        effort.spend(len(stored) >> 2)


def write(tx: Transaction, table: Table, outcome: Outcome) -> None:
    """Write an outcome: the item, its index rows and the counters."""
    if outcome.checked_only:
        return
    number, before, after = table.number, outcome.before, outcome.after
    row = layout.rows_prefix(number, layout.BASE_SLOT) + outcome.key
    encoded = None
    if after is not None:
        size = outcome.after_size
        json = outcome.after_json
        encoded = items.headed(items.item_json(after) if json is None else json, size, outcome.origin.time)
        tx.put(row, encoded)
        growth = size if before is None else size - before.size
    elif before is not None:
        tx.delete(row)
        growth = -before.size
    else:
        return
    if (before is None) != (after is None):
        tx.add(layout.count_key(number, layout.BASE_SLOT), 1 if before is None else -1)
    if growth:
        tx.add(layout.size_key(number, layout.BASE_SLOT), growth)
        if table.local_indexes:
            _grow_collection(tx, table, outcome.key, growth)
    for diff in outcome.index_diffs:
        _write_index(tx, table, outcome, diff, encoded)
    if table.ttl is not None:
        expiry.write(tx, table.number, table.ttl, outcome)
    if table.log is not None:
        stored = None if before is None else before.stored
        change_log.append(tx, table, outcome.key, stored, encoded, outcome.origin, outcome.after)


def _write_index(
    tx: Transaction, table: Table, outcome: Outcome, diff: IndexDiff, encoded: bytes | None
) -> None:
    """Write what becomes of one index; `encoded` is the stored form of the new item."""
    index, before, after = diff.index, diff.before, diff.after
    prefix = layout.rows_prefix(table.number, index.slot)
    if before is not None and index.backfilling:
        if after is None or after.key != before.key:
            # The backfill may have read the item already, and must not write this entry any more.
            tx.put(layout.removed_entries_prefix(table.number, index.slot) + before.key, b"")
        if tx.get(prefix + before.key) is None:
            # The backfill has not written it yet, so there is no row to replace or to count down.
            before = None
    if before is not None and (after is None or after.key != before.key):
        tx.delete(prefix + before.key)
    if after is not None:
        if encoded is None or index.projection != "ALL":
            encoded = items.encode(after.item, after.size, outcome.origin.time)
        tx.put(prefix + after.key, encoded)
    growth = 0 if after is None else after.size
    if before is not None:
        growth -= before.size
    if (before is None) != (after is None):
        tx.add(layout.count_key(table.number, index.slot), 1 if before is None else -1)
    if growth:
        tx.add(layout.size_key(table.number, index.slot), growth)
        if index.local:
            _grow_collection(tx, table, outcome.key, growth)


def _grow_collection(tx: Transaction, table: Table, base_key: bytes, growth: int) -> None:
    """Tables with local indexes keep the size of each item collection, which may not pass 10 GB."""
    size = collection_size(tx, table, base_key) + growth
    if growth > 0 and size > _COLLECTION_BYTES_MAX:
        raise CollectionFull
    key = collection_key(table, base_key)
    if size > 0:
        tx.put(key, size.to_bytes(8, "big"))
    else:
        tx.delete(key)


def row_count(reader: Reader, table: Table, index: Index | None = None) -> int:
    """How many items a table has, or entries one of its indexes."""
    return reader.counter(layout.count_key(table.number, layout.BASE_SLOT if index is None else index.slot))


def size_bytes(reader: Reader, table: Table, index: Index | None = None) -> int:
    """The size of a table or of one of its indexes, in the service's own bytes."""
    return reader.counter(layout.size_key(table.number, layout.BASE_SLOT if index is None else index.slot))


def collection_key(table: Table, base_key: bytes) -> bytes:
    """The row that holds the size of the item collection which this item belongs to."""
    length = int.from_bytes(base_key[HASH_BYTES : HASH_BYTES + 2], "big")
    partition = base_key[: HASH_BYTES + 2 + length]
    return layout.rows_prefix(table.number, layout.COLLECTION_SLOT) + partition


def collection_size(reader: Reader, table: Table, base_key: bytes) -> int:
    """Bytes of the item collection, local index entries included."""
    stored = reader.get(collection_key(table, base_key))
    return 0 if stored is None else int.from_bytes(stored, "big")
