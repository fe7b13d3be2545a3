"""The reserve: a file whose room is given up on a full disk, for commits that free space and need some for the log."""

import contextlib
import os
import sys
from pathlib import Path

from hashrange import logs

RESERVE_NAME = "hashrange.reserve"
RESERVE_BYTES_MAX = 4 * 1024 * 1024
RESERVE_BYTES_MIN = 1024 * 1024
VOLUME_SHARE = 64  # a reserve on a small volume is this part of it

log = logs.Log("storage.sqlite")


class Reserve:
    """Held from the first moment there is room for it, and again when there is room again.

    The workers on a data file share the reserve. What they do to it can be done twice, so that they need no lock.
    """

    def __init__(self, file: Path, reserve_bytes: int) -> None:
        """Hold nothing yet."""
        self._file = file
        self._bytes = reserve_bytes

    @classmethod
    def of_volume(cls, directory: Path) -> "Reserve":
        """The reserve for the volume that a directory is on."""
        volume = os.statvfs(directory)
        share = volume.f_blocks * volume.f_frsize // VOLUME_SHARE
        return cls(directory / RESERVE_NAME, min(RESERVE_BYTES_MAX, max(RESERVE_BYTES_MIN, share)))

    def missing_bytes(self) -> int:
        """How much of the reserve is not held."""
        try:
            return max(0, self._bytes - self._file.stat().st_size)
        except OSError:
            return self._bytes

    def hold(self, free_bytes: int) -> None:
        """Hold the reserve if it is not held and fits into so many bytes."""
        if not self.missing_bytes() or free_bytes < self._bytes:
            return
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            with os.fdopen(os.open(self._file, flags, 0o600), "ab") as stream:
                if sys.platform == "linux":
                    os.posix_fallocate(stream.fileno(), 0, self._bytes)
                else:
                    stream.write(bytes(self.missing_bytes()))
        except OSError:
            # Somebody else was quicker, or this file system cannot: writes leave as much room free instead.
            with contextlib.suppress(OSError):
                os.truncate(self._file, 0)

    def give_up(self) -> bool:
        """Give the room of the reserve to the volume; False if it was not held."""
        try:
            if not self._file.stat().st_size:
                return False
            os.truncate(self._file, 0)
        except OSError:
            return False
        log.warning("reserve.given_up", reason="the disk is full, and space is being freed")
        return True
