"""The supervisor: runs jobs that are due, retries after errors, runs every job when woken, stops when told."""

import threading
import time
from collections.abc import Callable

import pytest

from hashrange.clock import ManualClock
from hashrange.jobs.supervisor import Supervisor
from hashrange.storage import layout
from hashrange.storage.errors import Closed, DiskFull, Unavailable
from hashrange.storage.leases import Lease, LeaseRecord, stored_record
from hashrange.storage.sqlite import MemoryEngine
from wiring import eventually

LONG = 3600.0


class Recorded:
    """A job that does what it is told and counts how often."""

    name = "recorded"

    def __init__(self, step: Callable[[int], float]) -> None:
        self._step = step
        self.steps = 0
        self.times: list[float] = []
        self.ran = threading.Condition()

    def step(self, now: float) -> float:
        with self.ran:
            self.steps += 1
            self.times.append(now)
            self.ran.notify_all()
        return self._step(self.steps)

    def wait_for(self, steps: int) -> None:
        with self.ran:
            assert self.ran.wait_for(lambda: self.steps >= steps, timeout=60), f"{self.steps} steps"


def started(*jobs: Recorded) -> Supervisor:
    supervisor = Supervisor(jobs, ManualClock(77.0))
    supervisor.start()
    return supervisor


def test_every_job_runs_at_once_and_with_the_clocks_time() -> None:
    first, second = Recorded(lambda _: LONG), Recorded(lambda _: LONG)
    supervisor = started(first, second)
    first.wait_for(1)
    second.wait_for(1)
    supervisor.stop()
    assert first.times == second.times == [77.0]


def test_whoever_waits_for_idle_jobs_waits_for_a_whole_round() -> None:
    job = Recorded(lambda steps: 0.0 if steps % 5 else LONG)
    supervisor = started(job)
    steps_when_idle = []
    for _ in range(3):
        idle = threading.Event()
        supervisor.when_idle(lambda idle=idle: (steps_when_idle.append(job.steps), idle.set()))
        assert idle.wait(60)
    supervisor.stop()
    assert all(steps % 5 == 0 for steps in steps_when_idle)
    assert steps_when_idle == sorted(set(steps_when_idle))


def test_a_job_with_more_to_do_goes_on() -> None:
    job = Recorded(lambda steps: 0.0 if steps < 50 else LONG)
    supervisor = started(job)
    job.wait_for(50)
    time.sleep(0.02)
    supervisor.stop()
    assert job.steps == 50


def test_waking_makes_every_job_look_again() -> None:
    job = Recorded(lambda _: LONG)
    supervisor = started(job)
    job.wait_for(1)
    for steps in (2, 3):
        supervisor.wake()
        job.wait_for(steps)
    supervisor.stop()


def test_a_job_that_fails_is_retried_and_does_not_stop_the_others() -> None:
    def failing(steps: int) -> float:
        if steps < 3:
            raise RuntimeError("the disk is full")
        return LONG

    bad, good = Recorded(failing), Recorded(lambda _: 0.01)
    supervisor = started(bad, good)
    good.wait_for(5)
    bad.wait_for(3)
    supervisor.stop()


def test_an_outage_is_logged_once_and_not_at_every_retry(caplog: pytest.LogCaptureFixture) -> None:
    def failing(steps: int) -> float:
        if steps < 5:
            raise DiskFull("no space left on device")
        return LONG

    job = Recorded(failing)
    supervisor = started(job)
    job.wait_for(5)
    supervisor.stop()
    lines = [record for record in caplog.records if record.message == "job.failed"]
    assert [line.__dict__["fields"] for line in lines] == [
        {"job": "recorded", "reason": "no space left on device", "failures": 1}
    ]


def test_a_closed_engine_ends_the_work() -> None:
    def closed(_: int) -> float:
        raise Closed("the engine is closed")

    job = Recorded(closed)
    supervisor = started(job)
    job.wait_for(1)
    supervisor.stop()
    supervisor.stop()
    assert job.steps == 1


def test_with_a_lease_only_its_holder_works_and_another_goes_on_when_it_stops() -> None:
    engine = MemoryEngine()
    jobs = [Recorded(lambda _: 0.01) for _ in range(2)]
    looked = threading.Semaphore(0)

    def now() -> float:
        """A clock that stands still, so that no term ever runs out."""
        looked.release()
        return 77.0

    leases = [
        Lease(engine, "jobs", "server 0", term_seconds=0.1, now=lambda: 77.0),
        Lease(engine, "jobs", "server 1", term_seconds=0.1, now=now),
    ]
    supervisors = [
        Supervisor([job], ManualClock(77.0), lease) for job, lease in zip(jobs, leases, strict=True)
    ]
    supervisors[0].start()
    jobs[0].wait_for(3)
    supervisors[1].start()
    for _ in range(5):
        assert looked.acquire(timeout=60)
    assert jobs[1].steps == 0
    supervisors[0].stop()
    jobs[1].wait_for(3)
    supervisors[1].stop()
    engine.close()


def test_a_lease_that_cannot_be_read_is_not_released() -> None:
    """Each attempt may take as long as the database is given to answer, and the server wants to stop."""
    engine = MemoryEngine()
    lease = Lease(engine, "jobs", "server", term_seconds=1.0)
    job = Recorded(lambda _: 0.01)
    supervisor = Supervisor([job], ManualClock(77.0), lease)
    supervisor.start()
    job.wait_for(1)
    asked, released = threading.Event(), threading.Event()

    def away(_: object) -> None:
        asked.set()
        raise Unavailable("the database is away")

    engine.write = away  # type: ignore[method-assign, assignment]
    lease.release = released.set  # type: ignore[method-assign]
    assert asked.wait(60)
    supervisor.stop()
    assert not released.is_set()
    engine.close()


class Opened(Recorded):
    """A job that has something open between its steps."""

    def __init__(self) -> None:
        super().__init__(lambda _: 0.01)
        self.is_open = False
        self.closings: list[bytes] = []
        self.holder: Callable[[], bytes] = bytes

    def step(self, now: float) -> float:
        self.is_open = True
        return super().step(now)

    def close(self) -> None:
        if self.is_open:
            self.closings.append(self.holder())
        self.is_open = False


def test_who_loses_the_lease_begins_anew_when_it_has_it_again() -> None:
    """What a job has open is as old as the lease: another server may have gone on with it meanwhile."""
    engine = MemoryEngine()
    lease = Lease(engine, "jobs", "server 0", term_seconds=1.0)  # which a busy machine renews in time
    key = layout.LEASE + b"jobs"
    job = Opened()
    job.holder = lambda: engine.read(lambda reader: stored_record(reader, key)).holder
    supervisor = Supervisor([job], ManualClock(77.0), lease)
    supervisor.start()
    job.wait_for(1)
    engine.write(lambda tx: tx.put(key, LeaseRecord(1000, 0, b"other").encode()))
    assert eventually(lambda: bool(job.closings))
    job.wait_for(job.steps + 1)  # the other one does nothing, and the lease comes back
    supervisor.stop()
    assert job.closings == [b"other", b"server 0"], "closed before the lease was taken again, and at the end"
    engine.close()
