"""The supervisor: one thread that runs every job's steps when they are due."""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from hashrange import logs
from hashrange.clock import Clock
from hashrange.jobs.job import Job, OpenJob
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.leases import Lease

log = logs.Log("jobs")
_RETRY_SECONDS_MIN = 0.1
_RETRY_SECONDS_MAX = 30.0


class Supervisor:
    """Runs jobs one after the other on a thread of its own. `step` gets the clock's time; pauses are real time.

    With a lease it works only while this server holds the lease: one of the servers on a database does the work.
    """

    def __init__(
        self, jobs: Sequence[Job], clock: Clock, lease: Lease | None = None, *, name: str = "jobs"
    ) -> None:
        self._jobs = [_ScheduledJob(job) for job in jobs]
        self._clock = clock
        self._lease = lease
        self._holds_lease = lease is None
        self._wakeup = threading.Event()
        self._stopping = threading.Event()
        self._idle_callbacks: deque[Callable[[], object]] = (
            deque()
        )  # of those who have asked since the last wake-up
        self._awaiting_idle: list[Callable[[], object]] = []
        self._thread = threading.Thread(target=self._run, name=f"hashrange-{name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Make every job due now, because something has changed."""
        self._wakeup.set()

    def when_idle(self, callback: Callable[[], object]) -> None:
        """Make every job due, and call back on the jobs' thread once none of them has anything left to do now."""
        self._idle_callbacks.append(callback)
        self._wakeup.set()

    def stop(self) -> None:
        """Finish the step under way and stop; a second call does nothing."""
        self._stopping.set()
        self._wakeup.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            self._work()
        except Closed:
            return
        finally:
            self._close_jobs()
        # A lease that could not be renewed expires by itself; stopping need not wait for the database again.
        if self._lease is not None and self._holds_lease:
            with contextlib.suppress(StorageError):
                self._lease.release()

    def _work(self) -> None:
        while not self._stopping.is_set():
            if self._lease is not None and not self._acquire(self._lease):
                self._stopping.wait(self._lease.renew_seconds)
                continue
            if self._wakeup.is_set():
                self._wakeup.clear()
                while self._idle_callbacks:
                    self._awaiting_idle.append(self._idle_callbacks.popleft())
                for job in self._jobs:
                    job.make_due()
            for job in self._jobs:
                if self._stopping.is_set() or (job.due_in() <= 0 and not job.step(self._clock.now())):
                    return
            pause = min(job.due_in() for job in self._jobs)
            while pause > 0 and self._awaiting_idle:
                self._awaiting_idle.pop()()
            if self._lease is not None:
                pause = min(pause, self._lease.renew_seconds)
            self._wakeup.wait(max(0.0, pause))

    def _close_jobs(self) -> None:
        for job in self._jobs:
            job.close()

    def _acquire(self, lease: Lease) -> bool:
        if not lease.is_held:
            self._close_jobs()  # another server may have gone on with what they have open
        try:
            holds_lease = lease.acquire()
        except Closed:
            raise
        except StorageError as error:
            log.warning("lease.unknown", error=error)
            holds_lease = False
        if holds_lease and not self._holds_lease:
            log.info("lease.taken")
            self.wake()  # the former holder may have left work undone
        self._holds_lease = holds_lease
        return holds_lease


class _ScheduledJob:
    """One job with the time of its next step."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._due_at = 0.0
        self._failures = 0
        self._outage = logs.Outage(log, "job", job=job.name)

    def due_in(self) -> float:
        return self._due_at - time.monotonic()

    def make_due(self) -> None:
        if not self._failures:  # a job that fails keeps its backoff
            self._due_at = 0.0

    def close(self) -> None:
        if isinstance(self._job, OpenJob):
            try:
                self._job.close()
            except Exception as error:  # noqa: BLE001 - what is left open ends with the process
                log.warning("job.left", job=self._job.name, error=error)

    def step(self, now: float) -> bool:
        """Run one step; false if the engine is closed."""
        try:
            pause = self._job.step(now)
            self._failures = 0
            if self._outage.lasts:
                self._outage.worked()
        except Closed:
            return False
        except Exception as error:  # noqa: BLE001 - the other jobs go on
            pause = min(_RETRY_SECONDS_MIN * 2**self._failures, _RETRY_SECONDS_MAX)
            self._failures += 1
            self._outage.failed(str(error) or type(error).__name__)
        self._due_at = time.monotonic() + pause
        return True
