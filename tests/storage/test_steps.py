"""Steps: isolated from each other, acknowledged once and in order, readable at once."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from hashrange.storage.engine import Done, Engine, Reader, Transaction
from hashrange.storage.errors import StorageError

Step = Callable[[Transaction], object]
LAST = b"\xff" * 9


class Boom(Exception):
    """What a failing step raises here."""


def rows(engine: Engine) -> list[tuple[bytes, bytes]]:
    return engine.read(lambda reader: list(reader.scan(b"", LAST)))


def test_a_result_comes_back(engine: Engine) -> None:
    assert engine.write(lambda _tx: {"any": "thing"}) == {"any": "thing"}
    assert engine.write(lambda _tx: None) is None


def test_a_steps_exception_is_its_outcome(engine: Engine) -> None:
    def step(tx: Transaction) -> None:
        tx.put(b"k", b"v")
        raise Boom("why")

    with pytest.raises(Boom, match="why"):
        engine.write(step)
    assert rows(engine) == []


def write_then_raise(tx: Transaction) -> None:
    tx.put(b"a", b"bad")
    tx.delete(b"b")
    tx.put(b"c", b"bad")
    raise Boom


def write_scan_then_raise(tx: Transaction) -> None:
    tx.put(b"a", b"bad")
    tx.delete(b"b")
    next(tx.scan(b"", LAST))
    tx.put(b"c", b"bad")
    raise Boom


def clear_then_raise(tx: Transaction) -> None:
    assert tx.clear(b"", LAST, limit=99) >= 2
    tx.put(b"c", b"bad")
    raise Boom


def change_other_rows_then_raise(tx: Transaction) -> None:
    tx.put(b"b", b"bad")
    tx.clear(b"a", b"b", limit=1)
    raise Boom


@pytest.mark.parametrize(
    "bad", [write_then_raise, write_scan_then_raise, clear_then_raise, change_other_rows_then_raise]
)
def test_a_failing_step_leaves_nothing_and_harms_no_neighbour(engine: Engine, bad: Step) -> None:
    outcomes: list[object] = []

    def done(result: object, error: BaseException | None) -> None:
        outcomes.append(type(error) if error else result)

    def count(tx: Transaction) -> int:
        return sum(1 for _ in tx.scan(b"", LAST))

    with paused(engine, done):
        engine.submit(lambda tx: (tx.put(b"a", b"1"), tx.put(b"b", b"1"), "first")[2], done)
        engine.submit(bad, done)
        engine.submit(lambda tx: (tx.put(b"d", tx.get(b"a") or b""), tx.get(b"c"))[1], done)
        engine.submit(bad, done)
        engine.submit(count, done)
    engine.write(lambda _tx: None)
    assert outcomes == ["paused", "first", Boom, None, Boom, 3]
    assert rows(engine) == [(b"a", b"1"), (b"b", b"1"), (b"d", b"1")]


class paused:  # noqa: N801 - used like a function
    """Hold the writer in a step while more are submitted, so that these share a commit."""

    def __init__(self, engine: Engine, done: Done[Any]) -> None:
        self.engine, self.done, self.go = engine, done, threading.Event()

    def __enter__(self) -> None:
        inline = type(self.engine).__name__ == "MemoryEngine"
        self.engine.submit(lambda _tx: "paused" if inline or self.go.wait(60) else "late", self.done)

    def __exit__(self, *_exception: object) -> None:
        self.go.set()


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (lambda tx: tx.put(b"k", "text"), TypeError),
        (lambda tx: tx.add(b"k", 2**63), OverflowError),
        (lambda tx: tx.get(object()), TypeError),
        (lambda tx: tx.delete([]), TypeError),
        (lambda tx: next(tx.scan(b"b", b"a")), StopIteration),
    ],
)
def test_nonsense_harms_only_its_own_step(engine: Engine, bad: Step, error: type[Exception]) -> None:
    outcomes: list[object] = []

    def done(result: object, failure: BaseException | None) -> None:
        outcomes.append(type(failure) if failure else result)

    with paused(engine, done):
        engine.submit(lambda tx: tx.put(b"a", b"1"), done)
        engine.submit(bad, done)
        engine.submit(lambda tx: tx.put(b"b", b"1"), done)
    engine.write(lambda _tx: None)
    assert outcomes == ["paused", None, error, None]
    assert [key for key, _ in rows(engine)] == [b"a", b"b"]


def test_a_scan_does_not_outlive_its_step(engine: Engine) -> None:
    engine.write(lambda tx: [tx.put(b"%d" % number, b"v") for number in range(5)])
    kept = [engine.read(lambda reader: reader.scan(b"", LAST)), engine.write(lambda tx: tx.scan(b"", LAST))]
    outcomes: list[object] = []

    def done(result: object, error: BaseException | None) -> None:
        outcomes.append(type(error) if error else result)

    for scan in kept:
        with pytest.raises(StorageError):
            engine.read(lambda _reader, scan=scan: next(scan))
        outcomes.clear()
        with paused(engine, done):
            engine.submit(lambda tx: tx.put(b"before", b"v"), done)
            engine.submit(lambda _tx, scan=scan: next(scan), done)
            engine.submit(lambda tx: tx.get(b"before"), done)
        engine.write(lambda _tx: None)
        assert outcomes == ["paused", None, StorageError, b"v"]


def test_a_commit_that_cannot_be_stored_is_undone_and_the_next_one_works(engine: Engine) -> None:
    for _ in range(2):
        engine.write(lambda tx: tx.add(b"c", 2**62 - 1))
    for _ in range(2):
        with pytest.raises(StorageError):
            engine.write(lambda tx: (tx.put(b"k", b"v"), tx.add(b"c", 2**62)))
        assert rows(engine) == []
    engine.write(lambda tx: tx.put(b"k", b"v"))
    assert engine.read(lambda reader: (reader.get(b"k"), reader.counter(b"c"))) == (b"v", 2**63 - 2)


def test_done_is_called_once_each_in_the_order_of_submission(engine: Engine) -> None:
    calls: list[int | None] = []
    for number in range(300):
        engine.submit(
            lambda tx, number=number: tx.put(b"k", b"%d" % number) or number,
            lambda result, _error: calls.append(result),
        )
    assert engine.write(lambda tx: tx.get(b"k")) == b"299"
    assert calls == list(range(300))


def test_when_done_is_called_every_reader_sees_the_write(engine: Engine) -> None:
    seen: list[bool] = []
    over = threading.Event()

    def done(number: int, _result: object, error: BaseException | None) -> None:
        assert error is None
        seen.append(engine.read(lambda reader: reader.get(b"%d" % number)) is not None)
        if len(seen) == 50:
            over.set()

    for number in range(50):
        engine.submit(lambda tx, number=number: tx.put(b"%d" % number, b"x"), partial(done, number))
    assert over.wait(60)
    assert all(seen)


def test_a_callback_may_submit(engine: Engine) -> None:
    over = threading.Event()

    def again(left: int, _result: object, _error: BaseException | None) -> None:
        if left:
            engine.submit(lambda tx: tx.add(b"c", 1), partial(again, left - 1))
        else:
            over.set()

    again(20, None, None)
    assert over.wait(60)
    assert engine.read(lambda reader: reader.counter(b"c")) == 20


def test_a_callback_that_raises_stops_nobody(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    def done(_result: object, _error: BaseException | None) -> None:
        raise Boom

    engine.submit(lambda tx: tx.put(b"a", b"1"), done)
    engine.submit(lambda tx: tx.put(b"b", b"1"), done)
    engine.write(lambda tx: tx.put(b"c", b"1"))
    assert [key for key, _ in rows(engine)] == [b"a", b"b", b"c"]
    assert "callback" in caplog.text


def test_increments_from_many_threads_are_serial(engine: Engine) -> None:
    def increment(tx: Transaction) -> int:
        count = int(tx.get(b"n") or b"0") + 1
        tx.put(b"n", b"%d" % count)
        return count

    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.extend(engine.write(increment) for _ in range(40)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(results) == list(range(1, 241))


def test_a_read_sees_one_snapshot_while_others_write(engine: Engine) -> None:
    """A transfer keeps the sum; whoever mixes two snapshots sees another sum."""
    engine.write(lambda tx: [tx.put(b"account%d" % number, b"100") for number in range(4)])
    until = time.monotonic() + 0.5
    stop = threading.Event()

    def transfer(number: int) -> None:
        while not stop.is_set():
            engine.write(lambda tx, number=number: move(tx, number % 4, (number + 1) % 4))
            number += 1

    threads = [threading.Thread(target=transfer, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    try:
        while time.monotonic() < until:
            assert engine.read(sum_by_get) == 400
            assert engine.read(sum_by_scan) == 400
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)


def move(tx: Transaction, source: int, target: int) -> None:
    for number, amount in ((source, -7), (target, 7)):
        key = b"account%d" % number
        tx.put(key, b"%d" % (int(tx.get(key) or b"0") + amount))
    tx.add(b"moves", 1)


def sum_by_get(reader: Reader) -> int:
    total = 0
    for number in range(4):
        total += int(reader.get(b"account%d" % number) or b"0")
        time.sleep(0.0002)
    return total


def sum_by_scan(reader: Reader) -> int:
    reader.counter(b"moves")
    time.sleep(0.0002)
    first = sum(int(value) for _, value in reader.scan(b"account", b"b"))
    assert first == sum_by_get(reader)
    return first


def test_a_read_may_be_nested_in_a_read(engine: Engine) -> None:
    engine.write(lambda tx: tx.put(b"a", b"1"))

    def outer(reader: Reader) -> tuple[object, ...]:
        first = reader.scan(b"", LAST)
        inner = engine.read(lambda other: (list(other.scan(b"", LAST)), other.get(b"a")))
        return next(first), inner, reader.get(b"a")

    assert engine.read(outer) == ((b"a", b"1"), ([(b"a", b"1")], b"1"), b"1")


def test_a_read_that_raises_ends_its_snapshot(engine: Engine) -> None:
    kept: list[object] = []

    def step(reader: Reader) -> None:
        kept.append(reader.scan(b"", LAST))
        reader.get(b"a")
        raise Boom

    with pytest.raises(Boom):
        engine.read(step)
    engine.write(lambda tx: tx.put(b"a", b"new"))
    assert engine.read(lambda reader: reader.get(b"a")) == b"new"


def test_a_step_does_not_see_what_a_failed_one_has_read_of_its_own_writes(engine: Engine) -> None:
    seen: list[bytes | None] = []

    def fail(tx: Transaction) -> None:
        tx.put(b"k", b"discarded")
        assert list(tx.scan(b"a", b"z")) == [(b"k", b"discarded")]
        assert tx.get(b"k") == b"discarded"
        raise Boom

    engine.write(lambda tx: tx.put(b"k", b"old"))
    # Submitted together, so that an engine that commits steps together has both in one commit.
    engine.submit(fail, lambda _result, _error: None)
    engine.submit(lambda tx: tx.get(b"k"), lambda result, _error: seen.append(result))
    engine.write(lambda _tx: None)
    assert seen == [b"old"]
