"""Backups: write a table's items into files while writes go on, and delete those files when nobody wants them."""

import contextlib
import time
from collections.abc import Iterator
from functools import partial

from hashrange import logs
from hashrange.core.schema import changed
from hashrange.jobs import backup_files
from hashrange.jobs.backup_files import BackupPlace, FileWriter
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.jobs.turns import Turns
from hashrange.objects.errors import ObjectStoreError
from hashrange.storage import holds
from hashrange.storage.backup_rows import BACKUPS, Backup, BackupFile
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.errors import Corrupt, StorageError
from hashrange.storage.history import PastTable, Row
from hashrange.storage.job_rows import JobPlace

log = logs.Log("jobs.backups")

# Half of the time is for clients' requests, which share processor and disk with a backup.
_PAUSE_SECONDS_MAX = 0.1


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
    """Works on a few backups in turn; a step writes one chunk. What is in finished files is not read again."""

    name = "back-up-tables"

    def __init__(self, engine: Engine, tables: Catalogue, backups: BackupPlace) -> None:
        self._engine = engine
        self._tables = tables
        self._backups = backups
        self._turns = Turns("backup")
        self._open: dict[JobPlace, _OpenBackup] = {}

    def step(self, now: float) -> float:
        """Write the next chunk of a backup, or remove one that was deleted."""
        places = self._engine.read(BACKUPS.active)
        for gone in self._open.keys() - set(places):
            self._drop(gone)
        if not places:
            return IDLE_SECONDS
        place = self._turns.choose(places)
        if place is None:
            return self._turns.pause(places)
        began = time.monotonic()
        backup = self._engine.read(lambda reader: BACKUPS.find(reader, place))
        if backup is not None:
            self._work(place, backup, now)
        return min(time.monotonic() - began, _PAUSE_SECONDS_MAX)

    def _work(self, place: JobPlace, backup: Backup, now: float) -> None:
        try:
            if backup.status == "DELETED":
                self._remove(place, backup)
            else:
                self._advance(place, backup, now)
        except Corrupt as damage:
            self._fail(place, backup, str(damage), now)
        except StorageError:
            self._drop(place)
            raise  # the database does not answer: nothing else would work either
        except Exception as error:  # noqa: BLE001 - the other backups go on
            self._drop(place)
            self._turns.failed(place, backup.source.name, error)
        else:
            self._turns.succeeded(place, backup.source.name)

    def _remove(self, place: JobPlace, backup: Backup) -> None:
        self._drop(place)
        backup_files.delete(self._backups, self._backups.folder(place, backup.source.name))
        self._engine.write(partial(BACKUPS.remove, place=place))

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
            log.info(
                "backup.progress", table=backup.source.name, files=len(backup.files) + 1, items=file.items
            )
        if chunk is None:
            self._finish(place, now)

    def _finish(self, place: JobPlace, now: float) -> None:
        backup = self._engine.read(lambda reader: BACKUPS.find(reader, place))
        if backup is None:
            return
        done = changed(backup, status="AVAILABLE", after=b"")
        backup_files.write_manifest(self._backups, place, done)
        self._engine.write(partial(_finish, place=place, done=done, now=now))
        self._drop(place)
        self._tables.refresh(place.account_id, place.region, backup.source.name)
        log.info("backup.finished", table=backup.source.name, files=len(done.files))

    def _fail(self, place: JobPlace, backup: Backup, reason: str, now: float) -> None:
        """End a backup that can never be made: a part of the items must not be mistaken for all of them."""
        log.error("backup.failed", table=backup.source.name, id=place.id, reason=reason)
        self._drop(place)
        failed = changed(backup, status="FAILED", files=(), after=b"", damage=reason)
        self._engine.write(partial(_finish, place=place, done=failed, now=now))
        self._tables.refresh(place.account_id, place.region, backup.source.name)
        with contextlib.suppress(ObjectStoreError):  # DeleteBackup tries again
            backup_files.delete(self._backups, self._backups.folder(place, backup.source.name))

    def _drop(self, place: JobPlace) -> None:
        if place in self._open:
            self._open.pop(place).close()


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
