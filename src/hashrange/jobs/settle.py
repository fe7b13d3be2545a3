"""Settle tables: store what a table has become, so that a status once reached stays reached whatever the clock does."""

from functools import partial

from hashrange.core.schema import Table, changed
from hashrange.core.table_life import gone, is_settled, next_moment, settled
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import backup_rows, catalogue
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction


class SettleTables:
    """Passing statuses end by time. Until this job has been there, requests work out for themselves that one is over.

    Removes the records of tables and indexes that were deleted, writes ACTIVE where CREATING or UPDATING is over, and
    forgets the former key and warm throughput where the change to another is done.
    """

    name = "settle-tables"

    def __init__(self, engine: Engine, tables: Catalogue) -> None:
        self._engine = engine
        self._tables = tables

    def step(self, now: float) -> float:
        """Update one table's record; if none is out of date, wait until one is."""
        upcoming = now + IDLE_SECONDS
        for table in self._tables.tables():
            if is_settled(table):
                continue
            if _is_outdated(table, now):
                self._engine.write(partial(_settle, planned=table, now=now))
                self._tables.refresh(*catalogue.address(table))
                return 0.0
            upcoming = min(upcoming, next_moment(table, now) or upcoming)
        return max(0.0, upcoming - now)


def _is_outdated(table: Table, now: float) -> bool:
    return gone(table, now) or settled(table, now) is not table


def _settle(tx: Transaction, *, planned: Table, now: float) -> None:
    tx.use_reserve()  # a table that stays CREATING or DELETING on a full volume could not be cleared away
    stored = catalogue.stored_table(tx, *catalogue.address(planned))
    if stored is None or stored.number != planned.number or not _is_outdated(stored, now):
        return
    if gone(stored, now):
        backup_rows.remove_table(tx, stored, now)
    else:
        catalogue.save(tx, changed(settled(stored, now), version=stored.version + 1), now)
