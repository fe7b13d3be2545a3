"""Expiry backfill: write the expiry rows of items that are older than their table's TTL setting."""

from functools import partial

from hashrange.core import items
from hashrange.core.expiry import expiry_second
from hashrange.core.schema import Table, changed
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.jobs.table_walk import next_chunk
from hashrange.storage import catalogue, expiry
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction


class BackfillExpiry:
    """Goes over the table in chunks. An item's row depends on the item alone, so writing one twice does no harm."""

    name = "backfill-expiry"

    def __init__(self, engine: Engine, tables: Catalogue) -> None:
        self._engine = engine
        self._tables = tables

    def step(self, now: float) -> float:
        """Write the rows of one chunk of one table."""
        for table in self._tables.tables():
            if table.ttl is None or not table.ttl.backfilling or not table.is_writable:
                continue
            if self._engine.write(partial(_fill, planned=table, now=now)):
                self._tables.refresh(*catalogue.address(table))
            return 0.0
        return IDLE_SECONDS


def _fill(tx: Transaction, *, planned: Table, now: float) -> bool:
    """Write a chunk; true if the table's record is not the planned one any more, by this step or before it."""
    table = catalogue.current(tx, planned)
    if table is None or table.ttl is None or table.ttl != planned.ttl:
        return True
    ttl = table.ttl
    chunk = next_chunk(tx, table.number, ttl.slot)
    for key, stored in chunk.items.items():
        second = expiry_second(items.decode(stored), ttl.attribute)
        if second is not None:
            tx.put(expiry.row_key(table.number, ttl.slot, second, key), b"")
    if chunk.is_last:
        catalogue.save(
            tx, changed(table, ttl=changed(ttl, backfilling=False), version=table.version + 1), now
        )
    return chunk.is_last
