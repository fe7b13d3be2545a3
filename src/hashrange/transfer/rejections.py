"""Items that were not moved: counted all, told as far as anybody would read."""

import threading

from hashrange.transfer.progress import Progress

_TOLD_MAX = 20


class Rejections:
    """Counts and tells; may be used by several threads."""

    def __init__(self, progress: Progress, count: int = 0) -> None:
        self.count = count
        self._progress = progress
        self._told = 0
        self._lock = threading.Lock()

    def add(self, message: str) -> None:
        """An item that the target does not take."""
        with self._lock:
            self.count += 1
            self._told += 1
            told = self._told
        if told <= _TOLD_MAX:
            self._progress.message(f"rejected: {message}")
        elif told == _TOLD_MAX + 1:
            self._progress.message("rejected: more, which are only counted")
