"""Engines around an engine, which change how it is written to."""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from hashrange.storage.engine import Done, Engine, Reader, Transaction

T = TypeVar("T")


class WrappedEngine:
    """An engine that passes everything on."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.encrypted = engine.encrypted
        self.shared = engine.shared
        self.directory = engine.directory

    @property
    def description(self) -> str:
        """Name the wrapped engine."""
        return self._engine.description

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Read."""
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
        """Queue a read."""
        self._engine.submit_read(step, done, reads=reads, more=more, eventual=eventual)

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step`."""
        self._engine.submit(step, done, reads=reads)

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run `step`."""
        return self._engine.write(step)

    def maintain(self, budget_pages: int) -> int:
        """Return free pages."""
        return self._engine.maintain(budget_pages)

    def close(self) -> None:
        """Leave the wrapped engine open: it belongs to somebody else."""


class SerialWrites(WrappedEngine):
    """An engine whose threads write one at a time: what others write waits for one of their steps, never for many."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._lock = threading.Lock()

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Run `step` when nobody else writes through this object."""
        with self._lock:
            return super().write(step)
