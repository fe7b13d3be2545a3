"""An event loop's steps: run on its own thread, committed together, in order, and never lost."""

import asyncio
import math
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hashrange.storage.delivery import run_inline
from hashrange.storage.engine import Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite import SqliteEngine, committer, pace
from hashrange.storage.sqlite.pace import AWAY_MAX, AWAY_MIN, QUICK_SECONDS, Pace


class Turns:
    """An event loop in slow motion: what is to be done soon is done when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def soon(self, callback: Callable[[], None]) -> None:
        self.waiting.append(callback)

    def take(self) -> int:
        """Give one turn; say how much was to be done."""
        now, self.waiting = self.waiting, []
        for callback in now:
            callback()
        return len(now)

    def finish(self) -> int:
        count = 0
        while self.take():
            count += 1
        return count


@pytest.fixture
def turns() -> Turns:
    return Turns()


@pytest.fixture
def looped(tmp_path: Path, turns: Turns, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteEngine]:
    monkeypatch.setattr(pace, "QUICK_SECONDS", math.inf)  # whatever the disk does just now
    engine = SqliteEngine.open(tmp_path, soon=turns.soon)
    yield engine
    engine.close()


class Outcomes(list[Any]):
    def done(self, result: Any, error: BaseException | None) -> None:
        self.append(error or result)


def counted(engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the commits to come."""
    sizes: list[int] = []
    commit = committer.Group.commit

    def counting(group: Any) -> None:
        sizes.append(len(group.callbacks))
        commit(group)

    monkeypatch.setattr(committer.Group, "commit", counting)
    return sizes


def put(number: int) -> Callable[[Transaction], tuple[int, int]]:
    def step(tx: Transaction) -> tuple[int, int]:
        before = int(tx.get(b"n") or b"0")
        tx.put(b"n", b"%d" % number)
        return before, threading.get_ident()

    return step


def test_steps_of_one_turn_share_a_commit_on_the_loops_thread(
    looped: SqliteEngine, turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, outcomes = counted(looped, monkeypatch), Outcomes()
    for number in range(1, 6):
        looped.submit(put(number), outcomes.done)
    assert outcomes == []
    turns.finish()
    assert outcomes == [(number, threading.get_ident()) for number in range(5)]
    assert sizes == [5]


def test_a_turn_that_brings_more_is_waited_for(
    looped: SqliteEngine, turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = Outcomes()
    looped.submit(put(1), outcomes.done)
    turns.finish()  # now it is known how long the disk takes
    sizes = counted(looped, monkeypatch)
    monkeypatch.setattr(committer.time, "monotonic", lambda: 1.0)
    looped.submit(put(2), outcomes.done)
    turns.take()
    assert len(outcomes) == 1
    looped.submit(put(3), outcomes.done)
    turns.finish()
    assert [before for before, _ in outcomes] == [0, 1, 2]
    assert sizes == [2]


def test_nobody_waits_longer_than_the_disk_takes(looped: SqliteEngine, turns: Turns) -> None:
    outcomes = Outcomes()
    looped.submit(put(1), outcomes.done)
    turns.take()
    looped.submit(put(2), outcomes.done)
    turns.take()  # it brought one more, but no commit is known to take any time
    assert [before for before, _ in outcomes] == [0, 1]


def test_a_step_that_fails_takes_nobody_with_it(looped: SqliteEngine, turns: Turns) -> None:
    outcomes = Outcomes()

    def bad(tx: Transaction) -> None:
        tx.put(b"n", b"99")
        raise KeyError("no")

    looped.submit(put(1), outcomes.done)
    looped.submit(bad, outcomes.done)
    looped.submit(put(2), outcomes.done)
    turns.finish()
    assert [type(outcomes[1]), outcomes[0][0], outcomes[2][0]] == [KeyError, 0, 1]


def test_the_loops_thread_may_wait_for_a_write(looped: SqliteEngine, turns: Turns) -> None:
    outcomes = Outcomes()
    looped.submit(put(1), outcomes.done)
    assert looped.write(lambda tx: tx.get(b"n")) == b"1"
    turns.finish()
    assert len(outcomes) == 1


def test_a_callback_may_submit(looped: SqliteEngine, turns: Turns) -> None:
    outcomes = Outcomes()

    def again(result: Any, error: BaseException | None) -> None:
        outcomes.done(result, error)
        if len(outcomes) < 5:
            looped.submit(put(len(outcomes)), again)

    looped.submit(put(0), again)
    turns.finish()
    assert [before for before, _ in outcomes] == [0, 0, 1, 2, 3]


def test_other_threads_write_beside_the_loop(looped: SqliteEngine, turns: Turns) -> None:
    def add(tx: Transaction) -> None:
        tx.put(b"n", b"%d" % (int(tx.get(b"n") or b"0") + 1))

    def write() -> None:
        for _ in range(200):
            looped.write(add)

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    outcomes = Outcomes()
    for _ in range(200):
        looped.submit(add, outcomes.done)
        turns.take()
    for thread in threads:
        thread.join()
    while len(outcomes) < 200:
        turns.take()
    assert outcomes == [None] * 200
    assert looped.read(lambda reader: reader.get(b"n")) == b"600"


def test_a_slow_disk_is_left_to_the_writer(
    tmp_path: Path, turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "QUICK_SECONDS", -1.0)
    engine = SqliteEngine.open(tmp_path, soon=turns.soon)
    outcomes = Outcomes()
    try:
        for number in range(1, 5):
            engine.submit(put(number), outcomes.done)
            turns.finish()
            while len(outcomes) < number:
                turns.take()
    finally:
        engine.close()
    here = [thread == threading.get_ident() for _, thread in outcomes]
    assert here == [True, False, False, False]


def test_what_was_submitted_is_committed_though_the_loop_never_turns_again(
    tmp_path: Path, turns: Turns
) -> None:
    engine, outcomes = SqliteEngine.open(tmp_path, soon=turns.soon), Outcomes()
    engine.submit(put(7), outcomes.done)
    engine.close()
    assert [before for before, _ in outcomes] == [0]
    turns.finish()
    engine.submit(put(8), outcomes.done)
    assert isinstance(outcomes[-1], Closed)
    again = SqliteEngine.open(tmp_path)
    assert again.read(lambda reader: reader.get(b"n")) == b"7"
    again.close()


def test_a_real_loop(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()
        engine = SqliteEngine.open(
            tmp_path,
            deliver=lambda callbacks: loop.call_soon_threadsafe(run_inline, callbacks),
            soon=loop.call_soon,
        )
        futures = []
        for number in range(100):
            future = loop.create_future()
            futures.append(future)
            engine.submit(put(number), lambda result, _error, future=future: future.set_result(result[0]))
            if number % 7 == 0:
                await asyncio.sleep(0)
        found = await asyncio.gather(*futures)
        await loop.run_in_executor(None, engine.close)
        return found

    assert asyncio.run(main()) == [0, *range(99)]


def test_pace_comes_back_and_stays_away_longer_each_time() -> None:
    counting = Pace()
    away = []
    for _ in range(11):
        assert counting.is_loops()
        counting.took(QUICK_SECONDS * 2, 1)
        count = 0
        while not counting.is_loops():
            count += 1
        away.append(count)
    assert away == [min(AWAY_MIN * 2**turn, AWAY_MAX) for turn in range(11)]
    counting.took(0.0, 1)
    counting.took(QUICK_SECONDS * 2, 1)
    assert [counting.is_loops() for _ in range(AWAY_MIN + 1)] == [False] * AWAY_MIN + [True]
