"""Whose turn it is to write: one thread's, and one process's where several share a data file."""

import fcntl
import os
import threading
from pathlib import Path
from types import TracebackType

TURN_NAME = "hashrange.turn"


class Turn:
    """Held while a commit is made, by a thread of the only process there is."""

    def __init__(self) -> None:
        """Begin with nobody's turn."""
        self._thread = threading.Lock()

    def claim(self) -> bool:
        """Take the turn if nobody has it."""
        return self._thread.acquire(blocking=False)

    def __enter__(self) -> None:
        """Wait for the turn."""
        self._thread.acquire()

    def give_back(self) -> None:
        """Let the next one have it."""
        self._thread.release()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_back()


class SharedTurn(Turn):
    """The same among processes.

    SQLite has a lock of its own, but waits for it by sleeping and trying again. The operating system wakes the
    next one at once, and takes the turn from a process that dies.
    """

    def __init__(self, directory: Path) -> None:
        """Each process opens the file for itself: a lock belongs to an opening, and is shared across a fork."""
        super().__init__()
        self._file = os.open(directory / TURN_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def claim(self) -> bool:
        """Take the turn if nobody has it, here or elsewhere."""
        if not super().claim():
            return False
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            super().give_back()
            return False
        return True

    def __enter__(self) -> None:
        """Wait for the turn."""
        super().__enter__()
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def give_back(self) -> None:
        """Let the next one have it, here or elsewhere."""
        fcntl.flock(self._file, fcntl.LOCK_UN)
        super().give_back()

    def release(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
