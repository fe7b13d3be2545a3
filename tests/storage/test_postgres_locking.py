"""The corners of the proof in docs/design/008-postgres-isolation.md, each with the worst moment brought about."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import Any

import psycopg
import pytest
from psycopg.pq.abc import PGresult

from hashrange.storage.checksums import counter_complement
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.postgres import PostgresEngine, arrays, committer, statements
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from hashrange.storage.waiting import Waiter
from postgres_server import PostgresServer

BLOCKED_SECONDS = 0.4  # what has not happened by then is taken to wait for a lock


@pytest.fixture
def engines(postgres: PostgresServer, schema: str) -> Iterator[list[PostgresEngine]]:
    """Two servers' engines on one database."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(closing(PostgresEngine.open(postgres.url(), schema_name=schema)))
            for _ in range(2)
        ]


@pytest.fixture
def outsider(postgres: PostgresServer, schema: str) -> Iterator[psycopg.Connection]:
    """A connection of the test's own, with a transaction open."""
    with psycopg.connect(postgres.url()) as connection:
        connection.execute(f'SET search_path = "{schema}"'.encode())
        yield connection
        connection.rollback()


def meanwhile(work: Callable[[], Any]) -> threading.Thread:
    """Do something on a thread; return when it is done or seems to wait for a lock."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(BLOCKED_SECONDS)
    return thread


def put_b(engine: PostgresEngine) -> None:
    engine.write(lambda tx: tx.put(b"b", b""))


def test_what_a_step_saw_of_its_batch_goes_with_what_it_found_missing(engines: list[PostgresEngine]) -> None:
    """A step that sees the batch's first write but not `b` contradicts a snapshot that shows `b` and not that write."""
    mine, other = engines
    held = threading.Event()
    snapshots: list[tuple[bool, bool]] = []

    def look(reader: Reader) -> tuple[bool, bool]:
        return reader.get(b"a") is not None, reader.get(b"b") is not None

    def look_in_batch(tx: Transaction) -> tuple[bool, bool]:
        seen = look(tx)
        if not snapshots:
            put_b(other)
            snapshots.append(other.read(look))
        return seen

    waiter: Waiter[tuple[bool, bool]] = Waiter()
    mine.submit(lambda _tx: held.wait(60), lambda _result, _error: None)
    mine.submit(lambda tx: tx.put(b"a", b""), lambda _result, _error: None)
    mine.submit(look_in_batch, waiter.done)
    held.set()
    assert waiter.wait() == (True, True)
    assert snapshots == [(False, True)]


def see_range(tx: Transaction) -> bool:
    return bool(list(tx.scan(b"range", b"rangf")))


def see_counter(tx: Transaction) -> bool:
    return tx.counter(b"c") != 0


@pytest.mark.parametrize("see_after", [see_range, see_counter])
def test_what_a_step_saw_after_a_missing_row_goes_with_it(
    engines: list[PostgresEngine], see_after: Callable[[Transaction], bool]
) -> None:
    """Who wrote the second thing had seen `b`, so a step that sees the second thing must see `b`."""
    mine, other = engines
    runs = []

    def write_both() -> None:
        put_b(other)
        other.write(lambda tx: (tx.get(b"b"), tx.put(b"range1", b""), tx.add(b"c", 1)))

    def look(tx: Transaction) -> tuple[bool, bool]:
        runs.append(1)
        first = tx.get(b"b") is not None
        if len(runs) == 1:
            write_both()
        return first, see_after(tx)

    assert mine.write(look) == (True, True)


