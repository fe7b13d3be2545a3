"""A thread that works off a queue in batches: whatever waits while one batch is under way makes up the next."""

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from hashrange.storage.engine import Done
from hashrange.storage.errors import Closed


class Job(Protocol):
    """A step that waits."""

    @property
    def done(self) -> Done[Any]:
        """Takes the step's outcome."""

    @property
    def reads(self) -> Sequence[bytes]:
        """The keys that the step declares."""


J = TypeVar("J", bound=Job)


class BatchWorker(Generic[J]):
    """Jobs in the order of their submission, in batches of at most so many jobs or keys."""

    def __init__(
        self,
        name: str,
        work: Callable[[list[J]], None],
        *,
        jobs_max: int = sys.maxsize,
        keys_max: int = sys.maxsize,
    ) -> None:
        """Start the thread; `work` answers every job of its batch and does not raise."""
        self._work = work
        self._jobs_max = jobs_max
        self._keys_max = keys_max
        self._jobs: deque[J] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    @property
    def waiting(self) -> int:
        """How many jobs wait for their batch."""
        return len(self._jobs)

    def submit(self, job: J) -> None:
        """Queue a job for the next batch."""
        with self._changed:
            if not self._closing:
                self._jobs.append(job)
                self._changed.notify()
                return
        job.done(None, Closed("the engine is closed"))

    def close(self) -> None:
        """Finish everything queued and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self.thread.join()

    def _run(self) -> None:
        while batch := self._next():
            self._work(batch)

    def _next(self) -> list[J]:
        """Wait for jobs; none means that there will be none."""
        with self._changed:
            while not self._jobs and not self._closing:
                self._changed.wait()
            batch: list[J] = []
            keys = 0
            while self._jobs and len(batch) < self._jobs_max and keys < self._keys_max:
                batch.append(self._jobs.popleft())
                keys += len(batch[-1].reads)
            return batch
