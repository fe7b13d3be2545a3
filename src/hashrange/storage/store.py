"""Items in their tables: a command is applied, and item, index rows and counters go into one transaction."""

from hashrange.core import indexes, items, mutation
from hashrange.core.errors import ConditionFailed
from hashrange.core.keys.encoding import HASH_BYTES
from hashrange.core.mutation import Change, Check, Command, Delete, Outcome, Put
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction

_COLLECTION_BYTES_MAX = 10 * 1024**3


class CollectionFull(Exception):
    """The write would grow an item collection past 10 GB."""


class Rejected(Exception):
    """A condition did not hold; carries the stored item and what looking at it cost."""

    def __init__(self, stored: Item | None, size: int) -> None:
        super().__init__()
        self.stored = stored
        self.size = size


def stored_item(reader: Reader, table: Table, key: bytes) -> bytes | None:
    """The stored form of an item."""
    return reader.get(layout.rows_prefix(table.number, layout.BASE_SLOT) + key)


def row_key(table: Table, key: bytes) -> bytes:
    """Where an item is stored."""
    return layout.rows_prefix(table.number, layout.BASE_SLOT) + key


def reads(table: Table, key: bytes) -> tuple[bytes, ...]:
    """The rows that a write of this item looks at for sure: a hint for engines across a network."""
    row = row_key(table, key)
    if table.local_indexes:
        return row, layout.version_key(table.number), collection_key(table, key)
    return row, layout.version_key(table.number)


def apply(tx: Transaction, table: Table, command: Command) -> Outcome:
    """Run one command: the outcome is written unless the condition fails or a rule is broken."""
    stored = tx.get(layout.rows_prefix(table.number, layout.BASE_SLOT) + command.key)
    before_size = 0 if stored is None else items.stored_size(stored)
    if isinstance(command, Put) and not (command.condition or command.wants_old or table.live_indexes):
        _write_row(tx, table, command.key, items.encode(command.item, command.size))
        _count(tx, table, command.key, stored is None, command.size - before_size)
        units = mutation.units_of(before_size, command.size)
        return Outcome(None, command.item, before_size, command.size, units, [])
    before = None if stored is None else items.decode(stored)
    outcome = compute(table, command, before, before_size)
    write(tx, table, command, outcome)
    return outcome


def compute(table: Table, command: Command, before: Item | None, before_size: int) -> Outcome:
    """What the command makes of the stored item, without writing it."""
    try:
        mutation.holds(command.condition, before)
    except ConditionFailed:
        raise Rejected(before, before_size) from None
    applied = None
    match command:
        case Put():
            after: Item | None = command.item
            after_size = command.size
        case Delete():
            after, after_size = None, 0
        case Check():
            after, after_size = before, before_size
        case Change() if before is None and mutation.only_removes(command.update):
            after, after_size = None, 0
        case Change():
            applied, after_size = mutation.changed_item(table, command, before, before_size)
            after = applied.item
    units = mutation.units_of(before_size, after_size)
    found = [] if before is after else indexes.changes(table, command.key, before, after)
    return Outcome(before, after, before_size, after_size, units, found, applied)


def write(tx: Transaction, table: Table, command: Command, outcome: Outcome) -> None:
    """Write what `compute` found."""
    if isinstance(command, Check) or (outcome.before is None and outcome.after is None):
        return
    if outcome.after is None:
        tx.delete(layout.rows_prefix(table.number, layout.BASE_SLOT) + command.key)
        tx.add(layout.count_key(table.number, layout.BASE_SLOT), -1)
        tx.add(layout.size_key(table.number, layout.BASE_SLOT), -outcome.before_size)
        _collect(tx, table, command.key, -outcome.before_size)
    else:
        _write_row(tx, table, command.key, items.encode(outcome.after, outcome.after_size))
        grown = outcome.after_size - outcome.before_size
        _count(tx, table, command.key, outcome.before is None, grown)
    for change in outcome.index_changes:
        _write_index(tx, table, command.key, change)


def _write_row(tx: Transaction, table: Table, key: bytes, stored: bytes) -> None:
    tx.put(layout.rows_prefix(table.number, layout.BASE_SLOT) + key, stored)


def _count(tx: Transaction, table: Table, key: bytes, new: bool, grown: int) -> None:
    if new:
        tx.add(layout.count_key(table.number, layout.BASE_SLOT), 1)
    if grown:
        tx.add(layout.size_key(table.number, layout.BASE_SLOT), grown)
        _collect(tx, table, key, grown)


def _write_index(tx: Transaction, table: Table, base_key: bytes, change: indexes.Change) -> None:
    index, before, after = change.index, change.before, change.after
    prefix = layout.rows_prefix(table.number, index.slot)
    if index.backfilling and before is not None and tx.get(prefix + before.key) is None:
        # The backfill has not come to this item yet, so there is no row to replace or to count down.
        before = None
    if before is not None and (after is None or after.key != before.key):
        tx.delete(prefix + before.key)
    if after is not None:
        tx.put(prefix + after.key, items.encode(after.item, after.size))
    rows = (after is not None) - (before is not None)
    grown = (after.size if after else 0) - (before.size if before else 0)
    if rows:
        tx.add(layout.count_key(table.number, index.slot), rows)
    if grown:
        tx.add(layout.size_key(table.number, index.slot), grown)
    if index.local:
        _collect(tx, table, base_key, grown)


def _collect(tx: Transaction, table: Table, base_key: bytes, grown: int) -> None:
    """Tables with local indexes keep the size of each item collection, which may not pass 10 GB."""
    if not table.local_indexes or not grown:
        return
    size = collection_size(tx, table, base_key) + grown
    if grown > 0 and size > _COLLECTION_BYTES_MAX:
        raise CollectionFull
    key = collection_key(table, base_key)
    if size > 0:
        tx.put(key, size.to_bytes(8, "big"))
    else:
        tx.delete(key)


def collection_key(table: Table, base_key: bytes) -> bytes:
    """The row that holds the size of the item collection which this item belongs to."""
    length = int.from_bytes(base_key[HASH_BYTES : HASH_BYTES + 2], "big")
    partition = base_key[: HASH_BYTES + 2 + length]
    return layout.rows_prefix(table.number, layout.COLLECTION_SLOT) + partition


def collection_size(reader: Reader, table: Table, base_key: bytes) -> int:
    """Bytes of the item collection, local index entries included."""
    stored = reader.get(collection_key(table, base_key))
    return 0 if stored is None else int.from_bytes(stored, "big")
