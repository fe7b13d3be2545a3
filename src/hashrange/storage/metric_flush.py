"""Writing what this process has counted of metrics, every few seconds: what a crash loses of them is no more."""

import secrets
from functools import partial

from hashrange import logs
from hashrange.capacity.tallies import Tallies
from hashrange.clock import Clock
from hashrange.storage.engine import Engine
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.metric_rows import Flush

FLUSH_SECONDS = 5.0
_WORKER_BYTES = 8
_PLACES_MAX = 20  # tables in one transaction: clients' writes wait for it
_LAST_MAX = 100  # transactions when the server stops

log = logs.Log("metrics")


class MetricFlusher:
    """Hands what was counted to the engine. Everything but `finish` is the event loop's."""

    def __init__(self, engine: Engine, tallies: Tallies, clock: Clock) -> None:
        self._engine = engine
        self._tallies = tallies
        self._clock = clock
        self._worker = secrets.token_bytes(_WORKER_BYTES)
        self._number = 0
        self._unwritten: Flush | None = None  # of which it is not known that it was written
        self._is_writing = False
        self._is_failing = False

    def flush(self) -> None:
        """Write what was counted, unless the last time is not over yet."""
        if self._is_writing:
            return
        flush = self._next()
        if flush is not None:
            self._is_writing = True
            step = partial(flush.write, now=self._clock.now())
            self._engine.submit(step, self._written, reads=flush.reads())

    def _next(self) -> Flush | None:
        if self._unwritten is None and (counted := self._tallies.take(_PLACES_MAX)):
            self._number += 1
            self._unwritten = Flush(self._worker, self._number, counted)
        return self._unwritten

    def _written(self, _: None, error: BaseException | None) -> None:
        self._is_writing = False
        if error is None:
            self._unwritten = None
            self._note_failing(None)
            self.flush()
        elif not isinstance(error, Closed):
            self._note_failing(error)

    def _note_failing(self, error: BaseException | None) -> None:
        if error is not None and not self._is_failing:
            log.warning("metrics.unwritten", error=error)
        elif error is None and self._is_failing:
            log.info("metrics.written_again", lost=self._tallies.lost)
        self._is_failing = error is not None

    def finish(self) -> None:
        """Write the rest and wait for it: nobody observes or flushes any more. Not on the thread of the loop."""
        try:
            for _ in range(_LAST_MAX):
                flush = self._next()
                if flush is None:
                    return
                self._engine.write(partial(flush.write, now=self._clock.now()))
                self._unwritten = None
        except StorageError as error:
            log.warning("metrics.lost", error=error)
