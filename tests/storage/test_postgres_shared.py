"""Several servers on one database: their steps are serializable among each other, not only each server's own."""

import queue
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

import pytest

from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.postgres import PostgresEngine
from postgres_server import PostgresServer

LAST = b"\xff" * 9
READ_MOSTLY = b"\x03"
Step = Callable[..., Any]


MODES = {
    "locking": ("locking",) * 3,
    "serializable": ("serializable",) * 3,
    # As it is while servers are restarted one by one with the other setting.
    "mixed": ("locking", "serializable", "locking"),
}


@pytest.fixture(
    params=["locking", *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("serializable", "mixed"))]
)
def engines(request: pytest.FixtureRequest, postgres: PostgresServer, schema: str) -> Iterator[list[Engine]]:
    """Three servers' engines on one database."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                closing(
                    PostgresEngine.open(
                        postgres.url(), schema_name=schema, read_mostly=(READ_MOSTLY,), isolation=isolation
                    )
                )
            )
            for isolation in MODES[request.param]
        ]


def together(works: list[Callable[[], None]], seconds: float = 60) -> None:
    """Run all at once; what one of them raises is raised here."""
    errors: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def write(engine: Engine, step: Step, reads: tuple[bytes, ...] = ()) -> Any:
    """A write with hints, waited for."""
    over = threading.Event()
    outcome: list[Any] = []

    def done(result: Any, error: BaseException | None) -> None:
        outcome.append((result, error))
        over.set()

    engine.submit(step, done, reads=reads)
    assert over.wait(60)
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


@pytest.mark.parametrize("declared", [False, True])
def test_a_counter_kept_in_a_row_counts_everyone(engines: list[Engine], declared: bool) -> None:
    def increment(tx: Transaction) -> int:
        count = int(tx.get(b"n") or b"0") + 1
        tx.put(b"n", b"%d" % count)
        return count

    seen: list[int] = []

    def work(engine: Engine) -> None:
        seen.extend(write(engine, increment, (b"n",) if declared else ()) for _ in range(25))

    together([partial(work, engine) for engine in engines for _ in range(3)])
    assert sorted(seen) == list(range(1, 226))


@pytest.mark.parametrize("declared", [False, True])
def test_transfers_keep_the_sum_and_every_snapshot_shows_it(engines: list[Engine], declared: bool) -> None:
    accounts = [b"account%d" % number for number in range(5)]
    engines[0].write(lambda tx: [tx.put(account, b"100") for account in accounts])
    stop = threading.Event()

    def transfer(engine: Engine, seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(40):
            source, target = chance.sample(accounts, 2)
            reads = (source, target) if declared else ()
            write(engine, partial(move, source=source, target=target), reads)

    def watch(engine: Engine) -> None:
        while not stop.is_set():
            assert engine.read(lambda reader: sum(int(reader.get(each) or b"") for each in accounts)) == 500
            rows = engine.read(lambda reader: list(reader.scan(b"account", b"b")))
            assert sum(int(value) for _, value in rows) == 500

    watcher = threading.Thread(target=watch, args=(engines[0],))
    watcher.start()
    together([partial(transfer, engine, seed) for seed, engine in enumerate(engines * 2)])
    stop.set()
    watcher.join(60)
    assert sum(int(value) for _, value in engines[1].read(lambda r: list(r.scan(b"account", b"b")))) == 500


def move(tx: Transaction, *, source: bytes, target: bytes) -> None:
    for account, amount in ((source, -7), (target, 7)):
        tx.put(account, b"%d" % (int(tx.get(account) or b"0") + amount))


def race(engines: list[Engine], steps: list[Step], rounds: int = 60) -> list[Counter[str]]:
    """Run steps on different engines at the same moment, over and over; count outcomes by round."""
    counts = []
    for number in range(rounds):
        barrier = threading.Barrier(len(steps))
        outcomes: Counter[str] = Counter()

        def work(
            engine: Engine,
            step: Step,
            number: int = number,
            barrier: threading.Barrier = barrier,
            outcomes: Counter[str] = outcomes,
        ) -> None:
            barrier.wait(60)
            outcomes[engine.write(partial(step, prefix=b"%03d" % number))] += 1

        together([partial(work, *pair) for pair in zip(engines, steps, strict=False)])
        counts.append(outcomes)
    return counts


def test_write_skew_on_rows_that_are_there(engines: list[Engine]) -> None:
    """Each may leave if the other stays."""
    names = (b"alice", b"bob")
    engines[0].write(
        lambda tx: [tx.put(b"%03d" % number + name, b"in") for number in range(60) for name in names]
    )

    def leave(tx: Transaction, *, prefix: bytes, me: bytes) -> str:
        if [tx.get(prefix + name) for name in names] != [b"in", b"in"]:
            return "stays"
        tx.put(prefix + me, b"out")
        return "leaves"

    counts = race(engines, [partial(leave, me=name) for name in names])
    assert all(count == {"leaves": 1, "stays": 1} for count in counts), counts


def test_write_skew_on_rows_that_are_missing(engines: list[Engine]) -> None:
    """Each may come if the other has not."""
    names = (b"alice", b"bob")

    def come(tx: Transaction, *, prefix: bytes, me: bytes) -> str:
        if any(tx.get(prefix + name) is not None for name in names):
            return "waits"
        tx.put(prefix + me, b"in")
        return "comes"

    counts = race(engines, [partial(come, me=name) for name in names])
    assert all(count == {"comes": 1, "waits": 1} for count in counts), counts


def test_write_skew_on_ranges(engines: list[Engine]) -> None:
    """Each may come if the room is empty."""
    names = (b"alice", b"bob")

    def come(tx: Transaction, *, prefix: bytes, me: bytes) -> str:
        if list(tx.scan(prefix, prefix + b"\xff")):
            return "waits"
        tx.put(prefix + me, b"in")
        return "comes"

    counts = race(engines, [partial(come, me=name) for name in names])
    assert all(count == {"comes": 1, "waits": 1} for count in counts), counts


@pytest.mark.parametrize("known", [False, True])
def test_write_skew_between_a_range_and_a_row(engines: list[Engine], known: bool) -> None:
    """Who counts a range writes the sum down; who comes into the range later must have seen it."""
    if known:
        engines[0].write(lambda tx: [tx.put(b"sum%03d" % number, b"open") for number in range(60)])

    def count(tx: Transaction, *, prefix: bytes) -> str:
        rows = list(tx.scan(prefix, prefix + b"\xff"))
        time.sleep(random.uniform(0, 0.003))
        tx.put(b"sum" + prefix, b"%d" % len(rows))
        return f"counted {len(rows)}"

    def come(tx: Transaction, *, prefix: bytes) -> str:
        if tx.get(b"sum" + prefix) not in (None, b"open"):
            return "too late"
        tx.put(prefix + b"carol", b"in")
        return "in time"

    counts = race(engines, [count, come])
    good = ({"counted 0": 1, "too late": 1}, {"counted 1": 1, "in time": 1})
    assert all(each in good for each in counts), counts


def test_write_skew_on_rows_behind_the_fence(engines: list[Engine]) -> None:
    """A step that relies on a version does not commit beside one that changes it."""

    def use(tx: Transaction, *, prefix: bytes) -> str:
        if tx.get(READ_MOSTLY + prefix) is not None:
            return "late"
        tx.put(b"used" + prefix, b"")
        return "used"

    def change(tx: Transaction, *, prefix: bytes) -> str:
        used = tx.get(b"used" + prefix) is not None
        tx.put(READ_MOSTLY + prefix, b"2")
        return "saw use" if used else "saw nothing"

    counts = race(engines, [use, change])
    good = ({"used": 1, "saw use": 1}, {"late": 1, "saw nothing": 1})
    assert all(count in good for count in counts), counts


def test_numbers_from_a_counter_are_given_out_once(engines: list[Engine]) -> None:
    def take(tx: Transaction) -> int:
        tx.add(b"number", 1)
        return tx.counter(b"number")

    seen: list[int] = []
    together(
        [lambda e=engine: seen.extend(e.write(take) for _ in range(15)) for engine in engines for _ in "ab"]
    )
    assert sorted(seen) == list(range(1, 91))


def test_adds_to_one_counter_do_not_get_lost_and_zero_takes_no_space(
    engines: list[Engine], postgres: PostgresServer, schema: str
) -> None:
    def work(engine: Engine, amount: int) -> None:
        for _ in range(30):
            engine.write(lambda tx: tx.add(b"c", amount))
            engine.maintain(1)

    together([partial(work, engine, amount) for engine, amount in zip(engines * 2, range(1, 7), strict=True)])
    assert engines[0].read(lambda reader: reader.counter(b"c")) == 30 * 21
    together(
        [partial(work, engine, -amount) for engine, amount in zip(engines * 2, range(1, 7), strict=True)]
    )
    engines[0].maintain(1)
    assert postgres.execute(f"SELECT count(*) FROM {schema}.counters") == [(0,)]


def test_a_write_is_seen_by_every_server_as_soon_as_it_is_acknowledged(engines: list[Engine]) -> None:
    for number in range(60):
        writer, reader = random.sample(engines, 2)
        writer.write(lambda tx, number=number: tx.put(b"k", b"%d" % number))
        assert reader.read(lambda snapshot: snapshot.get(b"k")) == b"%d" % number
        seen: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        reader.submit_read(
            lambda snapshot: snapshot.get(b"k"),
            lambda result, _error, seen=seen: seen.put(result),
            reads=(b"k",),
        )
        assert seen.get(timeout=60) == b"%d" % number


def test_clearing_and_writing_the_same_range_at_once(engines: list[Engine]) -> None:
    def fill(engine: Engine, start: int) -> None:
        for number in range(start, 60, 2):
            engine.write(lambda tx, number=number: (tx.put(b"row%03d" % number, b"x"), tx.add(b"rows", 1)))

    def clear(engine: Engine) -> None:
        for _ in range(20):
            engine.write(lambda tx: tx.add(b"rows", -tx.clear(b"row", b"s", limit=7)))

    together([partial(fill, engines[0], 0), partial(fill, engines[1], 1), partial(clear, engines[2])])
    left, count = engines[0].read(lambda reader: (list(reader.scan(b"row", b"s")), reader.counter(b"rows")))
    assert len(left) == count
