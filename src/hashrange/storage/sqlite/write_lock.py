"""The write lock: one thread writes at a time, and one process where several share a data file."""

import fcntl
import os
import threading
from pathlib import Path
from types import TracebackType

LOCK_NAME = "hashrange.write-lock"


class WriteLock:
    """Held during a commit; excludes the other threads of this process."""

    def __init__(self) -> None:
        self._thread_lock = threading.Lock()

    def try_acquire(self) -> bool:
        """Take the lock if it is free."""
        return self._thread_lock.acquire(blocking=False)

    def acquire(self) -> None:
        """Wait for the lock."""
        self._thread_lock.acquire()

    def acquire_within(self, seconds: float) -> bool:
        """Wait so long for another thread to release it."""
        return self._thread_lock.acquire(timeout=seconds)

    def release(self) -> None:
        """Let the next writer have it."""
        self._thread_lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class InterprocessWriteLock(WriteLock):
    """Excludes other processes too.

    SQLite has a lock of its own, but waits for it by sleeping and trying again. With flock the operating system
    wakes the next writer at once, and releases the lock of a process that dies.
    """

    def __init__(self, directory: Path) -> None:
        """Open the lock file; every process must open it itself, because a fork shares the locks of its parent."""
        super().__init__()
        self._file = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def try_acquire(self) -> bool:
        """Take the lock if no thread of any process has it."""
        if not super().try_acquire():
            return False
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            super().release()
            return False
        return True

    def acquire(self) -> None:
        """Wait for the lock."""
        super().acquire()
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def acquire_within(self, seconds: float) -> bool:
        """Wait so long for another thread to release it, and then for the other processes."""
        if not super().acquire_within(seconds):
            return False
        fcntl.flock(self._file, fcntl.LOCK_EX)
        return True

    def release(self) -> None:
        """Let the next writer of any process have it."""
        fcntl.flock(self._file, fcntl.LOCK_UN)
        super().release()

    def close(self) -> None:
        """Close the lock file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
