"""Long jobs of one kind, side by side, each on a thread of its own: one that is slow or fails holds up no other.

A job that fails is tried again from its row, unless it cannot succeed or has made no progress for too long.
"""

import contextlib
import threading
from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from hashrange import logs
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.jobs.threads import Threads
from hashrange.objects.errors import ObjectStoreError
from hashrange.storage.engine import Engine
from hashrange.storage.errors import Closed, Corrupt, StorageError
from hashrange.storage.job_rows import JobPlace, JobRows

log = logs.Log("jobs.runs")

T = TypeVar("T", bound=msgspec.Struct)

AT_ONCE = 4  # each has a thread, a scratch file, and a file or a connection open
_RETRY_SECONDS_MIN = 1.0
_RETRY_SECONDS_MAX = 60.0


class JobFailure(Exception):
    """The job cannot succeed; its description says why, and the log with the reason."""

    def __init__(self, code: str, message: str, reason: str | None = None) -> None:
        super().__init__(message if reason is None else reason)
        self.code = code
        self.message = message


class Run(Protocol):
    """One job under way in this process."""

    def advance(self, now: float) -> float | None:
        """Do a bounded amount of work; give the seconds until the next turn, None when the job is over."""

    def close(self) -> None:
        """Release what is held; what was not finished will be done again."""


class Patience(NamedTuple):
    """For how long a job may fail without any progress before it is given up."""

    seconds: float
    refused_seconds: float  # if the object store refuses what is asked of it


# A request that names somebody's bucket is answered soon.
TRANSFER = Patience(seconds=180.0, refused_seconds=0.0)


class _Trouble(msgspec.Struct):
    """A job that fails."""

    outage: logs.Outage
    record: msgspec.Struct | None  # its row when it failed last: another one means progress
    since: float
    retry_at: float = 0.0
    attempts: int = 0


class LongRuns(Generic[T]):
    """The jobs of one kind. A step starts those that have no thread yet, a few at a time, the oldest first."""

    def __init__(
        self,
        name: str,
        engine: Engine,
        rows: JobRows[T],
        begin: Callable[[JobPlace, T], Run],
        fail: Callable[[JobPlace, JobFailure, float], None],
        threads: Threads,
        patience: Patience = TRANSFER,
    ) -> None:
        """`begin` continues a job from its row; `fail` marks it as failed."""
        self.name = name
        self.on_end: Callable[[], None] = lambda: None  # called when a job has left its thread
        self._engine = engine
        self._rows = rows
        self._begin = begin
        self._fail = fail
        self._threads = threads
        self._patience = patience
        self._lock = threading.Lock()
        self._running: set[JobPlace] = set()
        self._troubles: dict[JobPlace, _Trouble] = {}

    def step(self, _now: float) -> float:
        """Start what is due and has room; give the seconds until the next retry."""
        with self._lock:  # a job that ends meanwhile is either active and running, or neither
            places = self._engine.read(self._rows.active)
            for gone in self._troubles.keys() - set(places):
                del self._troubles[gone]
            pause = IDLE_SECONDS
            for place in places:
                if place in self._running:
                    continue
                wait = self._wait(place)
                if wait > 0:
                    pause = min(pause, wait)
                elif len(self._running) < AT_ONCE:
                    self._running.add(place)
                    self._threads.start(_Worker(self, place))
        return pause

    def close(self) -> None:
        """Leave all jobs as they are."""
        self._threads.stop()

    def begin(self, place: JobPlace) -> Run | None:
        """Continue a job; None if there is none any more."""
        record = self._engine.read(lambda reader: self._rows.find(reader, place))
        return None if record is None else self._begin(place, record)

    def succeeded(self, place: JobPlace) -> None:
        """Note that a turn went well."""
        trouble = self._troubles.get(place)
        if trouble is not None and trouble.outage.lasts:
            trouble.outage.worked()

    def failed(self, place: JobPlace, error: Exception, now: float) -> None:
        """Have a job wait, or end it."""
        trouble = self._trouble(place, error)
        failing_seconds = self._threads.monotonic() - trouble.since
        try:
            if _is_hopeless(error) or failing_seconds >= self._allowed_seconds(error):
                log.error("job.given_up", job=self.name, id=place.id, reason=str(error))
                self._fail(place, _stated(error), now)
                return
        except Closed:
            return
        except Exception as failure:  # noqa: BLE001 - it is tried again like everything else
            error = failure
        trouble.outage.failed(str(error) or type(error).__name__)
        pause = min(_RETRY_SECONDS_MIN * 2**trouble.attempts, _RETRY_SECONDS_MAX)
        trouble.attempts += 1
        trouble.retry_at = self._threads.monotonic() + pause

    def left(self, place: JobPlace) -> None:
        """Note that a job has no thread any more."""
        with self._lock:
            self._running.discard(place)
        self.on_end()

    def _wait(self, place: JobPlace) -> float:
        trouble = self._troubles.get(place)
        return 0.0 if trouble is None else trouble.retry_at - self._threads.monotonic()

    def _trouble(self, place: JobPlace, error: Exception) -> _Trouble:
        """The trouble that a job has; a job that has made progress since has a new one."""
        now = self._threads.monotonic()
        with self._lock:
            trouble = self._troubles.get(place)
            if trouble is None:
                outage = logs.Outage(log, "job", now=self._threads.monotonic, job=self.name, id=place.id)
                trouble = self._troubles[place] = _Trouble(outage, None, now)
        if isinstance(error, StorageError):  # no fault of the job
            trouble.since = now
        with contextlib.suppress(StorageError):
            record = self._engine.read(lambda reader: self._rows.find(reader, place))
            if record != trouble.record:
                trouble.record, trouble.since, trouble.attempts = record, now, 0
        return trouble

    def _allowed_seconds(self, error: Exception) -> float:
        is_refused = isinstance(error, ObjectStoreError) and not error.temporary
        return self._patience.refused_seconds if is_refused else self._patience.seconds


class _Worker:
    """A job on its thread."""

    def __init__(self, runs: LongRuns[T], place: JobPlace) -> None:
        self._runs = runs
        self._place = place
        self._run: Run | None = None

    def turn(self, now: float) -> float | None:
        try:
            if self._run is None:
                self._run = self._runs.begin(self._place)
            pause = None if self._run is None else self._run.advance(now)
        except Closed:
            return None
        except Exception as error:  # noqa: BLE001 - the other jobs go on
            self._release()
            self._runs.failed(self._place, error, now)
            return None
        self._runs.succeeded(self._place)
        return pause

    def close(self) -> None:
        self._release()
        self._runs.left(self._place)

    def _release(self) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        try:
            run.close()
        except Exception as error:  # noqa: BLE001 - a store that does not answer need not be told
            log.warning("job.left", job=self._runs.name, id=self._place.id, error=error)


def _is_hopeless(error: Exception) -> bool:
    return isinstance(error, (JobFailure, Corrupt))


def _stated(error: Exception) -> JobFailure:
    if isinstance(error, JobFailure):
        return error
    if isinstance(error, ObjectStoreError):
        return JobFailure(error.failure_code, error.message, str(error))
    text = "The request processing has failed because of an unknown error"
    return JobFailure("UNKNOWN", text, str(error))
