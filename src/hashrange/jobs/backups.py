"""Backups: write a table's items into files while writes go on, and clear away what is deleted or has expired."""

import time
from collections.abc import Callable, Iterator
from functools import partial

from hashrange import logs
from hashrange.core.schema import changed
from hashrange.jobs import backup_files
from hashrange.jobs.backup_files import BackupPlace, DamagedBackup, FileWriter
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.objects.errors import ObjectStoreError
from hashrange.storage import holds
from hashrange.storage.backup_rows import BACKUPS, Backup, BackupFile
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.history import PastTable, Row
from hashrange.storage.job_rows import JobPlace

log = logs.Log("jobs.backups")

_ADOPT_SECONDS = 3600.0  # how often to look for backups that the database does not know


class _OpenBackup:
    """A backup under way in this process."""

    def __init__(self, table: PastTable, after: bytes) -> None:
        self.table = table
        self.chunks: Iterator[list[Row]] = table.chunks(after or None)
        self.writer: FileWriter | None = None
        self.last = after

    def close(self) -> None:
        self.table.close()
        if self.writer is not None:
            self.writer.abort()


class BackUpTables:
    """Works on one backup after the other; a step writes one chunk. What is in finished files is not read again."""

    name = "back-up-tables"

    def __init__(self, engine: Engine, tables: Catalogue, backups: BackupPlace) -> None:
        self._engine = engine
        self._tables = tables
        self._backups = backups
        self._open: dict[JobPlace, _OpenBackup] = {}

    def step(self, now: float) -> float:
        """Write the next chunk of the oldest backup, or remove one that was deleted."""
        places = self._engine.read(BACKUPS.active)
        for gone in self._open.keys() - set(places):
            self._open.pop(gone).close()
        if not places:
            return IDLE_SECONDS
        place = places[0]
        backup = self._engine.read(lambda reader: BACKUPS.find(reader, place))
        if backup is not None and backup.status == "DELETED":
            backup_files.delete(self._backups, self._backups.folder(place, backup.source.name))
            self._engine.write(partial(BACKUPS.remove, place=place))
        elif backup is not None:
            try:
                self._advance(place, backup, now)
            except BaseException:
                self._open.pop(place).close()
                raise
        return 0.0

    def _advance(self, place: JobPlace, backup: Backup, now: float) -> None:
        folder = self._backups.folder(place, backup.source.name)
        if place not in self._open:
            table = PastTable(self._engine, backup.source, backup.moment_us)
            self._open[place] = _OpenBackup(table, backup.after)
        under_way = self._open[place]
        chunk = next(under_way.chunks, None)
        if chunk:
            if under_way.writer is None:
                under_way.writer = FileWriter(self._backups, folder, len(backup.files))
            under_way.writer.write(chunk)
            under_way.last = chunk[-1][0]
        if under_way.writer is not None and (
            chunk is None or under_way.writer.size >= backup_files.FILE_BYTES
        ):
            file = under_way.writer.commit()
            under_way.writer = None
            self._engine.write(partial(_add_file, place=place, file=file, after=under_way.last))
        if chunk is None:
            self._finish(place, now)

    def _finish(self, place: JobPlace, now: float) -> None:
        backup = self._engine.read(lambda reader: BACKUPS.find(reader, place))
        if backup is None:
            return
        done = changed(backup, status="AVAILABLE", after=b"")
        backup_files.write_manifest(self._backups, place, done)
        self._engine.write(partial(_finish, place=place, done=done, now=now))
        self._open.pop(place).close()
        self._tables.refresh(place.account_id, place.region, backup.source.name)
        log.info("backup.finished", table=backup.source.name, files=len(done.files))


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


class KeepBackups:
    """Deletes backups that have expired, and adopts those whose files are there but which the database does not know.

    So a new database that is pointed at the backups of a lost one can restore its tables.
    """

    name = "keep-backups"

    def __init__(
        self, engine: Engine, backups: BackupPlace, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._backups = backups
        self._monotonic = monotonic
        self._adopt_at = 0.0

    def step(self, now: float) -> float:
        """Look at all backups."""
        if self._monotonic() >= self._adopt_at:
            self._adopt(now)
            self._adopt_at = self._monotonic() + _ADOPT_SECONDS
        for place, backup in self._engine.read(lambda reader: list(BACKUPS.everywhere(reader))):
            if backup.expires_at is not None and backup.expires_at <= now and backup.status == "AVAILABLE":
                expired = changed(backup, status="DELETED")
                self._engine.write(partial(BACKUPS.save, place=place, record=expired, active=True))
        return IDLE_SECONDS

    def _adopt(self, now: float) -> None:
        for folder in backup_files.folders(self._backups):
            try:
                manifest = backup_files.read_manifest(self._backups, folder)
            except (DamagedBackup, ObjectStoreError) as error:
                log.warning("backup.unreadable", folder=folder, reason=str(error))
                continue
            place = JobPlace(manifest.account_id, manifest.region, manifest.id)
            if self._engine.write(partial(_adopt, place=place, backup=manifest.backup)):
                log.info("backup.adopted", table=manifest.backup.source.name, id=manifest.id)


def _adopt(tx: Transaction, *, place: JobPlace, backup: Backup) -> bool:
    if BACKUPS.find(tx, place) is not None:
        return False
    BACKUPS.save(tx, place, backup, active=False)
    return True
