"""The lock file that makes one server the owner of a data directory."""

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path

from hashrange.storage.errors import Locked, NotWritable
from hashrange.storage.sqlite import place

LOCK_NAME = "hashrange.lock"
_TAKEN = (errno.EWOULDBLOCK, errno.EACCES)
_ATTEMPTS = 150
_ATTEMPT_SECONDS = 0.02


class DirectoryLock:
    """Exclusive use of a data directory, held until released or until the process ends.

    The operating system drops an flock when its process dies, so there is no stale lock to clean up;
    the process id in the file is for the message only.
    """

    def __init__(self, directory: Path) -> None:
        """Create the directory if needed and lock it; raise `Locked` or `NotWritable` if that fails."""
        try:
            _create(directory)
            self._file = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            reason = place.file_in_the_way(directory) or error.strerror
            raise NotWritable(f"cannot use data directory {directory}: {reason}") from error
        try:
            _acquire(self._file)
        except OSError as error:
            owner = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            if error.errno not in _TAKEN:
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


def is_locked(directory: Path) -> bool:
    """Whether a server has a data directory open; nothing is written to find that out."""
    try:
        file = os.open(directory / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _TAKEN
    finally:
        os.close(file)
    return False


def _acquire(file: int) -> None:
    """Lock a file, for three seconds if need be.

    Whoever only asks `is_locked` has it for a moment; and workers whose parent was killed have it until they notice,
    which takes them a while on a busy machine, where somebody starts the server again at once.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            time.sleep(_ATTEMPT_SECONDS)
        else:
            return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _create(directory: Path) -> None:
    if directory.is_dir():
        return
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    # What is in a new directory is durable only once the directory's own entry is on disk.
    with contextlib.suppress(PermissionError):
        parent = os.open(directory.parent, os.O_RDONLY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)
