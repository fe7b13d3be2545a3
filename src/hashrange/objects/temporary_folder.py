"""Folders of servers that keep nothing: gone when the server stops, or when the next one starts if it was killed."""

import contextlib
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "hashrange-memory-"
_LOCK = "lock"
_YOUNG_SECONDS = 60.0  # a folder of this age may be about to be locked


class TemporaryFolder:
    """A folder that belongs to this process as long as it lives: the lock on it goes with the process."""

    def __init__(self, kind: str) -> None:
        _remove_stale(time.time())
        self._root = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{kind}-"))
        self._lock = os.open(self._root / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = self._root / kind
        self.path.mkdir()

    def remove(self) -> None:
        """Remove the folder; a second call does nothing."""
        if self._lock >= 0:
            with contextlib.suppress(OSError):
                _remove_tree(self._root)
            os.close(self._lock)
            self._lock = -1


def _remove_stale(now: float) -> None:
    """Remove what killed servers of this user have left."""
    for folder in _old_folders(Path(tempfile.gettempdir()), now):
        with contextlib.suppress(OSError):
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove_tree(folder)
            finally:
                os.close(lock)


def _old_folders(directory: Path, now: float) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for path in directory.glob(f"{_PREFIX}*"):
            status = path.lstat()
            is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            if is_own and status.st_mtime < now - _YOUNG_SECONDS:
                yield path


def _remove_tree(folder: Path) -> None:
    """Remove a folder whatever its depth: a key may have a thousand directories, with which shutil gives up."""
    directories = [folder]
    for directory in directories:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    directories.append(Path(entry.path))
                else:
                    Path(entry.path).unlink()
    for directory in reversed(directories):
        directory.rmdir()
