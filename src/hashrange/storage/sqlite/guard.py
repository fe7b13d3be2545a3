"""What is looked at before a commit: are these still the data directory's files, and is there room on the volume."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import apsw

from hashrange import logs
from hashrange.storage.errors import DiskFull, StorageError, Unavailable
from hashrange.storage.sqlite.log_watch import LogWatch
from hashrange.storage.sqlite.reserve import Reserve
from hashrange.storage.sqlite.schema import PAGE_BYTES

PLENTY_BYTES = 512 * 1024 * 1024  # more than commits can fill between two looks
LOOK_SECONDS = 0.1
MARGIN_BYTES = 256 * 1024

log = logs.Log("storage.sqlite")

FileId = tuple[int, int]


class CommitGuard:
    """Refuses commits that would be lost with their file, or that would leave no room to copy the log into the file."""

    def __init__(self, file: Path, locks: list[Path], *, now: Callable[[], float] = time.monotonic) -> None:
        """Take the files as they are now for the right ones."""
        self._file = file
        self._ids = {path: _file_id(path) for path in (file, *locks)}
        # SQLite keeps these as long as a connection is open, but may not have made them yet.
        self._beside = [file.with_name(file.name + suffix) for suffix in ("-wal", "-shm")]
        self.reserve = Reserve.of_volume(file.parent)
        self.reserve.hold(_free_bytes(file.parent) - MARGIN_BYTES)
        self._log_watch = LogWatch(file)
        self.is_log_cut = False  # what is left of it must not be copied over the file
        self._log_fault = "was cut off"
        self._now = now
        self._next_look = 0.0
        self._lost = logs.Outage(log, "data_directory")

    def check(self, connection: apsw.Connection, commit_bytes: int, *, from_reserve: bool) -> None:
        """Raise if a commit of about so many bytes must not be made; called inside the transaction."""
        now = self._now()
        if now < self._next_look:
            return
        self.check_files()
        self.check_log()
        free = _free_bytes(self._file.parent)
        if free >= PLENTY_BYTES:
            self._next_look = now + LOOK_SECONDS
            self.reserve.hold(free)
            return
        growth = self._growth(connection)
        if from_reserve:
            # Copying a log that makes the file no longer always works.
            needed = growth + commit_bytes if growth else 0
        else:
            needed = growth + 2 * commit_bytes + MARGIN_BYTES
            self.reserve.hold(free - needed)
            needed += self.reserve.missing_bytes()
        if free < needed:
            raise DiskFull(f"no space left on the volume of {self._file}")

    def check_log(self) -> None:
        """Raise if the log has lost commits; from then on until the server is restarted."""
        self.is_log_cut = self.is_log_cut or self._log_watch.is_cut()
        if self.is_log_cut:
            self._refuse(self._beside[0], self._log_fault)

    def refuse_unsynced(self, reason: str) -> StorageError:
        """Refuse all commits to come, because the log could not be synced; gives the error.

        Nobody knows what of the log is on disk then. The system tells of such an error once, and from then on counts as
        written what it could not write; whatever came behind a hole in the log would be lost with it.
        """
        self.is_log_cut, self._log_fault = True, f"could not be synced ({reason})"
        self._next_look = 0.0
        try:
            self.check_log()
        except Unavailable as error:
            return error
        raise AssertionError

    def close(self) -> None:
        """Look no more; to be called after all connections are closed."""
        self._log_watch.close()

    def watch(self) -> None:
        """Look at the files although nothing is committed, for the log."""
        try:
            self.check_files()
            self.check_log()
            self.reserve.hold(_free_bytes(self._file.parent) - MARGIN_BYTES)
        except (Unavailable, OSError):  # the directory may be gone by now
            self._next_look = 0.0

    def check_files(self) -> None:
        """Raise if a file was removed or replaced, or if the data file is empty by now."""
        # A copy: another thread may be the first to see the log.
        for path, expected in list(self._ids.items()):
            actual = _file_id(path)
            if actual != expected:
                self._refuse(path, "was removed" if actual is None else "was replaced")
        if self._file.stat().st_size == 0:
            self._refuse(self._file, "was emptied")
        for path in self._beside:
            if path not in self._ids and (actual := _file_id(path)) is not None:
                self._ids[path] = actual
        if self._lost.lasts and not self.is_log_cut:
            self._lost.worked()

    def _refuse(self, path: Path, what: str) -> NoReturn:
        reason = f"{path} {what} while the server is running: writes are refused, restart the server"
        self._lost.failed(reason)
        raise Unavailable(reason)

    def _growth(self, connection: apsw.Connection) -> int:
        """The bytes by which a checkpoint would make the file longer."""
        pages: int = connection.execute("PRAGMA page_count").get
        return max(0, pages * PAGE_BYTES - self._file.stat().st_size)


def _free_bytes(directory: Path) -> int:
    volume = os.statvfs(directory)
    return volume.f_bavail * volume.f_frsize


def _file_id(path: Path) -> FileId | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
