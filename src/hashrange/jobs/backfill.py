"""Backfill: write a new index's entries for the items that are older than the index."""

from functools import partial

from hashrange.capacity.series import Place, series_name
from hashrange.core import capacity, indexes, items
from hashrange.core.indexes import Entry
from hashrange.core.schema import Index, Table, changed
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.jobs.table_walk import next_chunk
from hashrange.storage import catalogue, layout, metric_rows
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction


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
                if not index.backfilling or not table.is_writable:
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
    if _fill_chunk(tx, table, index, now):
        return False
    ready = changed(index, backfilling=False, status="ACTIVE")
    indexes_after = tuple(ready if other.slot == index.slot else other for other in table.indexes)
    catalogue.save(tx, changed(table, indexes=indexes_after, version=table.version + 1), now)
    return True


def _fill_chunk(tx: Transaction, table: Table, index: Index, now: float) -> bool:
    """Write the entries of the next items; false when there are no more."""
    chunk = next_chunk(tx, table.number, index.slot)
    entries: dict[bytes, tuple[Entry, float]] = {}
    for key, stored in chunk.items.items():
        entry = indexes.entry(table, index, items.decode(stored), key)
        if entry is not None:
            row_key = layout.rows_prefix(table.number, index.slot) + entry.key
            entries[row_key] = (entry, items.stored_time(stored))
    _write_entries(tx, table, index, entries)
    units = sum(capacity.write_units(entry.size) for entry, _ in entries.values())
    name = series_name("OnlineIndexConsumedWriteCapacity", {"GlobalSecondaryIndexName": index.name})
    metric_rows.add_samples(tx, Place(*catalogue.address(table)), now, {name: float(units)})
    return not chunk.is_last


def _write_entries(
    tx: Transaction, table: Table, index: Index, entries: dict[bytes, tuple[Entry, float]]
) -> None:
    tx.prefetch(list(entries))
    for row_key, (entry, written_at) in entries.items():
        if tx.get(row_key) is None:
            tx.put(row_key, items.encode(entry.item, entry.size, written_at))
            tx.add(layout.count_key(table.number, index.slot), 1)
            tx.add(layout.size_key(table.number, index.slot), entry.size)
