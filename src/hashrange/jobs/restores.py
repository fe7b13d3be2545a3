"""Restores: fill a new table with items as they were, a few at a time; the progress is part of each commit."""

from collections.abc import Iterator
from functools import partial
from typing import Protocol

from hashrange import logs
from hashrange.core import items, partitions
from hashrange.core.mutation import Origin, PutCommand
from hashrange.core.schema import Table, changed
from hashrange.jobs.backup_files import BackupPlace, BackupSource, DamagedBackup
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.storage import catalogue, holds, store
from hashrange.storage.backup_rows import BACKUPS
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.history import PastTable, Row
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.restore_rows import RESTORES, Restore

log = logs.Log("jobs.restores")

# Clients' writes wait while a piece is written.
_PIECE_ROWS = 50
_PIECE_BYTES = 512 * 1024
_PAUSE_SECONDS = 0.002


class Source(Protocol):
    """Where the items of a restore come from, in key order."""

    def chunks(self, after: bytes | None = None) -> Iterator[list[Row]]:
        """All items behind a key."""

    def close(self) -> None:
        """Release what it holds."""


class _OpenRestore:
    """A restore under way in this process."""

    def __init__(self, source: Source, after: bytes) -> None:
        self.source = source
        self.pieces = _pieces(source.chunks(after or None))


class RestoreTables:
    """Works on the restores one after the other, a piece in every step."""

    name = "restore-tables"

    def __init__(self, engine: Engine, tables: Catalogue, backups: BackupPlace) -> None:
        self._engine = engine
        self._tables = tables
        self._backups = backups
        self._open: dict[JobPlace, _OpenRestore] = {}

    def step(self, now: float) -> float:
        """Write the next items of the oldest restore."""
        places = self._engine.read(RESTORES.active)
        for gone in self._open.keys() - set(places):
            self._open.pop(gone).source.close()
        if not places:
            return IDLE_SECONDS
        place = places[0]
        restore = self._engine.read(lambda reader: RESTORES.find(reader, place))
        if restore is None:
            return 0.0
        try:
            piece = next(self._opened(place, restore).pieces, None)
        except DamagedBackup as damage:
            self._give_up(place, restore, str(damage), now)
            return 0.0
        except BaseException:
            self._drop(place)
            raise
        if piece is not None:
            self._engine.write(partial(_write_piece, place=place, piece=piece))
            return _PAUSE_SECONDS
        self._engine.write(partial(_finish, place=place, now=now))
        self._drop(place)
        for name in (restore.target, restore.source.name):
            self._tables.refresh(place.account_id, place.region, name)
        log.info("restore.finished", table=restore.target, items=restore.items)
        return 0.0

    def _opened(self, place: JobPlace, restore: Restore) -> _OpenRestore:
        if place not in self._open:
            self._open[place] = _OpenRestore(self._source(place, restore), restore.after)
        return self._open[place]

    def _source(self, place: JobPlace, restore: Restore) -> Source:
        if restore.backup_id is None:
            return PastTable(self._engine, restore.source, restore.moment_us)
        origin = place._replace(id=restore.backup_id)
        source = BackupSource(self._backups, self._backups.folder(origin, restore.source.name))
        if not restore.after:
            source.verify()  # before the first item is written
        return source

    def _drop(self, place: JobPlace) -> None:
        if place in self._open:
            self._open.pop(place).source.close()

    def _give_up(self, place: JobPlace, restore: Restore, reason: str, now: float) -> None:
        """Take the table away again: a part of its items must not be mistaken for all of them."""
        log.error("restore.refused", table=restore.target, reason=reason)
        self._engine.write(partial(_give_up, place=place, reason=reason, now=now))
        self._drop(place)
        self._tables.refresh(place.account_id, place.region, restore.target)


def _pieces(chunks: Iterator[list[Row]]) -> Iterator[list[Row]]:
    """Chunks cut into what one commit takes."""
    for chunk in chunks:
        piece: list[Row] = []
        size = 0
        for row in chunk:
            piece.append(row)
            size += len(row[1])
            if len(piece) >= _PIECE_ROWS or size >= _PIECE_BYTES:
                yield piece
                piece, size = [], 0
        if piece:
            yield piece


def _write_piece(tx: Transaction, *, place: JobPlace, piece: list[Row]) -> None:
    restore = RESTORES.find(tx, place)
    if restore is None or restore.after >= piece[-1][0]:
        return  # written before: the step ran twice, or its outcome was not known
    table = _target(tx, place, restore)
    if table is None:
        return
    for key, stored in piece:
        item = items.decode(stored)
        command = PutCommand(key, item, items.stored_size(stored))
        store.apply(tx, table, command, Origin(items.stored_time(stored), "restore"))
    written = changed(restore, after=piece[-1][0], items=restore.items + len(piece))
    RESTORES.save(tx, place, written, active=True)


def _finish(tx: Transaction, *, place: JobPlace, now: float) -> None:
    """Open the table to its clients, and let go of the past."""
    restore = RESTORES.find(tx, place)
    if restore is None:
        return
    table = _target(tx, place, restore)
    if table is not None:
        sizes = {index.name: store.size_bytes(tx, table, index) for index in table.global_indexes}
        ready = changed(
            partitions.grown(table, store.size_bytes(tx, table), sizes),
            status="ACTIVE",
            settles_at=now,
            indexes=tuple(changed(index, status="ACTIVE", settles_at=now) for index in table.indexes),
            restoring=None,
            version=table.version + 1,
        )
        catalogue.save(tx, ready, now)
    RESTORES.remove(tx, place)
    if restore.backup_id is None:
        holds.release(tx, restore.source, place.id, now)


def _give_up(tx: Transaction, *, place: JobPlace, reason: str, now: float) -> None:
    restore = RESTORES.find(tx, place)
    if restore is None:
        return
    table = _target(tx, place, restore)
    if table is not None:
        catalogue.remove(tx, table, now)
    RESTORES.remove(tx, place)
    origin = place._replace(id=restore.backup_id or "")
    backup = BACKUPS.find(tx, origin)
    if backup is not None:
        BACKUPS.save(tx, origin, changed(backup, damage=reason), active=False)


def _target(tx: Transaction, place: JobPlace, restore: Restore) -> Table | None:
    table = catalogue.stored_table(tx, place.account_id, place.region, restore.target)
    return table if table is not None and table.number == restore.target_number else None
