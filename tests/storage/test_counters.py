"""Counters: commutative sums beside the rows."""

import threading
from collections.abc import Callable

from hashrange.storage.engine import Engine, Transaction


def value(engine: Engine, key: bytes) -> int:
    return engine.read(lambda reader: reader.counter(key))


def test_a_counter_starts_at_zero_and_adds_up(engine: Engine) -> None:
    assert value(engine, b"c") == 0
    for amount in (5, -7, 0, 2**40):
        engine.write(lambda tx, amount=amount: tx.add(b"c", amount))
    assert value(engine, b"c") == 2**40 - 2


def test_a_counter_is_not_a_row(engine: Engine) -> None:
    engine.write(lambda tx: (tx.add(b"c", 5), tx.put(b"c", b"row")))
    assert engine.read(lambda reader: (reader.counter(b"c"), reader.get(b"c"))) == (5, b"row")
    assert engine.read(lambda reader: list(reader.scan(b"", b"z"))) == [(b"c", b"row")]


def test_a_transaction_sees_its_own_adds(engine: Engine) -> None:
    engine.write(lambda tx: tx.add(b"c", 5))

    def step(tx: Transaction) -> list[int]:
        seen = [tx.counter(b"c"), tx.counter(b"d")]
        tx.add(b"c", 2)
        tx.add(b"c", 3)
        tx.add(b"d", -1)
        return [*seen, tx.counter(b"c"), tx.counter(b"d")]

    assert engine.write(step) == [5, 0, 10, -1]
    assert (value(engine, b"c"), value(engine, b"d")) == (10, -1)


def test_a_step_that_raises_adds_nothing(engine: Engine) -> None:
    def step(tx: Transaction) -> None:
        tx.add(b"c", 1)
        tx.scan(b"", b"z")
        tx.add(b"c", 1)
        raise KeyError

    errors: list[BaseException | None] = []
    engine.submit(step, lambda _result, error: errors.append(error))
    engine.write(lambda tx: tx.add(b"c", 10))
    assert isinstance(errors[0], KeyError)
    assert value(engine, b"c") == 10


def test_adds_from_many_threads_all_count(engine: Engine) -> None:
    def work() -> None:
        for _ in range(50):
            engine.write(lambda tx: (tx.add(b"c", 3), tx.add(b"c", -1)))

    run_together([work] * 6)
    assert value(engine, b"c") == 6 * 50 * 2


def test_a_counter_back_at_zero_is_forgotten(engine: Engine) -> None:
    engine.write(lambda tx: (tx.add(b"c", 5), tx.add(b"d", 1)))
    engine.write(lambda tx: tx.add(b"c", -tx.counter(b"c")))
    engine.maintain(1)
    assert (value(engine, b"c"), value(engine, b"d")) == (0, 1)
    engine.write(lambda tx: tx.add(b"c", 4))
    assert value(engine, b"c") == 4


def run_together(works: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
