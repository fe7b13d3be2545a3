"""An engine whose writes keep what they replace: see storage/past.py."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from hashrange.clock import Clock
from hashrange.storage.engine import Done, Engine, Reader, Transaction
from hashrange.storage.past import remembering

T = TypeVar("T")


class RememberingEngine:
    """An engine for all that writes in this process, background work included."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self.shared = engine.shared
        self.directory = engine.directory

    @property
    def description(self) -> str:
        """Name the wrapped engine."""
        return self._engine.description

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Read what is there now."""
        return self._engine.read(step, seconds=seconds)

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        more: bool = False,
        eventual: bool = False,
    ) -> None:
        """Read what is there now."""
        self._engine.submit_read(step, done, reads=reads, more=more, eventual=eventual)

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step`, which keeps what it replaces."""
        self._engine.submit(remembering(step, self._clock), done, reads=reads)

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run `step`, which keeps what it replaces."""
        return self._engine.write(remembering(step, self._clock))

    def maintain(self, budget_pages: int) -> int:
        """Return free pages as the wrapped engine does."""
        return self._engine.maintain(budget_pages)

    def close(self) -> None:
        """Close the wrapped engine."""
        self._engine.close()
