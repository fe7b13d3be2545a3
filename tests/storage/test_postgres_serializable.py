"""The mode that relies on the database's SERIALIZABLE: what it refuses is run again, up to a limit."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.errors import Conflict
from hashrange.storage.postgres import PostgresEngine, committer
from hashrange.storage.waiting import Waiter
from postgres_server import PostgresServer


@pytest.fixture
def engines(postgres: PostgresServer, schema: str) -> Iterator[list[PostgresEngine]]:
    """Three servers' engines on one database."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                closing(PostgresEngine.open(postgres.url(), schema_name=schema, isolation="serializable"))
            )
            for _ in range(3)
        ]


def test_a_step_that_is_refused_at_its_commit_runs_again(engines: list[Engine]) -> None:
    """Each sees that the other is there and leaves: the second commit is refused, and the step then stays."""
    mine, other, _ = engines
    other.write(lambda tx: (tx.put(b"alice", b"in"), tx.put(b"bob", b"in")))
    runs = []

    def leave(tx: Transaction, me: bytes) -> str:
        both = [tx.get(b"alice"), tx.get(b"bob")] == [b"in", b"in"]
        if both:
            tx.put(me, b"out")
        return "leaves" if both else "stays"

    def first_look_then_other(tx: Transaction) -> str:
        runs.append(1)
        tx.get(b"alice")
        if len(runs) == 1:
            assert other.write(lambda tx: leave(tx, b"alice")) == "leaves"
        return leave(tx, b"bob")

    assert mine.write(first_look_then_other) == "stays"
    assert len(runs) == 2


def test_a_step_that_keeps_being_refused_is_a_conflict(
    engines: list[Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committer, "STEP_ATTEMPTS", 3)
    mine, other, _ = engines
    runs = []

    def always_late(tx: Transaction) -> None:
        runs.append(1)
        count = int(tx.get(b"n") or b"0")
        other.write(lambda tx: tx.put(b"n", b"%d" % (count + 1)))
        tx.put(b"n", b"%d" % (count + 1000))

    with pytest.raises(Conflict):
        mine.write(always_late)
    assert len(runs) == committer.BATCH_ATTEMPTS + 3
    assert other.read(lambda reader: reader.get(b"n")) == b"%d" % len(runs)
    assert mine.write(lambda tx: tx.get(b"n")) == b"%d" % len(runs)


def read_blocking(engine: Engine, look: Callable[[Reader], Any]) -> Any:
    return engine.read(look)


def read_rows(engine: Engine, look: Callable[[Reader], Any]) -> Any:
    waiter: Waiter[Any] = Waiter()
    engine.submit_read(look, waiter.done, reads=(b"batch", b"receipt1"))
    return waiter.wait()


def read_ranges(engine: Engine, look: Callable[[Reader], Any]) -> Any:
    waiter: Waiter[Any] = Waiter()
    engine.submit_read(look, waiter.done)
    return waiter.wait()


@pytest.mark.parametrize("read", [read_blocking, read_rows, read_ranges])
def test_a_read_shows_a_state_of_the_serial_order(
    engines: list[Engine], read: Callable[[Engine, Callable[[Reader], Any]], Any]
) -> None:
    """Who has seen a batch closed has seen all of its receipts: without a serializable read, one could still come."""
    mine, closer, watcher = engines
    closer.write(lambda tx: (tx.put(b"batch", b"1"), [tx.put(b"filler%03d" % n, b"") for n in range(500)]))
    seen: list[tuple[bytes | None, bytes | None]] = []

    def look(reader: Reader) -> tuple[bytes | None, bytes | None]:
        return reader.get(b"batch"), reader.get(b"receipt1")

    def put_receipt(tx: Transaction) -> None:
        batch = tx.get(b"batch") or b""
        if not seen:
            closer.write(lambda tx: tx.put(b"batch", b"%d" % (int(tx.get(b"batch") or b"0") + 1)))
            seen.append(read(watcher, look))
        tx.put(b"receipt" + batch, b"")

    mine.write(put_receipt)
    assert seen == [(b"2", None)]
    assert watcher.read(lambda reader: reader.get(b"receipt1")) is None
    assert watcher.read(lambda reader: reader.get(b"receipt2")) == b""


def test_adds_of_several_servers_to_one_counter_all_get_through(engines: list[Engine]) -> None:
    """They collide where two servers happen to add to the same part of it; then one takes another part."""
    for engine in engines:
        for writer in (engine._committer, engine._undeclared_committer):  # type: ignore[attr-defined]
            writer._shard = 0
    waiters: list[Waiter[None]] = []
    for engine in engines * 20:
        waiters.append(Waiter())
        engine.submit(lambda tx: tx.add(b"c", 1), waiters[-1].done)
    for waiter in waiters:
        waiter.wait()
    assert engines[0].read(lambda reader: reader.counter(b"c")) == 60
