"""How fast a long job may go: half of the time is for clients' requests, but only while there are any.

Requests are handled on the event loop's thread, from which a job takes Python's lock and the processor. How much
processor time that thread uses tells whether somebody is there, and costs requests nothing.
"""

import threading
import time
from collections.abc import Callable

PAUSE_SECONDS_MAX = 0.1
# Of the loop's thread: with so much of a processor clients have half of the time. One without clients uses 0.005.
_BUSY_SHARE = 0.05

Seconds = Callable[[], float]


class Pace:
    """The pauses of one job between its turns."""

    def __init__(self, loop_cpu_seconds: Seconds | None, monotonic: Seconds = time.monotonic) -> None:
        """Without a clock for the loop's thread there is always somebody."""
        self._loop_cpu_seconds = loop_cpu_seconds
        self._monotonic = monotonic
        self._asked_at = monotonic()
        self._loop_used = 0.0 if loop_cpu_seconds is None else loop_cpu_seconds()

    def pause_after(self, turn_seconds: float) -> float:
        """How long to pause after a turn."""
        pause = min(turn_seconds, PAUSE_SECONDS_MAX)
        if self._loop_cpu_seconds is None:
            return pause
        asked_at, loop_used = self._asked_at, self._loop_used
        self._asked_at, self._loop_used = self._monotonic(), self._loop_cpu_seconds()
        share = (self._loop_used - loop_used) / max(self._asked_at - asked_at, 1e-6)
        return pause * min(1.0, share / _BUSY_SHARE)


def loop_cpu_seconds() -> Seconds | None:
    """A clock of the processor time of the thread that calls this, for other threads; None where there is none."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return None
    clock = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(clock)
