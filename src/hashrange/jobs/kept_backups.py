"""The folder or bucket of all backups against what the database knows: expired ones go, unknown ones are adopted."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice

from hashrange import logs
from hashrange.core.schema import changed
from hashrange.jobs import backup_files
from hashrange.jobs.backup_files import BackupPlace, BackupSource, DamagedBackup
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.objects.errors import ObjectStoreError
from hashrange.storage.backup_rows import BACKUPS, Backup
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.restore_rows import restored_from

log = logs.Log("jobs.backups")

_ROUND_SECONDS = 3600.0  # how often to look at all files
_KEYS_AT_ONCE = 500
_PIECES_AT_ONCE = 64  # of a megabyte
# What is unfinished for so long is nobody's. Another database that writes to the same folder is never as slow.
_ABANDONED_SECONDS = 7 * 86_400


class KeepBackups:
    """Deletes backups that have expired and what killed servers left, and adopts what the database does not know.

    So a new database that is pointed at the backups of a lost one can restore its tables.
    """

    name = "keep-backups"

    def __init__(
        self, engine: Engine, backups: BackupPlace, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._backups = backups
        self._monotonic = monotonic
        self._round_at = 0.0
        self._after: str | None = None  # the key behind which a round goes on
        self._rechecks: Iterator[None] = iter(())  # of damaged backups

    def step(self, now: float) -> float:
        """Look at all backups that the database knows, and at some files."""
        for place, backup in self._engine.read(lambda reader: list(BACKUPS.everywhere(reader))):
            if _is_expired(backup, now):
                self._engine.write(partial(_expire, place=place, now=now))
        if next(self._rechecks, self) is not self:
            return 0.0
        if self._after is None and self._monotonic() < self._round_at:
            return IDLE_SECONDS
        suspects = self._look(now)
        self._rechecks = chain.from_iterable(self._recheck(place, folder) for place, folder in suspects)
        return 0.0 if suspects or self._after is not None else IDLE_SECONDS

    def _look(self, now: float) -> list[tuple[JobPlace, str]]:
        """Go over the next keys; at the end of them the round is over. Gives the backups that are to be checked."""
        found = self._backups.bucket.list(self._backups.prefix, after=self._after or "")
        keys = [info.key for info in islice(found, _KEYS_AT_ONCE)]
        suspects: list[tuple[JobPlace, str]] = []
        seen = ""
        for key in keys:
            place = self._backups.owner(key)
            if place is None:
                continue
            folder = backup_files.folder_of(key)
            if backup_files.is_manifest(key):
                known = self._find(place)
                if known is None:
                    self._adopt(place, folder)
                elif known.damage is not None and known.status == "AVAILABLE":
                    suspects.append((place, folder))
            elif folder != seen:
                self._clear_abandoned(place, folder, now)
            seen = folder
        self._after = keys[-1] if len(keys) == _KEYS_AT_ONCE else None
        if self._after is None:
            self._round_at = self._monotonic() + _ROUND_SECONDS
        return suspects

    def _clear_abandoned(self, place: JobPlace, folder: str, now: float) -> None:
        """Delete the files of a backup that was never finished, if the database knows nothing of it."""
        if int(place.id[:14]) / 1000 > now - _ABANDONED_SECONDS:
            return
        if self._find(place) is None and not backup_files.is_finished(self._backups, folder):
            log.info("backup.abandoned", folder=folder)
            backup_files.delete(self._backups, folder)

    def _adopt(self, place: JobPlace, folder: str) -> None:
        try:
            manifest = backup_files.read_unknown_manifest(self._backups, folder)
        except (DamagedBackup, ObjectStoreError) as error:
            log.warning("backup.unreadable", folder=folder, reason=str(error))
            return
        name = manifest.backup.source.name
        if self._backups.folder(manifest.place, name) != folder:
            log.warning("backup.unreadable", folder=folder, reason="it belongs into another folder")
        elif self._engine.write(partial(_adopt, place=place, backup=manifest.backup)):
            log.info("backup.adopted", table=name, id=place.id)

    def _recheck(self, place: JobPlace, folder: str) -> Iterator[None]:
        """Look again at a backup that was found damaged: its disk may have been unmounted, or a copy put back."""
        try:
            for count, _ in enumerate(BackupSource(self._backups, folder).verify()):
                if count % _PIECES_AT_ONCE == 0:
                    yield
        except (DamagedBackup, ObjectStoreError):
            return
        self._engine.write(partial(_absolve, place=place))
        log.info("backup.recovered", id=place.id)

    def _find(self, place: JobPlace) -> Backup | None:
        return self._engine.read(lambda reader: BACKUPS.find(reader, place))


def _is_expired(backup: Backup, now: float) -> bool:
    return backup.expires_at is not None and backup.expires_at <= now and backup.status != "DELETED"


def _expire(tx: Transaction, *, place: JobPlace, now: float) -> None:
    backup = BACKUPS.find(tx, place)
    # One that is still being made, or restored from, is left until that is over.
    if backup is None or not _is_expired(backup, now) or backup.status == "CREATING":
        return
    if not restored_from(tx, place):
        BACKUPS.save(tx, place, changed(backup, status="DELETED"), active=True)


def _absolve(tx: Transaction, *, place: JobPlace) -> None:
    backup = BACKUPS.find(tx, place)
    if backup is not None and backup.status == "AVAILABLE":
        BACKUPS.save(tx, place, changed(backup, damage=None), active=False)


def _adopt(tx: Transaction, *, place: JobPlace, backup: Backup) -> bool:
    if BACKUPS.find(tx, place) is not None:
        return False
    BACKUPS.save(tx, place, backup, active=False)
    return True
