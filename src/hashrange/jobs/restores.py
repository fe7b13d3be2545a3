"""Restores: fill a new table with items as they were, a few at a time; the progress is part of each commit."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Protocol

from hashrange import logs
from hashrange.core import items
from hashrange.core.mutation import Origin, PutCommand
from hashrange.core.schema import Table, changed
from hashrange.jobs import filled_tables, piece_sizes
from hashrange.jobs.backup_files import BackupPlace, BackupSource
from hashrange.jobs.long_runs import JobFailure, LongRuns, Patience
from hashrange.jobs.threads import Threads
from hashrange.storage import catalogue, holds, store
from hashrange.storage.backup_rows import BACKUPS, BackupFile
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.history import PastTable, Row
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.restore_rows import RESTORES, Restore

log = logs.Log("jobs.restores")

_PAUSE_SECONDS = 0.002
_PROGRESS_ITEMS = 100_000  # between two lines of the log
# After a day a restore is given up: its table cannot be deleted before.
_PATIENCE = Patience(seconds=86_400.0, refused_seconds=86_400.0)


class Source(Protocol):
    """Where the items of a restore come from, in key order."""

    def chunks(self, after: bytes | None = None) -> Iterator[list[Row]]:
        """All items behind a key."""

    def close(self) -> None:
        """Release what it holds."""


def restore_jobs(
    engine: Engine, tables: Catalogue, backups: BackupPlace, threads: Threads
) -> LongRuns[Restore]:
    """All restores."""

    def begin(place: JobPlace, restore: Restore) -> RestoreRun:
        return RestoreRun(engine, tables, backups, place, restore)

    def fail(place: JobPlace, failure: JobFailure, now: float) -> None:
        """Take the table away again: a part of its items must not be mistaken for all of them."""
        restore = engine.write(partial(_give_up, place=place, reason=str(failure), now=now))
        if restore is not None:
            log.error("restore.failed", table=restore.target, id=place.id, reason=str(failure))
            _refresh(tables, place, restore)

    return LongRuns("restore-tables", engine, RESTORES, begin, fail, threads, _PATIENCE)


class RestoreRun:
    """A restore under way in this process: a turn writes one piece."""

    def __init__(
        self, engine: Engine, tables: Catalogue, backups: BackupPlace, place: JobPlace, restore: Restore
    ) -> None:
        self._engine = engine
        self._tables = tables
        self._place = place
        self._restore = restore
        self._items = restore.items
        self._source: Source
        checks: Iterator[list[Row]] = iter(())
        if restore.backup is None:
            self._source = PastTable(engine, restore.source, restore.moment_us)
        else:
            files = BackupSource(
                backups,
                backups.folder(restore.backup, restore.source.name),
                _known_files(engine, restore.backup),
            )
            self._source = files
            if not restore.after:
                checks = _verifying(files)  # before the first item is written
        chunks = self._source.chunks(restore.after or None)
        self._pieces = chain(checks, _pieces(chunks, restore.source))

    def close(self) -> None:
        """Release the source."""
        self._source.close()

    def advance(self, now: float) -> float | None:
        """Write the next items; behind the last one open the table."""
        piece = next(self._pieces, None)
        if piece is None:
            self._finish(now)
            return None
        if piece:
            self._engine.write(partial(_write_piece, place=self._place, piece=piece))
            before, self._items = self._items, self._items + len(piece)
            if self._items // _PROGRESS_ITEMS > before // _PROGRESS_ITEMS:
                log.info("restore.progress", table=self._restore.target, items=self._items)
        return _PAUSE_SECONDS

    def _finish(self, now: float) -> None:
        self._engine.write(partial(_finish, place=self._place, now=now))
        _refresh(self._tables, self._place, self._restore)
        log.info("restore.finished", table=self._restore.target, items=self._items)


def _known_files(engine: Engine, place: JobPlace) -> tuple[BackupFile, ...] | None:
    backup = engine.read(lambda reader: BACKUPS.find(reader, place))
    return None if backup is None else backup.files


def _refresh(tables: Catalogue, place: JobPlace, restore: Restore) -> None:
    tables.refresh(place.account_id, place.region, restore.target)
    tables.refresh(*catalogue.address(restore.source))


def _verifying(source: BackupSource) -> Iterator[list[Row]]:
    """Nothing to write yet: a step reads a part of the files."""
    for _ in source.verify():
        yield []


def _pieces(chunks: Iterator[list[Row]], table: Table) -> Iterator[list[Row]]:
    """What one commit takes, whatever the chunks are; a chunk without items gives a piece without any."""
    most = piece_sizes.rows_max(table)
    piece: list[Row] = []
    size = 0
    for chunk in chunks:
        for row in chunk:
            piece.append(row)
            size += len(row[1])
            if len(piece) >= most or size >= piece_sizes.BYTES_MAX:
                yield piece
                piece, size = [], 0
        if not chunk:
            yield []
    if piece:
        yield piece


def _write_piece(tx: Transaction, *, place: JobPlace, piece: list[Row]) -> None:
    restore = RESTORES.find(tx, place)
    if restore is None or restore.after >= piece[-1][0]:
        return  # written before: the step ran twice, or its outcome was not known
    table = _target(tx, place, restore)
    if table is None:
        return
    tx.prefetch([store.row_key(table, key) for key, _ in piece])
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


def _give_up(tx: Transaction, *, place: JobPlace, reason: str, now: float) -> Restore | None:
    restore = RESTORES.find(tx, place)
    if restore is None:
        return None
    table = _target(tx, place, restore)
    if table is not None:
        catalogue.remove(tx, table, now)
    # The row stays for those who look for the table.
    RESTORES.save(tx, place, changed(restore, ended_at=now, failure=reason), active=False)
    if restore.backup is None:
        holds.release(tx, restore.source, place.id, now)
        return restore
    backup = BACKUPS.find(tx, restore.backup)
    if backup is not None:
        BACKUPS.save(tx, restore.backup, changed(backup, damage=reason), active=False)
    return restore


def _target(tx: Transaction, place: JobPlace, restore: Restore) -> Table | None:
    table = catalogue.stored_table(tx, place.account_id, place.region, restore.target)
    return table if table is not None and table.number == restore.target_number else None
