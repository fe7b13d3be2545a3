"""An event loop's steps: run on its own thread, committed together, in order, and never lost."""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hashrange.storage.delivery import run_inline
from hashrange.storage.engine import Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite import SqliteEngine, commit_placement
from hashrange.storage.sqlite.commit_placement import (
    BACKOFF_COMMITS_MAX,
    BACKOFF_COMMITS_MIN,
    FAST_SECONDS,
    CommitPlacement,
)
from hashrange.storage.sqlite.group import CommitGroup


class ManualLoop:
    """An event loop that runs one iteration when the test says so."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[], None]] = []

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.callbacks.append(callback)

    def run_once(self) -> int:
        """Run one iteration; give the number of callbacks."""
        callbacks, self.callbacks = self.callbacks, []
        for callback in callbacks:
            callback()
        return len(callbacks)

    def finish(self) -> int:
        count = 0
        while self.run_once():
            count += 1
        return count


@pytest.fixture
def loop() -> ManualLoop:
    return ManualLoop()


@pytest.fixture
def looped(tmp_path: Path, loop: ManualLoop, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteEngine]:
    monkeypatch.setattr(commit_placement, "FAST_SECONDS", math.inf)  # whatever the disk does just now
    engine = SqliteEngine.open(tmp_path, call_soon=loop.call_soon)
    yield engine
    engine.close()


class Outcomes(list[Any]):
    def done(self, result: Any, error: BaseException | None) -> None:
        self.append(error or result)


def counted(engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the commits to come."""
    sizes: list[int] = []
    commit = CommitGroup.commit

    def counting(group: Any) -> None:
        sizes.append(len(group.callbacks))
        commit(group)

    monkeypatch.setattr(CommitGroup, "commit", counting)
    return sizes


def put(number: int) -> Callable[[Transaction], tuple[int, int]]:
    def step(tx: Transaction) -> tuple[int, int]:
        before = int(tx.get(b"n") or b"0")
        tx.put(b"n", b"%d" % number)
        return before, threading.get_ident()

    return step


