"""Hints change nothing but the time it takes: steps that declare what they read, too much of it, or too little."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from hashrange.storage.engine import Engine, Reader, Transaction

LAST = b"\xff" * 9


def outcome(start: Callable[[Any], None]) -> Any:
    """Wait for a step; give its result or raise its error."""
    over = threading.Event()
    seen: list[Any] = []
    start(lambda result, error: (seen.append((result, error)), over.set()))
    assert over.wait(60)
    ((result, error),) = seen
    if error is not None:
        raise error
    return result


def write(engine: Engine, step: Callable[[Transaction], Any], *reads: bytes) -> Any:
    return outcome(lambda done: engine.submit(step, done, reads=reads))


def read(engine: Engine, step: Callable[[Reader], Any], *reads: bytes, **options: bool) -> Any:
    return outcome(lambda done: engine.submit_read(step, done, reads=reads, **options))


@pytest.fixture
def filled(engine: Engine) -> Engine:
    """Rows 000 to 099 and a counter."""
    engine.write(
        lambda tx: (tx.add(b"c", 42), *(tx.put(b"%03d" % number, b"v%d" % number) for number in range(100)))
    )
    return engine


@pytest.mark.parametrize("reads", [(), (b"a",), (b"b",), (b"a", b"b", b"never"), (b"a",) * 9, (b"k" * 3000,)])
def test_a_write_does_the_same_whatever_it_declares(engine: Engine, reads: tuple[bytes, ...]) -> None:
    def step(tx: Transaction) -> list[bytes | None]:
        tx.prefetch([b"a", b"d"])
        seen = [tx.get(key) for key in (b"a", b"b", b"c")]
        tx.put(b"a", b"2")
        tx.put(b"b", b"2")
        tx.delete(b"c")
        return seen

    engine.write(lambda tx: (tx.put(b"a", b"1"), tx.put(b"c", b"1")))
    assert write(engine, step, *reads) == [b"1", None, b"1"]
    assert engine.read(lambda reader: list(reader.scan(b"", LAST))) == [(b"a", b"2"), (b"b", b"2")]


def test_rows_read_ahead_are_as_the_step_has_made_them_since(engine: Engine) -> None:
    large, keys = b"x" * 5000, [b"a", b"b", b"c", b"d", b"e", b"a"]

    def step(tx: Transaction) -> list[bytes | None]:
        tx.prefetch(keys)
        tx.put(b"a", b"2")
        tx.delete(b"b")
        seen = [tx.get(key) for key in keys]
        tx.prefetch(keys)
        assert len(list(tx.scan(b"", LAST))) == 3  # a, c and d; the database sees the writes so far
        seen += [tx.get(key) for key in keys]
        tx.prefetch(keys)
        assert tx.clear(b"", b"d", limit=9) == 2
        return seen + [tx.get(key) for key in keys]

    engine.write(lambda tx: [tx.put(key, large if key == b"d" else b"1") for key in keys[:4]])
    as_written = [b"2", None, b"1", large, None, b"2"]
    as_cleared = [None, None, None, large, None, None]
    assert engine.write(step) == [*as_written, *as_written, *as_cleared]


def test_what_a_failed_step_has_read_ahead_does_not_reach_the_next(engine: Engine) -> None:
    def failing(tx: Transaction) -> None:
        tx.prefetch([b"a", b"b"])
        tx.put(b"a", b"2")
        raise ValueError("no")

    engine.write(lambda tx: (tx.put(b"a", b"1"), tx.put(b"b", b"1")))
    with pytest.raises(ValueError, match="no"):
        engine.write(failing)
    engine.write(lambda tx: tx.put(b"b", b"3"))
    assert engine.write(lambda tx: (tx.prefetch([b"a", b"b"]), tx.get(b"a"), tx.get(b"b"))[1:]) == (
        b"1",
        b"3",
    )


def test_declared_steps_commit_in_the_order_of_submission(engine: Engine) -> None:
    calls: list[int | None] = []
    over = threading.Event()

    def done(number: int | None, error: BaseException | None) -> None:
        assert error is None
        calls.append(number)
        if len(calls) == 100:
            over.set()

    for number in range(100):
        engine.submit(
            lambda tx, number=number: (tx.get(b"k"), tx.put(b"k", b"%d" % number), number)[2],
            done,
            reads=(b"k", b"%d" % number),
        )
    assert over.wait(60)
    assert calls == list(range(100))
    assert engine.read(lambda reader: reader.get(b"k")) == b"99"


@pytest.mark.parametrize(
    "options", [{}, {"more": True}, {"eventual": True}, {"more": True, "eventual": True}]
)
@pytest.mark.parametrize("reads", [(), (b"001",), (b"nothing",), (b"001", b"002", b"k" * 3000)])
def test_a_read_gives_the_same_whatever_it_declares(
    filled: Engine, reads: tuple[bytes, ...], options: dict[str, bool]
) -> None:
    def look(reader: Reader) -> list[Any]:
        return [
            reader.get(b"001"),
            reader.get(b"nothing"),
            reader.get(b"k" * 3000),
            [key for key, _ in reader.scan(b"010", b"013")],
            [key for key, _ in reader.scan(b"010", b"013", reverse=True, limit=2)],
            next(reader.scan(b"02", b"03"))[0],
            len(list(reader.scan(b"", LAST))),
            list(reader.scan(b"9", b"1")),
            reader.counter(b"c"),
            reader.counter(b"none"),
        ]

    expected = filled.read(look)
    assert expected[6] == 100
    assert read(filled, look, *reads, **options) == expected


@pytest.mark.parametrize("rows", [0, 1, 24, 25, 26, 27, 60])
@pytest.mark.parametrize("reverse", [False, True])
def test_ranges_of_every_length_are_whole(filled: Engine, rows: int, reverse: bool) -> None:
    end = b"%03d" % rows
    keys = sorted((b"%03d" % number for number in range(rows)), reverse=reverse)
    assert read(filled, lambda reader: [key for key, _ in reader.scan(b"", end, reverse=reverse)]) == keys
    limited = read(
        filled, lambda reader: [key for key, _ in reader.scan(b"", LAST, reverse=False, limit=rows)]
    )
    assert limited == [b"%03d" % number for number in range(rows)]


def test_a_read_that_raises_gives_its_error_and_harms_no_other(filled: Engine) -> None:
    def fail(reader: Reader) -> None:
        reader.get(b"001")
        raise KeyError("why")

    for reads in ((), (b"001",)):
        with pytest.raises(KeyError, match="why"):
            read(filled, fail, *reads)
    assert read(filled, lambda reader: reader.get(b"001"), b"001") == b"v1"


def test_many_reads_at_once_each_get_their_own(filled: Engine) -> None:
    over = threading.Semaphore(0)
    seen: dict[int, Any] = {}

    def done(number: int, result: Any, error: BaseException | None) -> None:
        seen[number] = error or result
        over.release()

    for number in range(200):
        row = number % 100
        step = (
            (lambda reader, row=row: reader.get(b"%03d" % row))
            if number < 100
            else (
                lambda reader, row=row: next(value for _, value in reader.scan(b"%03d" % row, LAST, limit=1))
            )
        )
        filled.submit_read(
            step,
            lambda result, error, number=number: done(number, result, error),
            reads=(b"%03d" % row,) if number < 100 else (),
        )
    for _ in range(200):
        assert over.acquire(timeout=60)
    assert seen == {number: b"v%d" % (number % 100) for number in range(200)}
