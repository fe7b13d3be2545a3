"""Noticing that users have moved the clock: then what was counted before is not all written yet."""

from collections.abc import Callable

WRITTEN_SECONDS = 10.0  # what was counted is written by then: workers flush every few seconds
_JUMP_SECONDS = 5.0  # a clock that is adjusted by less was not moved by a user


class ClockJumps:
    """Compares the users' clock with one that nobody moves."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._offset: float | None = None  # from the monotonic clock to the users'
        self._known_at = 0.0

    def look(self, now: float) -> None:
        """Compare the clocks."""
        at = self._monotonic()
        if self._offset is not None and now - at > self._offset + _JUMP_SECONDS:
            self._known_at = at + WRITTEN_SECONDS
        self._offset = now - at

    @property
    def is_recent(self) -> bool:
        """Whether the clock was moved just now."""
        return self._monotonic() < self._known_at
