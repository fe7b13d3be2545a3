"""Long jobs run side by side, are tried again, and fail one by one."""

import threading
from collections.abc import Callable
from typing import TypeVar

import msgspec
import pytest

from by_hand import ByHand, HandThreads
from hashrange.clock import ManualClock
from hashrange.jobs import long_runs
from hashrange.jobs.aside import Aside
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.jobs.long_runs import JobFailure, LongRuns
from hashrange.jobs.threads import OwnThreads, Share, Threads
from hashrange.objects.errors import AccessDenied, Unreachable
from hashrange.storage.engine import Transaction
from hashrange.storage.errors import Closed, Corrupt, Unavailable
from hashrange.storage.job_rows import JobPlace, JobRows
from hashrange.storage.sqlite import MemoryEngine
from hashrange.storage.wrapped import SerialWrites

pytestmark = pytest.mark.slow


class Row(msgspec.Struct, frozen=True):
    """A job's row."""

    progress: int = 0


ROWS = JobRows("work", Row)
LIMIT_SECONDS = 30.0
T = TypeVar("T")


class World:
    """Jobs that do what the test tells them, on threads by hand or real ones."""

    def __init__(self, *names: str, threads: Threads | None = None) -> None:
        self.engine = MemoryEngine()
        self.turns: list[str] = []
        self.closed: list[str] = []
        self.failures: dict[str, str] = {}
        self.errors: dict[str, Exception] = {}
        self.pauses: dict[str, float] = {}
        self.blocked: dict[str, threading.Event] = {}
        for name in names:
            self.save(name, Row())
        self.threads = HandThreads()
        self.runs = LongRuns("work", self.engine, ROWS, self.begin, self.fail, threads or self.threads)
        self.by_hand = ByHand(self.runs, self.threads)

    def save(self, name: str, row: Row, *, active: bool = True) -> None:
        self.engine.write(lambda tx: ROWS.save(tx, JobPlace("a", "r", name), row, active=active))

    def begin(self, place: JobPlace, _row: Row) -> "Recorded":
        return Recorded(self, place.id)

    def fail(self, place: JobPlace, failure: JobFailure, _now: float) -> None:
        self.failures[place.id] = failure.code
        self.end(place.id)

    def end(self, name: str) -> None:
        self.save(name, Row(), active=False)

    def step(self) -> float:
        return self.by_hand.step(0.0)


