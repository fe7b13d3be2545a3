"""The supervisor: one thread that runs every job's steps when they are due."""

import contextlib
import threading
import time
from collections.abc import Sequence

from hashrange import logs
from hashrange.clock import Clock
from hashrange.jobs.job import Job
from hashrange.storage.errors import Closed, StorageError
from hashrange.storage.leases import Lease

log = logs.Log("jobs")
_RETRY_SECONDS_FIRST = 0.1
_RETRY_SECONDS_MOST = 30.0


class Supervisor:
    """Runs jobs one after the other on a thread of its own. `step` gets the clock's time; pauses are real time.

    With a lease it works only while this server holds the lease: one of the servers on a database does the work.
    """

    def __init__(self, jobs: Sequence[Job], clock: Clock, lease: Lease | None = None) -> None:
        self._runs = [_Run(job) for job in jobs]
        self._clock = clock
        self._lease = lease
        self._leads = lease is None
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hashrange-jobs", daemon=True)

    def start(self) -> None:
        """Start to work."""
        self._thread.start()

    def wake(self) -> None:
        """Have every job look for work now: something has changed."""
        self._woken.set()

    def stop(self) -> None:
        """Finish the step under way and stop; a second call does nothing."""
        self._stopping.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            self._work()
        except Closed:
            return
        # A lease that could not be looked at runs out by itself; the end need not wait for the database again.
        if self._lease is not None and self._leads:
            with contextlib.suppress(StorageError):
                self._lease.release()

    def _work(self) -> None:
        while not self._stopping.is_set():
            if self._lease is not None and not self._may_work(self._lease):
                self._stopping.wait(self._lease.renew_seconds)
                continue
            if self._woken.is_set():
                self._woken.clear()
                for run in self._runs:
                    run.hurry()
            for run in self._runs:
                if self._stopping.is_set() or (run.due_in() <= 0 and not run.step(self._clock.now())):
                    return
            pause = min(run.due_in() for run in self._runs)
            if self._lease is not None:
                pause = min(pause, self._lease.renew_seconds)
            self._woken.wait(max(0.0, pause))

    def _may_work(self, lease: Lease) -> bool:
        try:
            leads = lease.acquire()
        except Closed:
            raise
        except StorageError as error:
            log.warning("lease.unknown", error=error)
            leads = False
        if leads and not self._leads:
            log.info("lease.taken")
            self.wake()  # whoever had it may have left work undone
        self._leads = leads
        return leads


class _Run:
    """One job with the time of its next step."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._due_at = 0.0
        self._failures = 0

    def due_in(self) -> float:
        return self._due_at - time.monotonic()

    def hurry(self) -> None:
        if not self._failures:
            self._due_at = 0.0

    def step(self, now: float) -> bool:
        """Run one step; false means that there is nothing left to work on."""
        try:
            pause = self._job.step(now)
            self._failures = 0
        except Closed:
            return False
        except Exception as error:  # noqa: BLE001 - one job's trouble must not end the others
            pause = min(_RETRY_SECONDS_FIRST * 2**self._failures, _RETRY_SECONDS_MOST)
            self._failures += 1
            log.warning("job.failed", job=self._job.name, error=error, retry_seconds=pause)
        self._due_at = time.monotonic() + pause
        return True
