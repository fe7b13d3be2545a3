"""Verifying all backups: every file against its manifest, every manifest against the database, and both ways round.

A server may be running: what is being made or deleted meanwhile is no problem, so rows are read when their files are.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import groupby
from typing import Protocol, TypeVar

from hashrange.jobs import backup_files
from hashrange.jobs.backup_files import BackupPlace, BackupSource, DamagedBackup
from hashrange.objects.errors import NoSuchBucket, ObjectStoreError
from hashrange.storage.backup_rows import BACKUPS, Backup
from hashrange.storage.engine import Reader
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.verification import Problem, Report

T = TypeVar("T")

_IN_FLUX = ("CREATING", "DELETED")


class Readable(Protocol):
    """The database that knows of the backups."""

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run a step on one snapshot."""


def verify_backups(
    store: Readable, backups: BackupPlace, report: Report, progress: Callable[[int], None]
) -> int:
    """Read all files; add what is wrong to the report. Gives how many backups there are."""
    verification = _Verification(store, backups, report, progress)
    try:
        with suppress(NoSuchBucket):  # then no backup has files
            verification.check_folders()
        verification.check_rows()
    except ObjectStoreError as error:
        report.add(Problem("unreadable backups", backups.bucket.name, str(error)))
    return len(verification.seen)


class _Verification:
    def __init__(
        self, store: Readable, backups: BackupPlace, report: Report, progress: Callable[[int], None]
    ) -> None:
        self._store = store
        self._backups = backups
        self._report = report
        self._progress = progress
        self._pieces = 0
        self.seen: set[JobPlace] = set()  # that have a manifest

    def check_folders(self) -> None:
        """Look at everything that is in the folder or bucket."""
        keys = (info.key for info in self._backups.bucket.list(self._backups.prefix))
        for folder, group in groupby(keys, key=backup_files.folder_of):
            place = self._backups.folder_owner(folder)
            if place is not None:
                self._check_folder(place, folder, set(group))

    def check_rows(self) -> None:
        """Look for backups that have no files."""
        for place, backup in self._store.read(lambda reader: list(BACKUPS.everywhere(reader))):
            if backup.status != "AVAILABLE" or place in self.seen:
                continue
            folder = self._backups.folder(place, backup.source.name)
            if self._status(place) == "AVAILABLE" and not self._is_finished(folder):
                self._add("backup without files", folder, "the database has it as AVAILABLE")

    def _check_folder(self, place: JobPlace, folder: str, keys: set[str]) -> None:
        if not any(backup_files.is_manifest(key) for key in keys):
            if self._status(place) is None:
                self._add("unfinished backup", folder, "no manifest, no row; it is removed after a week")
            return
        self.seen.add(place)
        try:
            manifest = backup_files.read_manifest(self._backups, folder)
            if self._backups.folder(manifest.place, manifest.backup.source.name) != folder:
                raise DamagedBackup(f"{folder}: the manifest is that of another backup")  # noqa: TRY301
            for _ in BackupSource(self._backups, folder).verify():
                self._pieces += 1
                self._progress(self._pieces)
        except DamagedBackup as damage:
            if self._status(place) != "DELETED":
                self._add("damaged backup", folder, str(damage))
            return
        known = {folder + file.name for file in manifest.backup.files}
        for key in sorted(key for key in keys - known if not backup_files.is_manifest(key)):
            self._add("extra file", key, "the manifest does not name it")
        self._compare(place, folder, manifest.backup)

    def _compare(self, place: JobPlace, folder: str, found: Backup) -> None:
        row = self._row(place)
        if row is None:
            self._add("backup without row", folder, "a running server adopts it within an hour")
        elif row.status not in _IN_FLUX and row.files != found.files:
            self._add("damaged backup", folder, "the manifest names other files than the database")

    def _is_finished(self, folder: str) -> bool:
        try:
            return backup_files.is_finished(self._backups, folder)
        except NoSuchBucket:
            return False

    def _row(self, place: JobPlace) -> Backup | None:
        return self._store.read(lambda reader: BACKUPS.find(reader, place))

    def _status(self, place: JobPlace) -> str | None:
        row = self._row(place)
        return None if row is None else row.status

    def _add(self, kind: str, place: str, detail: str) -> None:
        self._report.add(Problem(kind, place, detail))
