"""Finish deletions: remove the records of tables and indexes whose time is up."""

from functools import partial

from hashrange.core.schema import Table, changed
from hashrange.core.table_life import gone, next_moment, settled
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import catalogue
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction


class FinishDeletions:
    """Clients see a deletion end by time alone; this makes the stored records follow."""

    name = "finish-deletions"

    def __init__(self, engine: Engine, tables: Catalogue) -> None:
        self._engine = engine
        self._tables = tables

    def step(self, now: float) -> float:
        """Bring one table's record up to date; if none is behind, wait for the next to be."""
        upcoming = now + IDLE_SECONDS
        for table in self._tables.tables():
            if table.status == "ACTIVE" and all(index.status == "ACTIVE" for index in table.indexes):
                continue
            if _is_behind(table, now):
                self._engine.write(partial(_finish, late=table, now=now))
                self._tables.refresh(*catalogue.address(table))
                return 0.0
            upcoming = min(upcoming, next_moment(table, now) or upcoming)
        return max(0.0, upcoming - now)


def _is_behind(table: Table, now: float) -> bool:
    return gone(table, now) or len(settled(table, now).indexes) != len(table.indexes)


def _finish(tx: Transaction, *, late: Table, now: float) -> None:
    stored = catalogue.stored_table(tx, *catalogue.address(late))
    if stored is None or stored.number != late.number or not _is_behind(stored, now):
        return
    if gone(stored, now):
        catalogue.remove(tx, stored)
    else:
        catalogue.save(tx, changed(settled(stored, now), version=stored.version + 1))