def test_steps_of_one_iteration_share_a_commit_on_the_loops_thread(
    looped: SqliteEngine, loop: ManualLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, outcomes = counted(looped, monkeypatch), Outcomes()
    for number in range(1, 6):
        looped.submit(put(number), outcomes.done)
    assert outcomes == []
    loop.finish()
    assert outcomes == [(number, threading.get_ident()) for number in range(5)]
    assert sizes == [5]


def test_the_commit_waits_while_iterations_bring_more_steps(
    looped: SqliteEngine, loop: ManualLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = Outcomes()
    looped.submit(put(1), outcomes.done)
    loop.finish()  # now it is known how long the disk takes
    sizes = counted(looped, monkeypatch)
    monkeypatch.setattr(time, "monotonic", lambda: 1.0)
    looped.submit(put(2), outcomes.done)
    loop.run_once()
    assert len(outcomes) == 1
    looped.submit(put(3), outcomes.done)
    loop.finish()
    assert [before for before, _ in outcomes] == [0, 1, 2]
    assert sizes == [2]


def test_nobody_waits_longer_than_the_disk_takes(looped: SqliteEngine, loop: ManualLoop) -> None:
    outcomes = Outcomes()
    looped.submit(put(1), outcomes.done)
    loop.run_once()
    looped.submit(put(2), outcomes.done)
    loop.run_once()  # it brought one more, but no commit is known to take any time
    assert [before for before, _ in outcomes] == [0, 1]


def test_a_step_that_fails_takes_nobody_with_it(looped: SqliteEngine, loop: ManualLoop) -> None:
    outcomes = Outcomes()

    def bad(tx: Transaction) -> None:
        tx.put(b"n", b"99")
        raise KeyError("no")

    looped.submit(put(1), outcomes.done)
    looped.submit(bad, outcomes.done)
    looped.submit(put(2), outcomes.done)
    loop.finish()
    assert [type(outcomes[1]), outcomes[0][0], outcomes[2][0]] == [KeyError, 0, 1]


def test_the_loops_thread_may_wait_for_a_write(looped: SqliteEngine, loop: ManualLoop) -> None:
    outcomes = Outcomes()
    looped.submit(put(1), outcomes.done)
    assert looped.write(lambda tx: tx.get(b"n")) == b"1"
    loop.finish()
    assert len(outcomes) == 1


def test_a_callback_may_submit(looped: SqliteEngine, loop: ManualLoop) -> None:
    outcomes = Outcomes()

    def again(result: Any, error: BaseException | None) -> None:
        outcomes.done(result, error)
        if len(outcomes) < 5:
            looped.submit(put(len(outcomes)), again)

    looped.submit(put(0), again)
    loop.finish()
    assert [before for before, _ in outcomes] == [0, 0, 1, 2, 3]


def test_other_threads_write_beside_the_loop(looped: SqliteEngine, loop: ManualLoop) -> None:
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
        loop.run_once()
    for thread in threads:
        thread.join()
    while len(outcomes) < 200:
        loop.run_once()
    assert outcomes == [None] * 200
    assert looped.read(lambda reader: reader.get(b"n")) == b"600"


def test_a_slow_disk_is_left_to_the_writer(
    tmp_path: Path, loop: ManualLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit_placement, "FAST_SECONDS", -1.0)
    engine = SqliteEngine.open(tmp_path, call_soon=loop.call_soon)
    outcomes = Outcomes()
    try:
        for number in range(1, 5):
            engine.submit(put(number), outcomes.done)
            loop.finish()
            while len(outcomes) < number:
                loop.run_once()
    finally:
        engine.close()
    here = [thread == threading.get_ident() for _, thread in outcomes]
    assert here == [True, False, False, False]


def test_what_was_submitted_is_committed_though_the_loop_never_runs_again(
    tmp_path: Path, loop: ManualLoop
) -> None:
    engine, outcomes = SqliteEngine.open(tmp_path, call_soon=loop.call_soon), Outcomes()
    engine.submit(put(7), outcomes.done)
    engine.close()
    assert [before for before, _ in outcomes] == [0]
    loop.finish()
    engine.submit(put(8), outcomes.done)
    assert isinstance(outcomes[-1], Closed)
    again = SqliteEngine.open(tmp_path)
    assert again.read(lambda reader: reader.get(b"n")) == b"7"
    again.close()


def test_a_real_loop(tmp_path: Path) -> None:
    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()

        def deliver(callbacks: list[Callable[[], None]]) -> None:
            loop.call_soon_threadsafe(run_inline, callbacks)

        engine = SqliteEngine.open(
            tmp_path,
            deliver=deliver,
            call_soon=loop.call_soon,
        )
        futures = []
        for number in range(100):
            future = loop.create_future()
            futures.append(future)
            engine.submit(put(number), lambda result, _error, future=future: future.set_result(result[0]))
            if number % 7 == 0:
                await asyncio.sleep(0)
        results = await asyncio.gather(*futures)
        await loop.run_in_executor(None, engine.close)
        return results

    assert asyncio.run(main()) == [0, *range(99)]


def test_the_loop_tries_again_after_a_backoff_that_doubles() -> None:
    placement = CommitPlacement()
    backoffs = []
    for _ in range(11):
        assert placement.on_loop()
        placement.observe(FAST_SECONDS * 2, 1)
        count = 0
        while not placement.on_loop():
            count += 1
        backoffs.append(count)
    assert backoffs == [min(BACKOFF_COMMITS_MIN * 2**attempt, BACKOFF_COMMITS_MAX) for attempt in range(11)]
    placement.observe(0.0, 1)
    placement.observe(FAST_SECONDS * 2, 1)
    assert [placement.on_loop() for _ in range(BACKOFF_COMMITS_MIN + 1)] == [False] * BACKOFF_COMMITS_MIN + [
        True
    ]
