"""The folder or bucket of all backups against what the database knows: expired ones go, unknown ones are adopted."""

import time
from collections.abc import Callable
from functools import partial
from itertools import islice

from hashrange import logs
from hashrange.core.schema import changed
from hashrange.jobs import backup_files
from hashrange.jobs.backup_files import BackupPlace, DamagedBackup
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.objects.errors import ObjectStoreError
from hashrange.storage.backup_rows import BACKUPS, Backup
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.restore_rows import restored_from

log = logs.Log("jobs.backups")

_ROUND_SECONDS = 3600.0  # how often to look at all files
_KEYS_AT_ONCE = 500
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

    def step(self, now: float) -> float:
        """Look at all backups that the database knows, and at some files."""
        for place, backup in self._engine.read(lambda reader: list(BACKUPS.everywhere(reader))):
            if _is_expired(backup, now):
                self._engine.write(partial(_expire, place=place, now=now))
        if self._after is None and self._monotonic() < self._round_at:
            return IDLE_SECONDS
        self._look(now)
        return IDLE_SECONDS if self._after is None else 0.0

    def _look(self, now: float) -> None:
        """Go over the next keys; at the end of them the round is over."""
        found = self._backups.bucket.list(self._backups.prefix, after=self._after or "")
        keys = [info.key for info in islice(found, _KEYS_AT_ONCE)]
        looked_at = ""
        for key in keys:
            folder = backup_files.manifest_folder(key)
            if folder is not None:
                self._adopt(folder)
            elif not looked_at or not key.startswith(looked_at):
                looked_at = key[: key.rindex("/") + 1] if "/" in key else ""
                self._clear_abandoned(key, now)
        self._after = keys[-1] if len(keys) == _KEYS_AT_ONCE else None
        if self._after is None:
            self._round_at = self._monotonic() + _ROUND_SECONDS

    def _clear_abandoned(self, key: str, now: float) -> None:
        """Delete the files of a backup that was never finished, if the database knows nothing of it."""
        place = self._backups.owner(key)
        if place is None or int(place.id[:14]) / 1000 > now - _ABANDONED_SECONDS:
            return
        folder = key[: key.rindex("/") + 1]
        if self._is_known(place) or backup_files.is_finished(self._backups, folder):
            return
        log.info("backup.abandoned", folder=folder)
        backup_files.delete(self._backups, folder)

    def _adopt(self, folder: str) -> None:
        try:
            manifest = backup_files.read_manifest(self._backups, folder)
        except (DamagedBackup, ObjectStoreError) as error:
            log.warning("backup.unreadable", folder=folder, reason=str(error))
            return
        place = JobPlace(manifest.account_id, manifest.region, manifest.id)
        if not self._is_known(place) and self._engine.write(
            partial(_adopt, place=place, backup=manifest.backup)
        ):
            log.info("backup.adopted", table=manifest.backup.source.name, id=manifest.id)

    def _is_known(self, place: JobPlace) -> bool:
        return self._engine.read(lambda reader: BACKUPS.find(reader, place)) is not None


def _is_expired(backup: Backup, now: float) -> bool:
    return backup.expires_at is not None and backup.expires_at <= now and backup.status != "DELETED"


def _expire(tx: Transaction, *, place: JobPlace, now: float) -> None:
    backup = BACKUPS.find(tx, place)
    # One that is still being made, or restored from, is left until that is over.
    if backup is None or not _is_expired(backup, now) or backup.status == "CREATING":
        return
    if not restored_from(tx, place):
        BACKUPS.save(tx, place, changed(backup, status="DELETED"), active=True)


def _adopt(tx: Transaction, *, place: JobPlace, backup: Backup) -> bool:
    if BACKUPS.find(tx, place) is not None:
        return False
    BACKUPS.save(tx, place, backup, active=False)
    return True
