"""Long jobs of one kind, side by side: each has its turn, its own retries, and its own failure.

A run that fails is tried again later, unless it cannot succeed; the others do not wait for it.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from hashrange import logs
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.objects.errors import ObjectStoreError
from hashrange.storage.engine import Engine
from hashrange.storage.errors import Corrupt, StorageError
from hashrange.storage.job_rows import JobPlace, JobRows

log = logs.Log("jobs.runs")

OPEN_MAX = 8  # runs with open files and connections
ATTEMPTS_MAX = 8  # without any progress in between
_RETRY_SECONDS_MAX = 60.0


class JobFailure(Exception):
    """The job cannot succeed; its description says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Run(Protocol):
    """One job under way in this process."""

    def advance(self, now: float) -> float:
        """Do a bounded amount of work; give the seconds until the next turn. The last one marks the job finished."""

    def close(self) -> None:
        """Release what is held; what was not finished will be done again."""


class _Failures(NamedTuple):
    """That a job has failed several times in a row, from the same position."""

    attempts: int = 0
    record: Any = None  # as it was stored at the last failure


class LongRuns:
    """The jobs of one kind. A step is one turn of one of them."""

    def __init__(
        self,
        name: str,
        engine: Engine,
        rows: JobRows[Any],
        begin: Callable[[JobPlace], Run | None],
        fail: Callable[[JobPlace, JobFailure, float], None],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`begin` continues a job from its row; `fail` marks it as failed."""
        self.name = name
        self._engine = engine
        self._rows = rows
        self._begin = begin
        self._fail = fail
        self._monotonic = monotonic
        self._runs: dict[JobPlace, Run] = {}
        self._due_at: dict[JobPlace, float] = {}
        self._failures: dict[JobPlace, _Failures] = {}

    def step(self, now: float) -> float:
        """Give the job that has waited longest its turn."""
        places = self._engine.read(self._rows.active)
        for gone in self._runs.keys() - set(places):
            self._close(gone)
        for memory in (self._due_at, self._failures):
            for gone in memory.keys() - set(places):
                del memory[gone]
        if not places:
            return IDLE_SECONDS
        if len(self._runs) >= OPEN_MAX:
            places = list(self._runs)
        place = min(places, key=lambda place: self._due_at.get(place, 0.0))
        wait = self._due_at.get(place, 0.0) - self._monotonic()
        if wait > 0:
            return min(wait, IDLE_SECONDS)
        self._take_turn(place, now)
        return 0.0

    def close(self) -> None:
        """Leave all jobs as they are."""
        for place in list(self._runs):
            self._close(place)

    def _take_turn(self, place: JobPlace, now: float) -> None:
        try:
            run = self._runs.get(place) or self._begin(place)
            if run is None:
                return
            self._runs[place] = run
            pause = run.advance(now)
        except JobFailure as failure:
            self._give_up(place, failure, now)
        except ObjectStoreError as error:
            stated = JobFailure(error.failure_code, error.message)
            self._retry(place, error, stated, now, hopeless=not error.temporary)
        except Corrupt as error:
            self._retry(place, error, _INTERNAL, now)
        except StorageError:
            self._close(place)
            raise
        except Exception as error:  # noqa: BLE001 - the other jobs go on
            self._retry(place, error, _INTERNAL, now)
        else:
            self._due_at[place] = self._monotonic() + pause

    def _retry(
        self, place: JobPlace, error: Exception, failure: JobFailure, now: float, *, hopeless: bool = False
    ) -> None:
        self._close(place)  # first of all: a run that has failed is of no use
        attempts = self._failed_again(place)
        if hopeless or attempts >= ATTEMPTS_MAX:
            if isinstance(error, ObjectStoreError):  # nothing is wrong here: a bucket is missing, or away
                log.warning("job.failed", job=self.name, id=place.id, error=error)
            else:
                log.error("job.failed", job=self.name, id=place.id, error=error)
            self._give_up(place, failure, now)
            return
        pause = min(2.0**attempts, _RETRY_SECONDS_MAX)
        log.warning("job.interrupted", job=self.name, id=place.id, error=error, retry_seconds=pause)
        self._due_at[place] = self._monotonic() + pause

    def _failed_again(self, place: JobPlace) -> int:
        """How often a job has failed where it is now. Turns in between that only led there again do not count."""
        try:
            record = self._engine.read(lambda reader: self._rows.find(reader, place))
        except Corrupt:
            record = None
        before = self._failures.get(place, _Failures())
        attempts = before.attempts + 1 if record == before.record else 1
        self._failures[place] = _Failures(attempts, record)
        return attempts

    def _give_up(self, place: JobPlace, failure: JobFailure, now: float) -> None:
        self._close(place)
        self._fail(place, failure, now)

    def _close(self, place: JobPlace) -> None:
        run = self._runs.pop(place, None)
        if run is None:
            return
        try:
            run.close()
        except Exception as error:  # noqa: BLE001 - a store that does not answer need not be told
            log.warning("job.left", job=self.name, id=place.id, error=error)


_INTERNAL = JobFailure("UNKNOWN", "The request processing has failed because of an unknown error")
