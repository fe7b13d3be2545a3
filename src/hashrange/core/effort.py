"""How much one step may compute before the others get their turn.

A request begins on a thread that all clients share: the event loop's, or a writer's. There it has a number of units, of
which a byte of stored JSON costs one for every look at it; one that needs more raises `Postponed`, and is run anew on
a thread of its own. There it may take its time, up to a limit in seconds of the processor: past the first limit a read
ends its page, past the second the request is refused as `Exhausted`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

from hashrange.core.errors import Expected, Invalid

SHARED_UNITS = 1_000_000  # 5 ms at most, on the machine in docs/benchmarks.md
LIGHT_UNITS = 65_536  # what costs less is not counted
_UNITS_PER_CHARACTER = 250  # to parse it; parsed texts are remembered, except for long ones
PAGE_SECONDS = 1.0
REQUEST_SECONDS = 5.0

EXHAUSTED = "The request needs more computation than one request may have"


class Postponed(Expected):
    """It is too long for a thread that others wait for."""


class Exhausted(Invalid):
    """It is too long altogether."""

    def __init__(self) -> None:
        super().__init__(EXHAUSTED)


class _Seconds:
    """What a step on a thread of its own has left."""

    __slots__ = ("_clock", "_end", "_page_end")

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        now = clock()
        self._clock = clock
        self._page_end = now + min(PAGE_SECONDS, seconds)
        self._end = now + seconds

    def check(self) -> None:
        if self._clock() > self._end:
            raise Exhausted

    def page_is_due(self) -> bool:
        return self._clock() > self._page_end


# An int is what a step on a shared thread has left; None: it is not limited, as jobs are not. Every thread has its own.
_meter: ContextVar[int | _Seconds | None] = ContextVar("meter", default=None)


# Begin and end a step on a shared thread. They are not functions of their own because every request calls them.
begin = partial(_meter.set, SHARED_UNITS)
end = partial(_meter.set, None)


@contextmanager
def patience(clock: Callable[[], float], seconds: float | None = None) -> Iterator[None]:
    """Give what runs inside the time of a thread of its own; the clock is that thread's."""
    token = _meter.set(_Seconds(clock, REQUEST_SECONDS if seconds is None else seconds))
    try:
        yield
    finally:
        _meter.reset(token)


def spend(units: int) -> None:
    """Count work that is about to be done, or look at the clock."""
    meter = _meter.get()
    if isinstance(meter, int):
        if units > meter:
            raise Postponed
        _meter.set(meter - units)
    elif meter is not None:
        meter.check()


def counted(rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """Pass rows on, and count their bytes, many rows at once."""
    units = 0
    for row in rows:
        units += len(row[1])
        if units > LIGHT_UNITS:
            spend(units)
            units = 0
        yield row


def leave_shared_thread() -> None:
    """Have what follows done on a thread of its own: it waits for a disk or a network."""
    if isinstance(_meter.get(), int):
        raise Postponed


def spend_on_text(text: str) -> None:
    """Count the reading of an expression or a statement."""
    spend(len(text) * _UNITS_PER_CHARACTER)


def page_is_due() -> bool:
    """Whether a read that can be continued by another request should end here."""
    meter = _meter.get()
    return isinstance(meter, _Seconds) and meter.page_is_due()
