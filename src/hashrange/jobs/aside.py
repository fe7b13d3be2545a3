"""A job that may have to wait for a network, on a thread of its own."""

from hashrange import logs
from hashrange.jobs.job import IDLE_SECONDS, Job
from hashrange.jobs.threads import Threads
from hashrange.storage.errors import Closed

log = logs.Log("jobs")
_RETRY_SECONDS = 10.0


class Aside:
    """Takes a job's steps aside: its own step only sees to it that the thread runs."""

    def __init__(self, job: Job, threads: Threads) -> None:
        self.name = job.name
        self._work = _Work(job)
        self._threads = threads
        self._is_started = False

    def step(self, _now: float) -> float:
        """Start the thread if it does not run."""
        if not self._is_started:
            self._is_started = True
            self._threads.start(self._work)
        return IDLE_SECONDS

    def close(self) -> None:
        """Stop the thread."""
        self._threads.stop()
        self._is_started = False


class _Work:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._outage = logs.Outage(log, "job", job=job.name)

    def turn(self, now: float) -> float | None:
        try:
            pause = self._job.step(now)
        except Closed:
            return None
        except Exception as error:  # noqa: BLE001 - it is tried again
            self._outage.failed(str(error) or type(error).__name__)
            return _RETRY_SECONDS
        if self._outage.lasts:
            self._outage.worked()
        return pause

    def close(self) -> None:
        """Nothing is held."""
