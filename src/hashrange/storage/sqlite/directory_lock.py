"""The lock file that makes one server the owner of a data directory."""

import contextlib
import errno
import fcntl
import os
from pathlib import Path

from hashrange.storage.errors import Locked, NotWritable

LOCK_NAME = "hashrange.lock"


class DirectoryLock:
    """Exclusive use of a data directory, held until released or until the process ends.

    The operating system drops an flock when its process dies, so there is no stale lock to clean up;
    the process id in the file is for the message only.
    """

    def __init__(self, directory: Path) -> None:
        """Create the directory if needed and lock it; raise `Locked` or `NotWritable` if that fails."""
        try:
            _create(directory)
            self._file = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            message = f"cannot use data directory {directory}: {error.strerror}"
            raise NotWritable(message) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise NotWritable(f"cannot lock data directory {directory}: {error.strerror}") from error
            by = f" (process {owner})" if owner else ""
            raise Locked(f"data directory {directory} is in use by another server{by}") from error
        with contextlib.suppress(OSError):  # the disk may be full
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let another server have the directory."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _create(directory: Path) -> None:
    if directory.is_dir():
        return
    directory.mkdir(parents=True, exist_ok=True)
    # What is in a new directory is durable only once the directory's own entry is on disk.
    with contextlib.suppress(PermissionError):
        parent = os.open(directory.parent, os.O_RDONLY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)