class Recorded:
    """A run."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name

    def advance(self, _now: float) -> float | None:
        self.world.turns.append(self.name)
        if self.name in self.world.blocked:
            assert self.world.blocked[self.name].wait(LIMIT_SECONDS)
        if self.name in self.world.errors:
            raise self.world.errors[self.name]
        place = JobPlace("a", "r", self.name)
        if place not in self.world.engine.read(ROWS.active):
            return None
        return self.world.pauses.get(self.name, 0.0)

    def close(self) -> None:
        self.world.closed.append(self.name)
        raise Unreachable("even closing fails")


def test_jobs_run_side_by_side() -> None:
    world = World("1", "2", "3")
    for _ in range(2):
        assert world.step() == 0
    assert world.turns == ["1", "2", "3"] * 2
    world.end("2")
    world.step()
    assert world.closed == ["2"]
    world.by_hand.close()
    assert sorted(world.closed) == ["1", "2", "3"]
    assert world.step() == 0
    assert world.turns[-2:] == ["1", "3"], "they begin anew"


def test_only_so_many_run_at_a_time_and_the_next_ones_follow() -> None:
    names = [f"{number:02d}" for number in range(20)]
    world = World(*names)
    for _ in range(10):
        world.step()
    assert set(world.turns) == set(names[: long_runs.AT_ONCE])
    ended = threading.Event()
    world.runs.on_end = ended.set
    world.end("00")
    world.step()
    assert ended.is_set()
    world.step()
    assert world.turns[-1] == names[long_runs.AT_ONCE]


def test_nothing_to_do() -> None:
    world = World("1")
    world.end("1")
    assert world.step() == IDLE_SECONDS
    assert world.turns == []


def run_until_failed(world: World, steps: int = 200) -> None:
    for _ in range(steps):
        world.threads.moved_seconds += world.step()
        if world.failures:
            return


@pytest.mark.parametrize("error", [Unreachable(), ZeroDivisionError()])
def test_a_job_is_tried_again_for_some_time_and_then_fails(error: Exception) -> None:
    world = World("1", "2")
    world.errors["1"] = error
    world.pauses["2"] = 5.0
    run_until_failed(world)
    assert 6 < world.turns.count("1") < 20
    assert world.turns.count("2") > world.turns.count("1")
    assert set(world.failures) == {"1"}
    assert world.threads.moved_seconds >= long_runs.TRANSFER.seconds


def test_a_job_that_gets_on_between_its_failures_is_not_given_up() -> None:
    world = World("1")
    world.errors["1"] = Unreachable()
    for number in range(100):
        world.save("1", Row(progress=number))
        world.step()
        world.threads.moved_seconds += 30
    assert world.turns.count("1") == 100
    assert world.failures == {}
    run_until_failed(world)
    assert world.failures == {"1": "S3ServiceUnavailable"}


def test_a_turn_that_goes_well_is_no_progress_yet() -> None:
    """A job whose first turn works and whose second one never does was tried again for ever."""
    world = World("1")
    for _ in range(300):
        world.errors.clear()
        world.threads.moved_seconds += world.step()
        world.errors["1"] = Unreachable()
        world.threads.moved_seconds += world.step()
        if world.failures:
            break
    assert set(world.failures) == {"1"}


def test_what_cannot_succeed_is_not_tried_again() -> None:
    world = World("1", "2", "3")
    world.errors = {"1": AccessDenied(), "2": JobFailure("Code", "message"), "3": Corrupt("row")}
    world.threads.moved_seconds += 1
    world.step()
    assert world.failures == {"1": "S3AccessDenied", "2": "Code", "3": "UNKNOWN"}
    assert world.turns == ["1", "2", "3"]


def test_an_engine_that_does_not_answer_fails_no_job(caplog: pytest.LogCaptureFixture) -> None:
    world = World("1")
    world.errors["1"] = Unavailable("the disk is full")
    world.runs.step(0.0)
    run_until_failed(world)
    assert world.failures == {}
    assert world.turns.count("1") > 50
    lines = [record for record in caplog.records if record.message == "job.failed"]
    assert len(lines) <= world.threads.moved_seconds / 60 + 1, "not one for every attempt"
    assert lines[0].__dict__["fields"] == {
        "job": "work",
        "id": "1",
        "reason": "the disk is full",
        "failures": 1,
    }
    world.errors["1"] = Closed()
    world.threads.moved_seconds += 60
    world.step()
    assert world.failures == {}


def test_a_failure_that_cannot_be_written_down_is_written_down_later(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World("1")
    world.errors["1"] = JobFailure("Code", "message")
    fail = world.fail

    def refuse(*_: object) -> None:
        raise Unavailable

    monkeypatch.setattr(world.runs, "_fail", refuse)
    world.step()
    assert world.failures == {}
    monkeypatch.setattr(world.runs, "_fail", fail)
    run_until_failed(world)
    assert world.failures == {"1": "Code"}


def test_a_job_that_hangs_holds_up_nobody() -> None:
    world = World("1", "2", threads=OwnThreads("test", ManualClock(77.0), Share()))
    world.blocked["1"] = threading.Event()
    world.pauses["2"] = 0.001
    world.runs.step(0.0)
    limit = threading.Event()
    for _ in range(3000):
        if world.turns.count("2") >= 20:
            break
        limit.wait(0.01)
    assert world.turns.count("2") >= 20
    assert world.turns.count("1") == 1
    world.blocked["1"].set()
    world.runs.close()
    assert sorted(world.closed) == ["1", "2"]
    world.engine.close()


def test_threads_share_what_one_would_take() -> None:
    share = Share()
    assert share.pause(100.0, used=1.0, pause=0.002) == pytest.approx(0.002)
    assert share.pause(100.0, used=1.0, pause=0.002) == pytest.approx(1.004)
    assert share.pause(200.0, used=0.0, pause=60.0) == 60.0
    assert share.pause(200.0, used=0.0, pause=0.0) < 0.1, "a job's long pause is its own"


def test_writes_are_made_one_at_a_time() -> None:
    inside = threading.Lock()
    overlapped: list[bool] = []

    class Slow(MemoryEngine):
        def write(self, step: Callable[[Transaction], T]) -> T:
            free = inside.acquire(blocking=False)
            overlapped.append(not free)
            try:
                return super().write(step)
            finally:
                if free:
                    inside.release()

    engine = SerialWrites(Slow())

    def work() -> None:
        for number in range(100):
            engine.write(lambda tx, number=number: _put(tx, number))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlapped == [False] * 400


def _put(tx: Transaction, number: int) -> None:
    tx.put(b"k", bytes([number]))


class Networked:
    """A job for a thread of its own."""

    name = "networked"

    def __init__(self) -> None:
        self.steps = 0
        self.error: Exception | None = None

    def step(self, _now: float) -> float:
        self.steps += 1
        if self.error is not None:
            raise self.error
        return 7.0


def test_a_job_aside_goes_on_after_errors_and_after_it_was_closed(caplog: pytest.LogCaptureFixture) -> None:
    job, threads = Networked(), HandThreads()
    aside = Aside(job, threads)
    for _ in range(3):
        assert aside.step(0.0) == IDLE_SECONDS
    (work,) = threads.works
    assert work.turn(0.0) == 7.0
    job.error = Unreachable("no route")
    assert [work.turn(0.0) for _ in range(3)] == [10.0] * 3
    assert caplog.text.count("job.failed") == 1
    job.error = None
    assert work.turn(0.0) == 7.0
    job.error = Closed()
    assert work.turn(0.0) is None
    aside.close()
    assert threads.works == []
    aside.step(0.0)
    assert len(threads.works) == 1
