"""What an event loop submits to the in-memory engine: the steps of one iteration share a commit."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hashrange.storage.engine import Transaction
from hashrange.storage.errors import Closed
from hashrange.storage.sqlite import MemoryEngine


class _Loop:
    """Keeps callbacks until its next iteration."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def call_soon(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def iterate(self) -> int:
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
        return len(callbacks)


@pytest.fixture
def loop() -> _Loop:
    return _Loop()


@pytest.fixture
def engine(loop: _Loop) -> Iterator[MemoryEngine]:
    opened = MemoryEngine(call_soon=loop.call_soon)
    yield opened
    opened.close()


def _putting(value: bytes) -> Callable[[Transaction], bytes | None]:
    """A step that stores a value at one key, and gives what was there."""

    def step(transaction: Transaction) -> bytes | None:
        before = transaction.get(b"k")
        transaction.put(b"k", value)
        return before

    return step


def _failing(_: Transaction) -> None:
    raise ValueError("no")


def test_steps_of_one_iteration_share_a_commit_in_their_order(engine: MemoryEngine, loop: _Loop) -> None:
    outcomes: list[Any] = []
    for value in (b"1", b"2", b"3"):
        engine.submit(_putting(value), lambda result, error: outcomes.append((result, error)))
    assert not outcomes
    assert engine.read(lambda reader: reader.get(b"k")) is None
    assert loop.iterate() == 1
    assert outcomes == [(None, None), (b"1", None), (b"2", None)]
    assert engine.commits == 1
    assert engine.read(lambda reader: reader.get(b"k")) == b"3"
    assert loop.iterate() == 0


def test_a_step_that_raises_fails_alone(engine: MemoryEngine, loop: _Loop) -> None:
    outcomes: list[Any] = []
    for step in (_putting(b"1"), _failing, _putting(b"2")):
        engine.submit(step, lambda result, error: outcomes.append((result, type(error))))
    loop.iterate()
    assert outcomes == [(None, type(None)), (None, ValueError), (b"1", type(None))]


def test_a_blocking_write_and_other_threads_do_not_wait_for_the_loop(
    engine: MemoryEngine, loop: _Loop
) -> None:
    outcomes: list[Any] = []
    engine.submit(_putting(b"queued"), lambda result, _: outcomes.append(result))
    assert engine.write(_putting(b"written")) is None
    other = threading.Thread(
        target=lambda: engine.submit(_putting(b"other"), lambda result, _: outcomes.append(result))
    )
    other.start()
    other.join()
    assert outcomes == [b"written"]
    loop.iterate()
    assert outcomes == [b"written", b"other"]


def test_what_a_callback_submits_is_for_the_next_iteration(engine: MemoryEngine, loop: _Loop) -> None:
    outcomes: list[Any] = []

    def submit_next(*_: Any) -> None:
        engine.submit(_putting(b"2"), lambda result, _: outcomes.append(result))

    engine.submit(_putting(b"1"), submit_next)
    loop.iterate()
    assert not outcomes
    loop.iterate()
    assert outcomes == [b"1"]


def test_long_steps_leave_the_rest_to_the_next_iteration(
    engine: MemoryEngine, loop: _Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hashrange.storage.sqlite.memory.LOOP_SECONDS_MAX", -1)
    outcomes: list[Any] = []
    for value in (b"1", b"2"):
        engine.submit(_putting(value), lambda result, _: outcomes.append(result))
    loop.iterate()
    assert outcomes == [None]
    loop.iterate()
    assert outcomes == [None, b"1"]


def test_closing_finishes_what_is_queued_and_refuses_the_rest(engine: MemoryEngine, loop: _Loop) -> None:
    outcomes: list[Any] = []
    engine.submit(_putting(b"1"), lambda result, error: outcomes.append((result, error)))
    engine.close()
    assert outcomes == [(None, None)]
    engine.submit(_putting(b"2"), lambda _, error: outcomes.append(type(error)))
    loop.iterate()
    assert outcomes[1:] == [Closed]


def test_a_step_cannot_submit_another(engine: MemoryEngine, loop: _Loop) -> None:
    outcomes: list[Any] = []

    def nested(_: Transaction) -> None:
        engine.submit(_putting(b"1"), lambda *_: None)

    engine.submit(nested, lambda _, error: outcomes.append(str(error)))
    loop.iterate()
    assert outcomes == ["a step may only use its transaction"]
