"""Whose turn it is to write, where several processes share a data file."""

import fcntl
import os
from pathlib import Path
from types import TracebackType

TURN_NAME = "hashrange.turn"


class Turn:
    """Held while a commit is made.

    SQLite has a lock of its own, but waits for it by sleeping and trying again. The operating system wakes the
    next one at once, and takes the turn from a process that dies.
    """

    def __init__(self, directory: Path) -> None:
        """Each process opens the file for itself: a lock belongs to an opening, and is shared across a fork."""
        self._file = os.open(directory / TURN_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def __enter__(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def release(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
