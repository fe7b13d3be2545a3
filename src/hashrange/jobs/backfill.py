"""Backfill: write a new index's entries for the items that are older than the index."""

from functools import partial

from hashrange.core import indexes, items
from hashrange.core.indexes import Entry
from hashrange.core.keys import encoding
from hashrange.core.schema import Index, Table, changed
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import catalogue, layout
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction

# Clients' writes wait while a chunk is written, some ten milliseconds.
_CHUNK_ITEMS = 200
_CHUNK_BYTES = 2 * 1024 * 1024


class Backfill:
    """Scans the table in chunks; the transaction that writes a chunk also saves the progress.

    Writes keep the index up to date as soon as it is in the catalogue, so an entry that exists
    already is newer and stays.
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
                if self._engine.write(partial(_fill, planned=table, planned_index=index, now=now)):
                    self._tables.refresh(*catalogue.address(table))
                return 0.0
        return pause


def _fill(tx: Transaction, *, planned: Table, planned_index: Index, now: float) -> bool:
    """Write a chunk; true if the table's record is not the planned one any more, by this step or before it."""
    table = catalogue.stored_table(tx, *catalogue.address(planned))
    index = None if table is None else table.index_by_name.get(planned_index.name)
    if table is None or index is None or table.number != planned.number:
        return True
    if index.slot != planned_index.slot or not index.backfilling:
        return True
    if _fill_chunk(tx, table, index):
        return False
    ready = changed(index, backfilling=False, status="ACTIVE")
    indexes_after = tuple(ready if other.slot == index.slot else other for other in table.indexes)
    catalogue.save(tx, changed(table, indexes=indexes_after, version=table.version + 1), now)
    return True


def _fill_chunk(tx: Transaction, table: Table, index: Index) -> bool:
    """Write the entries of the next items; false when there are no more."""
    base = layout.rows_prefix(table.number, layout.BASE_SLOT)
    progress_key = layout.backfill_key(table.number, index.slot)
    start = tx.get(progress_key) or base
    entries: dict[bytes, tuple[Entry, float]] = {}
    scanned = scanned_bytes = 0
    last = b""
    for last, stored in tx.scan(start, encoding.prefix_end(base), limit=_CHUNK_ITEMS):
        entry = indexes.entry(table, index, items.decode(stored), last[len(base) :])
        if entry is not None:
            entries[layout.rows_prefix(table.number, index.slot) + entry.key] = (
                entry,
                items.stored_time(stored),
            )
        scanned += 1
        scanned_bytes += len(stored)
        if scanned_bytes >= _CHUNK_BYTES:
            break
    _write_entries(tx, table, index, entries)
    if scanned < _CHUNK_ITEMS and scanned_bytes < _CHUNK_BYTES:
        tx.delete(progress_key)
        return False
    tx.put(progress_key, last + b"\x00")
    return True


def _write_entries(
    tx: Transaction, table: Table, index: Index, entries: dict[bytes, tuple[Entry, float]]
) -> None:
    tx.prefetch(list(entries))
    for row_key, (entry, written_at) in entries.items():
        if tx.get(row_key) is None:
            tx.put(row_key, items.encode(entry.item, entry.size, written_at))
            tx.add(layout.count_key(table.number, index.slot), 1)
            tx.add(layout.size_key(table.number, index.slot), entry.size)
