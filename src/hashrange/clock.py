"""Time as something that is passed in, so that tests and users can move it."""

import time
from collections.abc import Callable
from mmap import mmap
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias


class Clock(Protocol):
    """Wall-clock time in seconds since the epoch."""

    def now(self) -> float: ...


class SystemClock:
    """The machine's own clock."""

    __slots__ = ()

    now = staticmethod(time.time)


_OFFSET_BYTES = 8
if TYPE_CHECKING:
    Offsets: TypeAlias = memoryview[float]  # in memory that processes may share
else:
    Offsets = memoryview  # which has no [] before Python 3.14


def new_offsets(memory: bytearray | mmap) -> Offsets:
    """Cells for a movable clock, one per eight bytes, all of them zero."""
    return memoryview(memory).cast("B").cast("d")


_SLOW = 0.1  # of the usual speed, for a clock that is ahead


class _Course(NamedTuple):
    """How a followed clock runs until the next measurement."""

    offset: float  # from the monotonic clock to the followed one
    floor: float  # what the clock has shown already
    since: float  # when it did, by the monotonic clock


class FollowedClock:
    """Follows a clock that is elsewhere, by measurements, and runs on by the monotonic clock in between.

    It never goes back: if it turns out to be ahead it runs slowly until the other has caught up. The machine's own
    wall clock does not matter.
    """

    __slots__ = ("_course", "_monotonic")

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._course: _Course | None = None

    def now(self) -> float:
        # In this order: whoever measures meanwhile puts the floor under what is shown here.
        at = self._monotonic()
        course = self._course
        if course is None:
            raise RuntimeError("the clock was never measured")
        offset, floor, since = course
        shown = at + offset
        least = floor + (at - since) * _SLOW if at > since else floor
        return shown if shown > least else least  # noqa: FURB136 - `max` takes a third longer

    def measure(self, told: float, *, asked_at: float, answered_at: float) -> None:
        """Take in what the other clock showed at some moment between two of the monotonic clock.

        The offset is changed as little as the measurement demands: the slower the answer, the less it says.
        """
        least, most = told - answered_at, told - asked_at
        if self._course is None:
            self._course = _Course((least + most) / 2, float("-inf"), answered_at)
            return
        offset = min(max(self._course.offset, least), most)
        self._course = _Course(offset, self.now(), self._monotonic())


class MovableClock:
    """Another clock, and how far it has been moved ahead; it never goes back.

    Processes that share it have one cell each in `offsets`, and the largest counts, so that none overwrites another's.
    """

    __slots__ = ("_base", "_cell", "_offsets")

    def __init__(self, base: Clock, offsets: Offsets | None = None, cell: int = 0) -> None:
        self._base = base
        self._offsets = new_offsets(bytearray(_OFFSET_BYTES)) if offsets is None else offsets
        self._cell = cell

    def now(self) -> float:
        return self._base.now() + max(self._offsets)

    def base_now(self) -> float:
        """What the other clock shows."""
        return self._base.now()

    @property
    def ahead_seconds(self) -> float:
        """How far it is ahead of the other clock."""
        return max(self._offsets)

    def move(self, ahead_seconds: float) -> None:
        """Be so far ahead, if it is not further ahead already."""
        self._offsets[self._cell] = max(self._offsets[self._cell], ahead_seconds)


class ManualClock:
    """A clock that stands still until it is told to move."""

    __slots__ = ("_now",)

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds
