"""A limit on what is read in a second."""

import threading
import time
from collections.abc import Callable

from hashrange.transfer.stopping import Stop


class Rate:
    """A token bucket that is paid afterwards: a page costs what it was, and the next one waits until that is paid."""

    def __init__(
        self, per_second: float | None, stop: Stop, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_second
        self._stop = stop
        self._now = now
        self._lock = threading.Lock()
        self._free_at = 0.0  # when everything so far is paid

    def wait(self) -> None:
        """Wait until everything that was read is paid."""
        if self._per_second is None:
            self._stop.check()
            return
        with self._lock:
            seconds = self._free_at - self._now()
        self._stop.sleep(max(seconds, 0.0))

    def spend(self, amount: float) -> None:
        """Note what has been read; nothing is saved up while nobody reads."""
        if self._per_second is None:
            return
        with self._lock:
            self._free_at = max(self._free_at, self._now()) + amount / self._per_second
