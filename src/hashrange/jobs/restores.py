"""Restores: fill a new table with items as they were, a few at a time; the progress is part of each commit."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Protocol

from hashrange import logs
from hashrange.core import items
from hashrange.core.mutation import Origin, PutCommand
from hashrange.core.schema import Table, changed
from hashrange.jobs import filled_tables
from hashrange.jobs.backup_files import BackupPlace, BackupSource, DamagedBackup
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.jobs.turns import Turns
from hashrange.storage import catalogue, holds, store
from hashrange.storage.backup_rows import BACKUPS
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.errors import Corrupt, StorageError
from hashrange.storage.history import PastTable, Row
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.restore_rows import RESTORES, Restore

log = logs.Log("jobs.restores")

# Clients' writes wait while a piece is written.
_PIECE_ROWS = 50
_PIECE_BYTES = 512 * 1024
_PAUSE_SECONDS = 0.002
_PROGRESS_ITEMS = 100_000  # between two lines of the log
_FAILING_SECONDS_MAX = 86_400.0  # after which a restore is given up: its table cannot be deleted before


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
        if isinstance(source, BackupSource) and not after:
            self.pieces = chain(_verifying(source), self.pieces)  # before the first item is written


class RestoreTables:
    """Works on a few restores in turn, a piece in every step."""

    name = "restore-tables"

    def __init__(self, engine: Engine, tables: Catalogue, backups: BackupPlace) -> None:
        self._engine = engine
        self._tables = tables
        self._backups = backups
        self._turns = Turns("restore")
        self._open: dict[JobPlace, _OpenRestore] = {}

    def step(self, now: float) -> float:
        """Write the next items of a restore."""
        places = self._engine.read(RESTORES.active)
        for gone in self._open.keys() - set(places):
            self._drop(gone)
        if not places:
            return IDLE_SECONDS
        place = self._turns.choose(places)
        if place is None:
            return self._turns.pause(places)
        restore = self._engine.read(lambda reader: RESTORES.find(reader, place))
        if restore is not None:
            self._work(place, restore, now)
        return _PAUSE_SECONDS

    def _work(self, place: JobPlace, restore: Restore, now: float) -> None:
        try:
            self._advance(place, restore, now)
        except (DamagedBackup, Corrupt) as damage:
            self._give_up(place, restore, str(damage), now)
        except StorageError:
            self._drop(place)
            raise  # the database does not answer: nothing else would work either
        except Exception as error:  # noqa: BLE001 - the other restores go on
            self._drop(place)
            if self._turns.failed(place, restore.target, error) > _FAILING_SECONDS_MAX:
                self._give_up(place, restore, str(error), now)
        else:
            self._turns.succeeded(place, restore.target)

    def _advance(self, place: JobPlace, restore: Restore, now: float) -> None:
        piece = next(self._opened(place, restore).pieces, None)
        if piece:
            self._engine.write(partial(_write_piece, place=place, piece=piece))
            if (restore.items + len(piece)) // _PROGRESS_ITEMS > restore.items // _PROGRESS_ITEMS:
                log.info("restore.progress", table=restore.target, items=restore.items + len(piece))
        if piece is not None:
            return
        self._engine.write(partial(_finish, place=place, now=now))
        self._drop(place)
        self._tables.refresh(place.account_id, place.region, restore.target)
        self._tables.refresh(*catalogue.address(restore.source))
        log.info("restore.finished", table=restore.target, items=restore.items)

    def _opened(self, place: JobPlace, restore: Restore) -> _OpenRestore:
        if place not in self._open:
            self._open[place] = _OpenRestore(self._source(restore), restore.after)
        return self._open[place]

    def _source(self, restore: Restore) -> Source:
        if restore.backup is None:
            return PastTable(self._engine, restore.source, restore.moment_us)
        return BackupSource(self._backups, self._backups.folder(restore.backup, restore.source.name))

    def _drop(self, place: JobPlace) -> None:
        if place in self._open:
            self._open.pop(place).source.close()

    def _give_up(self, place: JobPlace, restore: Restore, reason: str, now: float) -> None:
        """Take the table away again: a part of its items must not be mistaken for all of them."""
        log.error("restore.failed", table=restore.target, id=place.id, reason=reason)
        self._drop(place)
        self._engine.write(partial(_give_up, place=place, reason=reason, now=now))
        self._tables.refresh(place.account_id, place.region, restore.target)
        self._tables.refresh(*catalogue.address(restore.source))


def _verifying(source: BackupSource) -> Iterator[list[Row]]:
    """Nothing to write yet: a step reads a part of the files."""
    for _ in source.verify():
        yield []


def _pieces(chunks: Iterator[list[Row]]) -> Iterator[list[Row]]:
    """Chunks cut into what one commit takes; a chunk without items gives a piece without any."""
    for chunk in chunks:
        piece: list[Row] = []
        size = 0
        for row in chunk:
            piece.append(row)
            size += len(row[1])
            if len(piece) >= _PIECE_ROWS or size >= _PIECE_BYTES:
                yield piece
                piece, size = [], 0
        if piece or not chunk:
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
        filled_tables.open_table(tx, table, now)
    RESTORES.remove(tx, place)
    if restore.backup is None:
        holds.release(tx, restore.source, place.id, now)


def _give_up(tx: Transaction, *, place: JobPlace, reason: str, now: float) -> None:
    restore = RESTORES.find(tx, place)
    if restore is None:
        return
    table = _target(tx, place, restore)
    if table is not None:
        catalogue.remove(tx, table, now)
    RESTORES.remove(tx, place)
    if restore.backup is None:
        holds.release(tx, restore.source, place.id, now)
        return
    backup = BACKUPS.find(tx, restore.backup)
    if backup is not None:
        BACKUPS.save(tx, restore.backup, changed(backup, damage=reason), active=False)


def _target(tx: Transaction, place: JobPlace, restore: Restore) -> Table | None:
    table = catalogue.stored_table(tx, place.account_id, place.region, restore.target)
    return table if table is not None and table.number == restore.target_number else None