def test_a_range_stays_as_it_was_seen_until_the_commit(
    engines: list[PostgresEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody may see a row that came into the range and not yet the sum of the range without it."""
    mine, other = engines
    commit = committer.commit
    snapshots: list[tuple[bool, bool]] = []
    threads: list[threading.Thread] = []

    def commit_late(*arguments: Any) -> None:
        if not snapshots:
            snapshots.append((False, False))
            threads.append(meanwhile(lambda: other.write(lambda tx: tx.put(b"range1", b""))))
            snapshots[0] = other.read(lambda r: (r.get(b"range1") is not None, r.get(b"sum") is not None))
        commit(*arguments)

    monkeypatch.setattr(committer, "commit", commit_late)
    mine.write(lambda tx: tx.put(b"sum", b"%d" % len(list(tx.scan(b"range", b"rangf")))))
    threads[0].join(60)
    assert snapshots == [(False, False)]
    assert other.read(lambda reader: reader.get(b"sum")) == b"0"


def test_a_row_that_is_deleted_unseen_does_not_come_up_before_the_commit(
    engines: list[PostgresEngine], outsider: psycopg.Connection
) -> None:
    """Whoever saw the row, but nothing else of the step, must find it gone in the end."""
    mine, other = engines
    mine.write(lambda tx: tx.counter(b"c"))
    outsider.execute(
        "SELECT n FROM counters WHERE k = 'c' FOR UPDATE"
    )  # where the step will wait, before its commit
    deleting = meanwhile(lambda: mine.write(lambda tx: (tx.delete(b"k"), tx.put(b"m", b""), tx.add(b"c", 1))))
    putting = meanwhile(lambda: other.write(lambda tx: tx.put(b"k", b"")))
    was_there, step_was_there = other.read(lambda r: (r.get(b"k") is not None, r.get(b"m") is not None))
    outsider.rollback()
    deleting.join(60)
    putting.join(60)
    assert not step_was_there
    assert not was_there or other.read(lambda reader: reader.get(b"k")) is None


def test_a_row_that_is_deleted_though_its_range_was_empty_is_not_somebody_elses(
    engines: list[PostgresEngine],
) -> None:
    mine, other = engines
    runs = []

    def clean(tx: Transaction) -> int:
        runs.append(1)
        rows = list(tx.scan(b"range", b"rangf"))
        if len(runs) == 1:
            other.write(lambda tx: tx.put(b"range1", b""))
        tx.delete(b"range1")
        return len(rows)

    assert mine.write(clean) == 1


def test_a_number_is_given_once_though_its_counter_is_dropped_at_the_same_time(
    engines: list[PostgresEngine], outsider: psycopg.Connection
) -> None:
    mine, other = engines
    mine.write(lambda tx: tx.counter(b"n"))
    outsider.execute("SELECT n FROM counters WHERE k = 'n' FOR UPDATE")
    runs = []
    numbers: list[int] = []

    def take(tx: Transaction) -> int:
        tx.add(b"n", 1)
        return tx.counter(b"n")

    def take_first(tx: Transaction) -> int:
        runs.append(1)
        number = take(tx)
        if len(runs) == 1:
            numbers.append(other.write(take))
        return number

    taking = meanwhile(lambda: numbers.append(mine.write(take_first)))
    outsider.execute("DELETE FROM counters WHERE k = 'n'")
    outsider.commit()
    taking.join(60)
    numbers.append(other.write(take))
    assert len(set(numbers)) == len(numbers)


def test_dropping_a_counter_does_not_take_a_later_add_along(
    engines: list[PostgresEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = engines
    mine._undeclared_committer._shard, other._undeclared_committer._shard = 0, 1
    mine.write(lambda tx: tx.add(b"c", 1))
    mine.write(lambda tx: tx.add(b"c", -1))
    threads: list[threading.Thread] = []
    read_int8 = arrays.read_int8

    def add_meanwhile(value: bytes | None) -> int:
        if not threads:
            threads.append(meanwhile(lambda: other.write(lambda tx: tx.add(b"c", 5))))
        return read_int8(value)

    monkeypatch.setattr("hashrange.storage.postgres.counters.read_int8", add_meanwhile)
    mine.maintain(1)
    threads[0].join(60)
    assert mine.read(lambda reader: reader.counter(b"c")) == 5


def test_dropping_a_counter_that_somebody_else_drops_does_not_take_a_later_add_along(
    engines: list[PostgresEngine], outsider: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows are dropped between being made and being locked, and another one comes up after that."""
    mine, other = engines
    mine.write(lambda tx: tx.add(b"c", 1))
    mine.write(lambda tx: tx.add(b"c", -1))
    outsider.execute(
        "INSERT INTO counters SELECT 'c', n, 0, %s FROM generate_series(0, 15) AS shards (n) ON CONFLICT DO NOTHING",
        (counter_complement(b"c", 0),),
    )
    outsider.commit()
    run = PipelineConnection.run

    def disturbed(self: PipelineConnection, calls: Sequence[Call]) -> list[PGresult]:
        if calls[-1].name != statements.COUNTER_LOCK:
            return run(self, calls)
        monkeypatch.setattr(PipelineConnection, "run", run)
        before = run(self, calls[:-1])
        outsider.execute("DELETE FROM counters WHERE k = 'c'")
        outsider.commit()
        results = [*before, *run(self, calls[-1:])]
        other.write(lambda tx: tx.add(b"c", 5))
        return results

    monkeypatch.setattr(PipelineConnection, "run", disturbed)
    mine.maintain(1)
    assert PipelineConnection.run is run
    assert mine.read(lambda reader: reader.counter(b"c")) == 5
