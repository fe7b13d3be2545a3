"""An engine whose writes keep what they replace: see storage/past.py."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from hashrange.clock import Clock
from hashrange.storage.engine import Done, Engine, Transaction
from hashrange.storage.past import remembering
from hashrange.storage.wrapped import WrappedEngine

T = TypeVar("T")


class RememberingEngine(WrappedEngine):
    """An engine for all that writes in this process, background work included."""

    def __init__(self, engine: Engine, clock: Clock, wanted: Callable[[], bool] = lambda: True) -> None:
        """Keep what is replaced while it is `wanted`."""
        super().__init__(engine)
        self._clock = clock
        self._wanted = wanted

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step`, which keeps what it replaces."""
        super().submit(self._remembering(step), done, reads=reads)

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run `step`, which keeps what it replaces."""
        return super().write(self._remembering(step))

    def _remembering(self, step: Callable[[Transaction], T]) -> Callable[[Transaction], T]:
        return remembering(step, self._clock) if self._wanted() else step
