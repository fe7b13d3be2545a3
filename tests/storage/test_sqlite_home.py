"""Steps that run on the thread that submits them: a loop's own, with the disk left to another thread."""

import asyncio
import random
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hashrange.storage.engine import Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite.engine import SqliteEngine


def at_home(path: Path, scenario: Callable[["Home"], Awaitable[None]]) -> None:
    async def run() -> None:
        home = Home(path)
        try:
            await scenario(home)
        finally:
            home.engine.close()

    asyncio.run(run())


class Home:
    """An engine whose home is the running loop."""

    def __init__(self, path: Path) -> None:
        self._loop = asyncio.get_running_loop()
        self.engine = SqliteEngine.open(path, deliver=self._deliver, soon=self._loop.call_soon)

    def _deliver(self, callbacks: list[Callable[[], None]]) -> None:
        self._loop.call_soon_threadsafe(lambda: [callback() for callback in callbacks])

    def submit(self, step: Callable[[Transaction], Any]) -> "asyncio.Future[Any]":
        future = self._loop.create_future()

        def done(result: Any, error: BaseException | None) -> None:
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

        self.engine.submit(step, done)
        return future


def add_one(key: bytes) -> Callable[[Transaction], tuple[int, int]]:
    def step(tx: Transaction) -> tuple[int, int]:
        number = int.from_bytes(tx.get(key) or b"", "big") + 1
        tx.put(key, number.to_bytes(8, "big"))
        return number, threading.get_ident()

    return step


def test_steps_run_at_home_and_in_order(tmp_path: Path) -> None:
    async def scenario(home: Home) -> None:
        outcomes = await asyncio.gather(*[home.submit(add_one(b"n")) for _ in range(2_000)])
        assert [number for number, _ in outcomes] == list(range(1, 2_001))
        assert {thread for _, thread in outcomes} == {threading.get_ident()}

    at_home(tmp_path, scenario)


def test_a_done_step_is_in_the_file(tmp_path: Path) -> None:
    async def scenario(home: Home) -> None:
        for _ in range(20):
            number, _ = await home.submit(add_one(b"n"))
            assert home.engine.read(lambda reader: reader.get(b"n")) == number.to_bytes(8, "big")

    at_home(tmp_path, scenario)


def test_a_step_that_raises_leaves_nothing_and_disturbs_nobody(tmp_path: Path) -> None:
    def failing(tx: Transaction) -> None:
        tx.put(b"n", b"spoilt")
        raise LookupError("no")

    async def scenario(home: Home) -> None:
        steps = [home.submit(failing if number % 3 == 1 else add_one(b"n")) for number in range(30)]
        outcomes = await asyncio.gather(*steps, return_exceptions=True)
        assert sum(isinstance(each, LookupError) for each in outcomes) == 10
        assert home.engine.read(lambda reader: reader.get(b"n")) == (20).to_bytes(8, "big")

    at_home(tmp_path, scenario)


def test_home_and_other_threads_take_turns(tmp_path: Path) -> None:
    async def scenario(home: Home) -> None:
        def elsewhere() -> None:
            for _ in range(100):
                _, thread = home.engine.write(add_one(b"n"))
                assert thread != threading.get_ident()

        others = [asyncio.create_task(asyncio.to_thread(elsewhere)) for _ in range(4)]
        for _ in range(100):
            await asyncio.gather(*[home.submit(add_one(b"n")) for _ in range(random.randint(1, 5))])
        await asyncio.gather(*others)
        total, _ = await home.submit(add_one(b"n"))
        assert 500 < total <= 401 + 500

    at_home(tmp_path, scenario)


def test_space_is_given_back_between_commits(tmp_path: Path) -> None:
    async def scenario(home: Home) -> None:
        steps = [home.submit(add_one(b"n")) for _ in range(50)]
        await asyncio.to_thread(home.engine.maintain, 10)
        await asyncio.gather(*steps)

    at_home(tmp_path, scenario)


def test_closing_finishes_what_was_submitted(tmp_path: Path) -> None:
    results: list[Any] = []

    async def scenario(home: Home) -> None:
        for _ in range(40):
            home.engine.submit(add_one(b"n"), lambda *outcome: results.append(outcome))
        await asyncio.sleep(0)  # the first of them are under way
        for _ in range(40):
            home.engine.submit(add_one(b"n"), lambda *outcome: results.append(outcome))
        home.engine.close()
        with pytest.raises(Closed):
            await home.submit(add_one(b"n"))
        await asyncio.sleep(0.01)

    at_home(tmp_path, scenario)
    assert len(results) == 80
    engine = SqliteEngine.open(tmp_path)
    assert engine.read(lambda reader: reader.get(b"n")) == (80).to_bytes(8, "big")
    engine.close()
