"""Backups: write a table's items into files while writes go on, and delete those files when nobody wants them."""

import contextlib
import math
import time
from functools import partial

from hashrange import logs
from hashrange.core.schema import changed
from hashrange.jobs import backup_files
from hashrange.jobs.backup_files import BackupPlace, FileWriter
from hashrange.jobs.long_runs import JobFailure, LongRuns, Patience, Run
from hashrange.jobs.pace import Pace, Seconds
from hashrange.jobs.threads import Threads
from hashrange.objects.errors import ObjectStoreError
from hashrange.storage import holds
from hashrange.storage.backup_rows import BACKUPS, Backup, BackupFile
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.history import PastTable
from hashrange.storage.job_rows import JobPlace

log = logs.Log("jobs.backups")

# A backup waits for as long as it takes until its files can be written.
_PATIENCE = Patience(seconds=math.inf, refused_seconds=math.inf)


def backup_jobs(
    engine: Engine,
    tables: Catalogue,
    backups: BackupPlace,
    threads: Threads,
    loop_cpu_seconds: Seconds | None = None,
) -> LongRuns[Backup]:
    """All backups that are being made or deleted; the clock of the event loop's thread tells their pace."""

    def begin(place: JobPlace, backup: Backup) -> Run:
        if backup.status == "DELETED":
            return _RemovalRun(engine, backups, place, backup)
        return BackupRun(engine, tables, backups, place, backup, Pace(loop_cpu_seconds))

    def fail(place: JobPlace, failure: JobFailure, now: float) -> None:
        """End a backup that can never be made: a part of the items must not be mistaken for all of them."""
        failed = engine.write(partial(_fail, place=place, reason=str(failure), now=now))
        if failed is None:
            return
        log.error("backup.failed", table=failed.source.name, id=place.id, reason=str(failure))
        tables.refresh(place.account_id, place.region, failed.source.name)
        with contextlib.suppress(ObjectStoreError):  # DeleteBackup tries again
            backup_files.delete(backups, backups.folder(place, failed.source.name))

    return LongRuns("back-up-tables", engine, BACKUPS, begin, fail, threads, _PATIENCE)


class BackupRun:
    """A backup under way in this process: a turn writes one chunk. What is in finished files is not read again."""

    def __init__(
        self,
        engine: Engine,
        tables: Catalogue,
        backups: BackupPlace,
        place: JobPlace,
        backup: Backup,
        pace: Pace,
    ) -> None:
        self._engine = engine
        self._tables = tables
        self._backups = backups
        self._place = place
        self._pace = pace
        self._source = backup.source
        self._folder = backups.folder(place, backup.source.name)
        self._files = len(backup.files)
        self._last = backup.after
        self._table = PastTable(engine, backup.source, backup.moment_us)
        self._chunks = self._table.chunks(backup.after or None)
        self._writer: FileWriter | None = None

    def close(self) -> None:
        """Throw the unfinished file away."""
        self._table.close()
        if self._writer is not None:
            self._writer.abort()

    def advance(self, now: float) -> float | None:
        """Write the next chunk; behind the last one the manifest."""
        began = time.monotonic()
        backup = self._backup()
        if backup is None:
            return None  # it was deleted, which is another run
        chunk = next(self._chunks, None)
        if chunk:
            if self._writer is None:
                self._writer = self._new_writer(backup)
            self._writer.write(chunk)
            self._last = chunk[-1][0]
        if self._writer is not None and (chunk is None or self._writer.size >= backup_files.FILE_BYTES):
            self._finish_file(self._writer)
        if chunk is None:
            self._finish(now)
            return None
        return self._pace.pause_after(time.monotonic() - began)

    def _backup(self) -> Backup | None:
        """The row, if it still asks for a backup."""
        backup = self._engine.read(lambda reader: BACKUPS.find(reader, self._place))
        return backup if backup is not None and backup.status == "CREATING" else None

    def _new_writer(self, backup: Backup) -> FileWriter:
        keys = backup.keys
        if not keys and not backup.files:
            keys = self._engine.write(
                partial(_choose_keys, place=self._place, new_keys=self._backups.new_keys())
            )
        cipher = self._backups.cipher(keys, self._folder)
        return FileWriter(self._backups, self._folder, self._files, cipher)

    def _finish_file(self, writer: FileWriter) -> None:
        file = writer.commit()
        self._writer = None
        self._engine.write(partial(_add_file, place=self._place, file=file, after=self._last))
        self._files += 1
        log.info("backup.progress", table=self._source.name, files=self._files, items=file.items)

    def _finish(self, now: float) -> None:
        backup = self._backup()
        if backup is None:
            return
        done = changed(backup, status="AVAILABLE", after=b"", keys={})
        # A backup without an item has no file yet, and no key.
        keys = backup.keys or ({} if backup.files else self._backups.new_keys())
        backup_files.write_manifest(self._backups, self._place, done, keys)
        self._engine.write(partial(_finish, place=self._place, done=done, now=now))
        self._tables.refresh(self._place.account_id, self._place.region, self._source.name)
        log.info("backup.finished", table=self._source.name, files=len(done.files))


class _RemovalRun:
    """A backup that is being deleted."""

    def __init__(self, engine: Engine, backups: BackupPlace, place: JobPlace, backup: Backup) -> None:
        self._engine = engine
        self._backups = backups
        self._place = place
        self._folder = backups.folder(place, backup.source.name)

    def close(self) -> None:
        """Nothing is held."""

    def advance(self, _now: float) -> None:
        """Remove the files, then the row."""
        backup_files.delete(self._backups, self._folder)
        self._engine.write(partial(_forget, place=self._place))


def _forget(tx: Transaction, *, place: JobPlace) -> None:
    tx.use_reserve()
    BACKUPS.remove(tx, place)


def _choose_keys(tx: Transaction, *, place: JobPlace, new_keys: dict[str, bytes]) -> dict[str, bytes]:
    """The keys of the first who chose some: what is in finished files is under them."""
    backup = BACKUPS.find(tx, place)
    if backup is None or backup.keys or not new_keys:
        return {} if backup is None else backup.keys
    BACKUPS.save(tx, place, changed(backup, keys=new_keys), active=True)
    return new_keys


def _add_file(tx: Transaction, *, place: JobPlace, file: BackupFile, after: bytes) -> None:
    backup = BACKUPS.find(tx, place)
    if backup is not None and file not in backup.files:
        added = changed(backup, files=(*backup.files, file), after=after)
        BACKUPS.save(tx, place, added, active=True)


def _finish(tx: Transaction, *, place: JobPlace, done: Backup, now: float) -> None:
    backup = BACKUPS.find(tx, place)
    if backup is None or backup.status != "CREATING":
        return
    BACKUPS.save(tx, place, done, active=False)
    holds.release(tx, backup.source, place.id, now)


def _fail(tx: Transaction, *, place: JobPlace, reason: str, now: float) -> Backup | None:
    backup = BACKUPS.find(tx, place)
    if backup is None:
        return None
    failed = changed(backup, status="FAILED", files=(), after=b"", keys={}, damage=reason)
    _finish(tx, place=place, done=failed, now=now)
    return failed
