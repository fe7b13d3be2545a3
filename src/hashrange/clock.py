"""Time as something that is passed in, so that tests and users can move it."""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall-clock time in seconds since the epoch."""

    def now(self) -> float: ...


class SystemClock:
    """The machine's own clock."""

    __slots__ = ()

    now = staticmethod(time.time)


class ManualClock:
    """A clock that stands still until it is told to move."""

    __slots__ = ("_now",)

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds
