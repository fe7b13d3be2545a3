"""Backfill: write a new index's entries for the items that are older than the index."""

from hashrange.core.schema import Index, Table
from hashrange.jobs.index_build import IndexBuild
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import catalogue
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine


class Backfill:
    """Fills one index at a time, a slice of items or a chunk of entries in each step."""

    name = "backfill"

    def __init__(self, engine: Engine, tables: Catalogue) -> None:
        self._engine = engine
        self._tables = tables
        self._build: IndexBuild | None = None

    def step(self, now: float) -> float:
        """Go on with the first index that can be filled."""
        pause = IDLE_SECONDS
        for table in self._tables.tables():
            for index in table.global_indexes:
                if not index.backfilling or not table.is_writable:
                    continue
                if now < index.settles_at:
                    pause = min(pause, index.settles_at - now)
                    continue
                if self._build_of(table, index).advance(now):
                    self._tables.refresh(*catalogue.address(table))
                return 0.0
        self.close()
        return pause

    def close(self) -> None:
        """Forget what was read and is not written yet."""
        if self._build is not None:
            self._build.close()
            self._build = None

    def _build_of(self, table: Table, index: Index) -> IndexBuild:
        if self._build is None or self._build.slot != (table.number, index.slot):
            self.close()
            self._build = IndexBuild(self._engine, table, index)
        return self._build
