"""Reads on the event loop's thread: the same outcomes, and whatever goes wrong there is left to the threads."""

import asyncio
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import psycopg
import pytest
import uvloop

from hashrange.delivery import deliver_to
from hashrange.storage import layout
from hashrange.storage.engine import Reader
from hashrange.storage.errors import Closed, Unavailable
from hashrange.storage.postgres import PostgresEngine, loop_reader
from hashrange.storage.postgres.lane import Lane
from hashrange.storage.postgres.large_rows import LARGE_BYTES, LargeRows
from hashrange.storage.postgres.leader_reads import LeaderReads
from hashrange.storage.postgres.loop_reader import LoopReader
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from postgres_server import PostgresServer

T = TypeVar("T")
ROWS = [(b"row %02d" % number, b"value %d" % number) for number in range(20)]
KEYS = [key for key, _ in ROWS]
LOOPS: list[Callable[[], asyncio.AbstractEventLoop]] = [uvloop.new_event_loop, asyncio.new_event_loop]


@pytest.fixture(params=LOOPS, ids=["uvloop", "asyncio"])
def run(request: pytest.FixtureRequest) -> Callable[[Awaitable[None]], None]:
    """Run a test on an event loop of each kind."""

    def run(test: Awaitable[None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(asyncio.wait_for(test, 60))

    return run


@asynccontextmanager
async def opened(
    postgres: PostgresServer, schema: str, *, isolation: str = "locking"
) -> AsyncIterator[PostgresEngine]:
    """An engine with a few rows that reads on this loop."""
    loop = asyncio.get_running_loop()
    engine = PostgresEngine.open(
        postgres.url(), schema_name=schema, deliver=deliver_to(loop), isolation=isolation, loop=loop
    )
    try:
        await asyncio.to_thread(_fill, engine)
        for reader in readers(engine):
            await connected(engine, reader)
        yield engine
    finally:
        engine.close()


def _fill(engine: PostgresEngine) -> None:
    done = threading.Event()

    def step(tx: Any) -> None:
        for key, value in ROWS:
            tx.put(key, value)
        tx.add(b"counter", 7)

    engine.submit(step, lambda _result, _error: done.set())
    assert done.wait(30)


def readers(engine: PostgresEngine) -> list[LoopReader]:
    assert engine._loop_readers is not None
    return [engine._loop_readers._rows, engine._loop_readers._ranges]


def lanes(engine: PostgresEngine) -> list[Lane]:
    return [lane for reader in readers(engine) for lane in reader._lanes]


async def connected(engine: PostgresEngine, reader: LoopReader) -> None:
    """Read until all connections of the loop are there."""
    while len(reader._lanes) < reader._lanes_max:
        await read(engine, first_row, more=reader is readers(engine)[1])
        await asyncio.sleep(0.01)


def read(
    engine: PostgresEngine,
    step: Callable[[Reader], T],
    reads: Sequence[bytes] = KEYS[:1],
    *,
    more: bool = False,
) -> asyncio.Future[T]:
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def done(result: Any, error: BaseException | None) -> None:
        assert not future.done(), "told twice"
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    engine.submit_read(step, done, reads=reads, more=more)
    return future


def first_row(reader: Reader) -> bytes | None:
    return reader.get(KEYS[0])


def all_rows(reader: Reader) -> list[tuple[bytes, bytes]]:
    return list(reader.scan(b"row", b"rox"))


def whose_thread(reader: Reader) -> int:
    first_row(reader)
    return threading.get_ident()


@pytest.fixture
def posts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many statements every pipeline of the event loop has."""
    noted: list[int] = []
    post = PipelineConnection.post

    def counted(connection: PipelineConnection, calls: Sequence[Call]) -> bool:
        noted.append(len(calls))
        return post(connection, calls)

    monkeypatch.setattr(PipelineConnection, "post", counted)
    return noted


@pytest.mark.parametrize("isolation", ["locking", "serializable"])
def test_rows_ranges_and_counters_are_read_on_the_loop_s_own_thread(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None], posts: list[int], isolation: str
) -> None:
    async def test() -> None:
        async with opened(postgres, schema, isolation=isolation) as engine:
            posts.clear()
            assert await read(engine, whose_thread) == threading.get_ident()
            assert await read(engine, whose_thread, more=True) == threading.get_ident()
            assert await read(engine, all_rows, more=True) == ROWS
            assert await read(engine, lambda reader: reader.counter(b"counter"), more=True) == 7
            assert posts == [3 if isolation == "serializable" else 1, 3, 4, 4]

    run(test())


def test_steps_that_come_together_share_one_round_trip(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None], posts: list[int]
) -> None:
    async def test() -> None:
        async with opened(postgres, schema) as engine:
            posts.clear()
            same = [read(engine, all_rows, more=True) for _ in range(5)]
            other = [read(engine, lambda reader: list(reader.scan(b"row 1", b"rox")), more=True)]
            assert await asyncio.gather(*same, *other) == [ROWS] * 5 + [ROWS[10:]]
            assert posts == [5]
            posts.clear()
            assert len(await asyncio.gather(*[read(engine, first_row) for _ in range(5)])) == 5
            assert posts == [1]

    run(test())


def test_a_step_that_reads_more_than_it_said_is_run_on_a_thread(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None]
) -> None:
    def step(reader: Reader) -> tuple[int, list[bytes | None]]:
        return threading.get_ident(), [reader.get(key) for key in KEYS]

    async def test() -> None:
        async with opened(postgres, schema) as engine:
            for more in (False, True):
                thread, values = await read(engine, step, more=more)
                assert values == [value for _, value in ROWS]
                assert thread != threading.get_ident()

    run(test())


def test_an_error_of_a_step_is_its_outcome(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None]
) -> None:
    def step(reader: Reader) -> None:
        first_row(reader)
        raise LookupError("its own")

    async def test() -> None:
        async with opened(postgres, schema) as engine:
            for more in (False, True):
                with pytest.raises(LookupError, match="its own"):
                    await read(engine, step, more=more)

    run(test())


def test_more_keys_than_a_socket_takes_at_once(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None]
) -> None:
    keys = [b"%04d" % number + bytes(1900) for number in range(2000)]

    async def test() -> None:
        async with opened(postgres, schema) as engine:
            absent = await read(engine, lambda reader: [reader.get(key) for key in keys], keys)
            assert absent == [None] * len(keys)
            assert await read(engine, whose_thread) == threading.get_ident()

    run(test())


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("under_way", [False, True])
def test_a_lost_connection_is_replaced_and_nobody_notices(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None], *, more: bool, under_way: bool
) -> None:
    async def test() -> None:
        async with opened(postgres, schema) as engine:
            reading = [read(engine, all_rows, KEYS, more=more) for _ in range(3)] if under_way else []
            if under_way:
                await asyncio.sleep(0)  # now it is sent
            for lane in lanes(engine):
                with socket.socket(fileno=os.dup(lane._fileno)) as cut:
                    cut.shutdown(socket.SHUT_RDWR)
            reading.append(read(engine, all_rows, KEYS, more=more))
            assert await asyncio.gather(*reading) == [ROWS] * len(reading)
            for reader in readers(engine):
                await connected(engine, reader)
            assert await read(engine, whose_thread, more=more) == threading.get_ident()

    run(test())


def test_a_session_that_the_server_ends_is_let_go_of_at_once(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None]
) -> None:
    ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY(%s)"

    async def test() -> None:
        async with opened(postgres, schema) as engine:
            pids = [lane._connection._pg.backend_pid for lane in lanes(engine)]
            with psycopg.connect(postgres.url(), autocommit=True) as administrator:
                administrator.execute(ending, (pids,))
            while lanes(engine):  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0.01)
            assert await read(engine, all_rows, more=True) == ROWS

    run(test())


def test_what_the_server_refuses_is_tried_again_on_a_thread(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None]
) -> None:
    async def test() -> None:
        async with opened(postgres, schema) as engine:
            with psycopg.connect(postgres.url()) as other, psycopg.connect(postgres.url()) as administrator:
                other.execute(f"LOCK TABLE {schema}.rows IN ACCESS EXCLUSIVE MODE")
                reading = [read(engine, whose_thread), read(engine, whose_thread, more=True)]
                await asyncio.sleep(0.1)
                for lane in lanes(engine):
                    administrator.execute("SELECT pg_cancel_backend(%s)", (lane._connection._pg.backend_pid,))
                await asyncio.sleep(0.1)
                other.rollback()
                assert threading.get_ident() not in await asyncio.gather(*reading)
            for more in (False, True):  # the same connections are good for the next
                assert await read(engine, whose_thread, more=more) == threading.get_ident()

    run(test())


def test_a_database_that_does_not_answer_is_given_up_after_a_time(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop_reader, "_WATCH_SECONDS", 0.05)

    async def test() -> None:
        async with opened(postgres, schema) as engine:
            with psycopg.connect(postgres.url()) as other:
                other.execute(f"LOCK TABLE {schema}.rows IN ACCESS EXCLUSIVE MODE")
                for lane in lanes(engine):
                    lane._connection.seconds_max = 0.2
                reading: list[asyncio.Future[Any]] = [
                    read(engine, first_row),
                    read(engine, all_rows, more=True),
                ]
                for outcome in await asyncio.gather(*reading, return_exceptions=True):
                    assert isinstance(outcome, Unavailable)
            assert await read(engine, all_rows, more=True) == ROWS

    run(test())


@pytest.mark.parametrize("at", ["when it is sent", "when it comes back"])
def test_nothing_is_read_on_the_loop_while_there_is_doubt(
    postgres: PostgresServer,
    schema: str,
    run: Callable[[Any], None],
    monkeypatch: pytest.MonkeyPatch,
    at: str,
) -> None:
    async def test() -> None:
        async with opened(postgres, schema) as engine:
            for more in (False, True):
                settled = iter([True] if at == "when it comes back" else [])
                monkeypatch.setattr(LeaderReads, "is_settled", property(lambda _, s=settled: next(s, False)))
                assert await read(engine, whose_thread, more=more) != threading.get_ident()

    run(test())


@pytest.mark.parametrize("elsewhere", [False, True])
def test_closing_finishes_what_was_submitted(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None], *, elsewhere: bool
) -> None:
    async def test() -> None:
        async with opened(postgres, schema) as engine:
            under_way = [read(engine, all_rows, KEYS, more=more) for more in (False, True)]
            await asyncio.sleep(0)
            queued = [read(engine, all_rows, KEYS, more=more) for more in (False, True)]
            if elsewhere:
                await asyncio.to_thread(engine.close)
            else:
                engine.close()
            assert await asyncio.gather(*under_way, *queued) == [ROWS] * 4
            for more in (False, True):
                with pytest.raises(Closed):
                    await read(engine, first_row, more=more)

    run(test())


def test_steps_that_say_nothing_or_come_from_other_threads_stay_off_the_loop(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None]
) -> None:
    async def test() -> None:
        async with opened(postgres, schema) as engine:
            assert await read(engine, whose_thread, ()) != threading.get_ident()
            threads: list[int] = []
            done = threading.Event()

            def noted(thread: int | None, _error: BaseException | None) -> None:
                threads.append(thread or 0)
                done.set()

            await asyncio.to_thread(engine.submit_read, whose_thread, noted, reads=KEYS[:1])
            await asyncio.to_thread(done.wait, 10)
            assert threads[0] not in (0, threading.get_ident())

    run(test())


@pytest.mark.parametrize("more", [False, True])
def test_tables_with_large_rows_are_left_to_threads(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None], *, more: bool
) -> None:
    def step(reader: Reader) -> int:
        if more:
            list(reader.scan(b"large", b"largf"))
        else:
            reader.get(b"large 1")
        return threading.get_ident()

    async def test() -> None:
        async with opened(postgres, schema) as engine:
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            put = lambda tx: tx.put(b"large 1", bytes(100_000))  # noqa: E731
            engine.submit(put, lambda _result, _error: written.set_result(None))
            await written
            reads = KEYS[:1] if more else [b"large 1"]
            assert await read(engine, step, reads, more=more) == threading.get_ident()  # it did not know
            await asyncio.sleep(0.05)
            assert await read(engine, step, reads, more=more) != threading.get_ident()
            assert await read(engine, whose_thread, more=more) == threading.get_ident()

    run(test())


def test_large_rows_are_forgotten_after_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    large = LargeRows()
    for size, is_large in ((LARGE_BYTES, False), (LARGE_BYTES + 1, True)):
        large.learn(b"table 1 key", size)
        assert large.covers([b"other", b"table 1 other"]) is is_large
    assert not large.covers([b"table 2 key"])
    for number in range(5000):
        large.learn(b"%07d" % number, LARGE_BYTES + 1)
    assert len(large._until) <= 1024
    later = time.monotonic() + 61
    monkeypatch.setattr("time.monotonic", lambda: later)
    assert not large.covers([b"0004999"])


def test_pages_in_one_piece_are_read_on_the_loop(
    postgres: PostgresServer, schema: str, run: Callable[[Any], None]
) -> None:
    prefix = layout.rows_prefix(1, layout.BASE_SLOT) + b"%08d" % 1 + b"\0\1p"
    start, end = prefix, prefix + b"\xff"

    def step(reader: Reader) -> tuple[int, int]:
        if reader.joined is None:
            return len(list(reader.scan(start, end))), 0
        page = reader.joined(start, end, head=4, limit=128)
        count = len(list(reader.scan(start, end))) if page is None else page.rows
        return count, threading.get_ident()

    async def test() -> None:
        async with opened(postgres, schema) as engine:
            put = lambda tx: [tx.put(prefix + b"%04d" % n, b"head" + bytes(400)) for n in range(100)]  # noqa: E731
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            engine.submit(put, lambda _result, _error: written.set_result(None))
            await written
            for _ in range(3):  # each connection learns by itself how large rows are
                lane_reads = [await read(engine, step, more=True) for _ in range(3)]
            assert lane_reads == [(100, threading.get_ident())] * 3

    run(test())
