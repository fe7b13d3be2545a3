"""A first look at the files of a backup: are they all there, and as long as they were? It reads no item.

Requests make it before they begin a restore, so that a backup without files is refused and no table comes and goes.
"""

import threading

from hashrange.api.errors import ApiError
from hashrange.jobs import backup_files
from hashrange.jobs.backup_files import BackupPlace, DamagedBackup, Manifest
from hashrange.objects.errors import ObjectStoreError
from hashrange.storage.backup_rows import BACKUPS
from hashrange.storage.engine import Engine
from hashrange.storage.job_rows import JobPlace

_WAIT_SECONDS = 1.0


def glance(backups: BackupPlace, folder: str) -> Manifest:
    """Compare the folder with its manifest, by names and sizes."""
    manifest = backup_files.read_manifest(backups, folder)
    sizes = {info.key: info.size for info in backups.bucket.list(folder)}
    for file in manifest.backup.files:
        size = sizes.get(folder + file.name)
        if size is None:
            raise DamagedBackup(f"{folder}{file.name} is missing")
        if size != file.size:
            raise DamagedBackup(f"{folder}{file.name} has a wrong length")
    return manifest


class Inspection:
    """What requests may ask about the files of backups, one at a time: a slow bucket must not take all threads."""

    def __init__(self, engine: Engine, backups: BackupPlace) -> None:
        self._engine = engine
        self._backups = backups
        self._lock = threading.Lock()

    def fault(self, place: JobPlace) -> str | None:
        """What is wrong with the files of a finished backup; None if nothing is, or if that cannot be told now."""
        backup = self._engine.read(lambda reader: BACKUPS.find(reader, place))
        if backup is None or backup.status != "AVAILABLE":
            return None
        if not self._lock.acquire(timeout=_WAIT_SECONDS):
            raise ApiError("ThrottlingException", "Rate exceeded")
        try:
            glance(self._backups, self._backups.folder(place, backup.source.name))
        except DamagedBackup as damage:
            return str(damage)
        except ObjectStoreError as error:
            # A store that does not answer will, and the restore waits for it.
            return None if error.temporary else str(error)
        finally:
            self._lock.release()
        return None
