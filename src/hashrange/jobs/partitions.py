"""Split partitions: give a table or index that has outgrown its partitions more of them."""

from functools import partial

from hashrange.core.partitions import grown
from hashrange.core.schema import Table, changed
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import catalogue, store
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Reader, Transaction

_CHUNK_TABLES = 50


class SplitPartitions:
    """A partition holds 10 GB. What throughput asks for is settled when a table is made or changed."""

    name = "split-partitions"

    def __init__(self, engine: Engine, tables: Catalogue) -> None:
        self._engine = engine
        self._tables = tables
        self._unchecked: list[Table] = []  # of this round

    def step(self, now: float) -> float:
        """Look at the sizes of some tables, and update the records that are out of date."""
        if not self._unchecked:
            self._unchecked = [table for table in self._tables.tables() if table.is_writable]
        tables, self._unchecked = self._unchecked[:_CHUNK_TABLES], self._unchecked[_CHUNK_TABLES:]
        for table in self._engine.read(partial(_outgrown, tables=tables)):
            self._engine.write(partial(_split, planned=table, now=now))
            self._tables.refresh(*catalogue.address(table))
        return 0.0 if self._unchecked else IDLE_SECONDS


def _outgrown(reader: Reader, *, tables: list[Table]) -> list[Table]:
    return [table for table in tables if _grown(reader, table) is not table]


def _grown(reader: Reader, table: Table) -> Table:
    sizes = {index.name: store.size_bytes(reader, table, index) for index in table.global_indexes}
    return grown(table, store.size_bytes(reader, table), sizes)


def _split(tx: Transaction, *, planned: Table, now: float) -> None:
    stored = catalogue.stored_table(tx, *catalogue.address(planned))
    if stored is None or stored.number != planned.number:
        return
    after = _grown(tx, stored)
    if after is not stored:
        catalogue.save(tx, changed(after, version=stored.version + 1), now)
