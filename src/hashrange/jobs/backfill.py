"""Backfill: write the entries of the items that were there before a new index."""

from functools import partial

from hashrange.core import indexes, items
from hashrange.core.indexes import Entry
from hashrange.core.keys import encoding
from hashrange.core.schema import Index, Table, changed
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import catalogue, layout
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction

# A chunk holds up the writes of clients for as long as it takes: some ten milliseconds.
_CHUNK_ITEMS = 200
_CHUNK_BYTES = 2 * 1024 * 1024


class Backfill:
    """Walks the table in chunks, each in one transaction, and remembers in it where to go on.

    Writes keep the index up to date from the moment it is in the catalogue, so an entry that is there
    already is the newer one and stays.
    """

    name = "backfill"

    def __init__(self, engine: Engine, tables: Catalogue) -> None:
        self._engine = engine
        self._tables = tables

    def step(self, now: float) -> float:
        """Fill one chunk of one index."""
        pause = IDLE_SECONDS
        for table in self._tables.tables():
            for index in table.global_indexes:
                if not index.backfilling or table.status == "DELETING":
                    continue
                if now < index.settles_at:
                    pause = min(pause, index.settles_at - now)
                    continue
                if self._engine.write(partial(_fill, planned=table, planned_index=index)):
                    self._tables.refresh(*catalogue.place(table))
                return 0.0
        return pause


def _fill(tx: Transaction, *, planned: Table, planned_index: Index) -> bool:
    """Write a chunk; true when the table's record has changed, or is not the planned one any more."""
    table = catalogue.stored_table(tx, *catalogue.place(planned))
    index = None if table is None else table.index_by_name.get(planned_index.name)
    if table is None or index is None or table.number != planned.number:
        return True
    if index.slot != planned_index.slot or not index.backfilling:
        return True
    if _fill_chunk(tx, table, index):
        return False
    ready = changed(index, backfilling=False, status="ACTIVE")
    replaced = tuple(ready if each.slot == index.slot else each for each in table.indexes)
    catalogue.save(tx, changed(table, indexes=replaced, version=table.version + 1))
    return True


def _fill_chunk(tx: Transaction, table: Table, index: Index) -> bool:
    """Write the entries of the next items; false when there are no more."""
    base = layout.rows_prefix(table.number, layout.BASE_SLOT)
    progress = layout.backfill_key(table.number, index.slot)
    start = tx.get(progress) or base
    entries: dict[bytes, Entry] = {}
    seen = seen_bytes = 0
    last = b""
    for last, stored in tx.scan(start, encoding.prefix_end(base), limit=_CHUNK_ITEMS):
        entry = indexes.entry(table, index, items.decode(stored), last[len(base) :])
        if entry is not None:
            entries[layout.rows_prefix(table.number, index.slot) + entry.key] = entry
        seen += 1
        seen_bytes += len(stored)
        if seen_bytes >= _CHUNK_BYTES:
            break
    _write_entries(tx, table, index, entries)
    if seen < _CHUNK_ITEMS and seen_bytes < _CHUNK_BYTES:
        tx.delete(progress)
        return False
    tx.put(progress, last + b"\x00")
    return True


def _write_entries(tx: Transaction, table: Table, index: Index, entries: dict[bytes, Entry]) -> None:
    tx.expect(list(entries))
    for row, entry in entries.items():
        if tx.get(row) is None:
            tx.put(row, items.encode(entry.item, entry.size))
            tx.add(layout.count_key(table.number, index.slot), 1)
            tx.add(layout.size_key(table.number, index.slot), entry.size)
