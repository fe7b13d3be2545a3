"""Long jobs take turns, are tried again, and fail one by one."""

import msgspec
import pytest

from hashrange.jobs import long_runs
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.jobs.long_runs import JobFailure, LongRuns
from hashrange.objects.errors import AccessDenied, Unreachable
from hashrange.storage.errors import Corrupt, Unavailable
from hashrange.storage.job_rows import JobPlace, JobRows
from hashrange.storage.sqlite import MemoryEngine


class Work(msgspec.Struct, frozen=True):
    """A job's row."""

    position: int = 0


ROWS = JobRows("work", Work)


class World:
    """Jobs that do what the test tells them, and a clock of its own."""

    def __init__(self, *names: str) -> None:
        self.engine = MemoryEngine()
        self.now = 0.0
        self.turns: list[str] = []
        self.closed: list[str] = []
        self.failures: dict[str, str] = {}
        self.errors: dict[str, Exception] = {}
        self.turns_before_error: dict[str, int] = {}  # of each run
        self.pauses: dict[str, float] = {}
        for name in names:
            place = JobPlace("a", "r", name)
            self.engine.write(lambda tx, place=place: ROWS.save(tx, place, Work(), active=True))
        self.runs = LongRuns("work", self.engine, ROWS, self.begin, self.fail, monotonic=lambda: self.now)

    def begin(self, place: JobPlace) -> "Turn":
        return Turn(self, place.id)

    def fail(self, place: JobPlace, failure: JobFailure, _now: float) -> None:
        self.failures[place.id] = failure.code
        self.end(place.id)

    def save(self, name: str, position: int) -> None:
        place = JobPlace("a", "r", name)
        self.engine.write(lambda tx: ROWS.save(tx, place, Work(position), active=True))

    def end(self, name: str) -> None:
        self.engine.write(lambda tx: ROWS.save(tx, JobPlace("a", "r", name), Work(), active=False))


class Turn:
    """A run."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.turns_left = world.turns_before_error.get(name, 0)

    def advance(self, _now: float) -> float:
        self.world.turns.append(self.name)
        self.world.now += 0.001
        self.turns_left -= 1
        if self.name in self.world.errors and self.turns_left < 0:
            raise self.world.errors[self.name]
        return self.world.pauses.get(self.name, 0.0)

    def close(self) -> None:
        self.world.closed.append(self.name)
        raise Unreachable("even closing fails")


def test_jobs_take_turns() -> None:
    world = World("1", "2", "3")
    for _ in range(6):
        assert world.runs.step(0) == 0
    assert world.turns == ["1", "2", "3"] * 2
    world.end("2")
    world.runs.step(0)
    assert world.closed == ["2"]
    world.runs.close()
    assert sorted(world.closed) == ["1", "2", "3"]


def test_a_pause_is_kept_and_nobody_else_waits_for_it() -> None:
    world = World("1", "2")
    world.pauses["1"] = 10.0
    for _ in range(4):
        world.runs.step(0)
    assert world.turns == ["1", "2", "2", "2"]
    world.end("2")
    assert 9 < world.runs.step(0) <= 10
    world.end("1")
    assert world.runs.step(0) == IDLE_SECONDS


@pytest.mark.parametrize("error", [Unreachable(), Corrupt("row"), ZeroDivisionError()])
def test_a_job_is_tried_again_for_some_time_and_then_fails(error: Exception) -> None:
    world = World("1", "2")
    world.errors["1"] = error
    world.pauses["2"] = 0.5
    for _ in range(5000):
        pause = world.runs.step(0)
        world.now += pause
        if world.failures:
            break
    assert world.turns.count("1") == long_runs.ATTEMPTS_MAX
    assert world.turns.count("2") > 100
    assert set(world.failures) == {"1"}


def test_a_job_that_always_fails_at_the_same_place_fails_though_the_turns_before_are_fine() -> None:
    """As an export whose file can be begun and not finished, because the disk is full."""
    world = World("1")
    world.errors["1"] = Unreachable()
    world.turns_before_error["1"] = 3
    for _ in range(5000):
        world.now += world.runs.step(0)
        if world.failures:
            break
    assert world.turns.count("1") == 4 * long_runs.ATTEMPTS_MAX


def test_a_job_that_gets_further_each_time_does_not_fail() -> None:
    world = World("1")
    world.errors["1"] = Unreachable()
    for position in range(5 * long_runs.ATTEMPTS_MAX):
        world.save("1", position)
        for _ in range(3):
            world.now += world.runs.step(0)
    assert world.turns
    assert not world.failures


def test_what_cannot_succeed_is_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    world = World("1", "2")
    world.errors = {"1": AccessDenied(), "2": JobFailure("Code", "message")}
    world.runs.step(0)
    world.runs.step(0)
    assert world.failures == {"1": "S3AccessDenied", "2": "Code"}
    assert world.turns == ["1", "2"]
    assert not [record for record in caplog.records if record.exc_info], "a user's mistake has a traceback"


def test_an_engine_that_does_not_answer_is_the_supervisors_matter() -> None:
    world = World("1")
    world.errors["1"] = Unavailable()
    with pytest.raises(Unavailable):
        world.runs.step(0)
    assert world.failures == {}
    assert world.closed == ["1"]


def test_only_so_many_are_open_at_a_time() -> None:
    world = World(*(f"{number:02d}" for number in range(20)))
    for _ in range(40):
        world.runs.step(0)
    assert len(set(world.turns)) == long_runs.OPEN_MAX
