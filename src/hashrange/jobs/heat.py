"""Follow heat: split partitions that stay hot, and let on-demand capacity grow with its traffic."""

from functools import partial

import msgspec

from hashrange import logs
from hashrange.capacity import growth, splitting
from hashrange.capacity.following import followed
from hashrange.capacity.heat import Place, Window
from hashrange.core.schema import Index, Table, changed
from hashrange.storage import catalogue, heat_rows
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Reader, Transaction

log = logs.Log("jobs.heat")

_ROUND_SECONDS = 15.0
_CHUNK_PLACES = 20
_CHUNK_ROWS = 50  # of each of them: every worker adds one in a minute


class _Looked(msgspec.Struct, frozen=True):
    place: Place
    windows: list[Window]
    has_old: bool


class FollowHeat:
    """Goes over all tables and indexes with traffic in rounds, some of them in each step."""

    name = "follow-heat"

    def __init__(self, engine: Engine, tables: Catalogue) -> None:
        self._engine = engine
        self._tables = tables
        self._unchecked: list[Place] = []  # of this round

    def step(self, now: float) -> float:
        """Look at the heat of some tables, and update their records."""
        if not self._unchecked:
            self._unchecked = self._engine.read(heat_rows.places)
        places, self._unchecked = self._unchecked[:_CHUNK_PLACES], self._unchecked[_CHUNK_PLACES:]
        tables = {table.number: table for table in self._tables.tables() if table.status != "DELETING"}
        outdated: list[tuple[Place, bool]] = []
        for looked in self._engine.read(partial(_looked, places=places, now=now)):
            table = tables.get(looked.place[0])
            if table is not None:
                self._follow(table, looked, now)
            if table is None or looked.has_old:
                outdated.append((looked.place, table is None))
        if outdated:
            self._engine.write(partial(_forget, outdated=outdated, now=now))
        return 0.0 if self._unchecked else _ROUND_SECONDS

    def _follow(self, table: Table, looked: _Looked, now: float) -> None:
        index = index_of(table, looked.place[1])
        if looked.place[1] and index is None:
            return
        splits = splitting.splits(table, index, looked.windows, now)
        warm = growth.grown(table, index, looked.windows, now)
        after = followed(table, index, splits, warm)
        if after is table:
            return
        self._engine.write(partial(_save, planned=table, after=after, now=now))
        self._tables.refresh(*catalogue.address(table))
        for split in splits:
            if split.at is not None:
                log.info(
                    "partition.split", table=table.name, index=index and index.name, partition=split.number
                )


def _looked(reader: Reader, *, places: list[Place], now: float) -> list[_Looked]:
    return [
        _Looked(place, heat_rows.read(reader, place, now), heat_rows.has_old(reader, place, now))
        for place in places
    ]


def _forget(tx: Transaction, *, outdated: list[tuple[Place, bool]], now: float) -> None:
    """Delete the old rows of places, all of them if the table is gone: in one commit, for every table has some."""
    for place, gone in outdated:
        heat_rows.forget(tx, place, now, gone=gone, most=_CHUNK_ROWS)


def index_of(table: Table, slot: int) -> Index | None:
    """The global index with this slot."""
    return next((index for index in table.global_indexes if index.slot == slot), None)


def _save(tx: Transaction, *, planned: Table, after: Table, now: float) -> None:
    """Save the record unless somebody has changed it meanwhile: the next round looks at it again."""
    stored = catalogue.stored_table(tx, *catalogue.address(planned))
    if stored is not None and stored.number == planned.number and stored.version == planned.version:
        catalogue.save(tx, changed(after, version=stored.version + 1), now)
