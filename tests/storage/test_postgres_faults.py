"""Faults between server and database: passing ones pass unnoticed, and no outcome is reported that is not known."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import psycopg
import pytest

from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.errors import Conflict, Unavailable
from hashrange.storage.postgres import PostgresEngine, committer
from hashrange.storage.postgres import engine as engine_module
from hashrange.storage.waiting import Waiter
from postgres_server import PostgresServer, postgres_server
from tcp_proxy import Proxy
from wiring import eventually

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server that these tests may stop, kill and reconfigure."""
    with postgres_server() as running:
        yield running


@pytest.fixture(params=["locking", pytest.param("serializable", marks=pytest.mark.slow)])
def isolation(request: pytest.FixtureRequest) -> str:
    """What keeps writes apart."""
    return str(request.param)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for answers for three seconds and not for ten."""
    monkeypatch.setattr(engine_module, "ANSWER_SECONDS_MAX", 3.0)
    monkeypatch.setattr(engine_module, "PATIENCE_SECONDS", 3.0)


@pytest.fixture
def engine(server: PostgresServer, hasty: None, isolation: str) -> Iterator[PostgresEngine]:
    with closing(PostgresEngine.open(server.url(), isolation=isolation)) as opened:
        opened.write(lambda tx: (tx.clear(b"", b"\xff", limit=1000), tx.add(b"n", -tx.counter(b"n"))))
        yield opened


@pytest.fixture
def proxy(server: PostgresServer) -> Iterator[Proxy]:
    with closing(Proxy(server.port)) as running:
        yield running


def url_of(proxy: Proxy) -> str:
    return f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres"


def end_sessions(server: PostgresServer) -> None:
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hashrange'"
    )


def increment(tx: Transaction) -> int:
    count = int(tx.get(b"n") or b"0") + 1
    tx.put(b"n", b"%d" % count)
    return count


def test_sessions_that_were_ended_are_replaced_without_a_word(
    engine: PostgresEngine, server: PostgresServer
) -> None:
    for number in range(1, 4):
        assert engine.write(increment) == number
        end_sessions(server)
        assert engine.read(lambda reader: reader.get(b"n")) == b"%d" % number
        end_sessions(server)


def test_a_restart_of_the_database_is_waited_for(engine: PostgresEngine, server: PostgresServer) -> None:
    assert engine.write(increment) == 1
    server.stop()
    seen: list[int] = []
    writer = threading.Thread(target=lambda: seen.append(engine.write(increment)))
    writer.start()
    time.sleep(0.3)
    server.start()
    writer.join(60)
    assert seen == [2]


def await_more(acknowledged: list[int]) -> None:
    before = len(acknowledged)
    assert eventually(lambda: len(acknowledged) >= before + 20)


def test_a_crash_of_the_database_loses_nothing_acknowledged(
    engine: PostgresEngine, server: PostgresServer
) -> None:
    acknowledged: list[int] = []
    unknown = 0
    stop = threading.Event()

    def work() -> None:
        nonlocal unknown
        while not stop.is_set():
            try:
                acknowledged.append(engine.write(increment))
            except Unavailable:
                unknown += 1

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(3):
        await_more(acknowledged)
        server.kill()
        time.sleep(0.05)
        server.start()
    await_more(acknowledged)
    stop.set()
    thread.join(60)
    assert len(acknowledged) == len(set(acknowledged))
    stored = int(engine.read(lambda reader: reader.get(b"n")) or b"0")
    assert max(acknowledged) <= stored <= len(acknowledged) + unknown


def test_a_commit_whose_answer_is_lost_is_neither_repeated_nor_reported_as_failed(
    server: PostgresServer, proxy: Proxy, hasty: None, isolation: str
) -> None:
    """The commit goes through, its answer does not: whoever repeats it counts twice."""
    with closing(PostgresEngine.open(url_of(proxy), isolation=isolation)) as engine:
        engine.write(lambda tx: tx.put(b"n", b"0"))

        def cut_after(tx: Transaction) -> None:
            increment(tx)
            proxy.answers.clear()
            threading.Timer(0.2, lambda: (proxy.cut(), proxy.answers.set())).start()

        with pytest.raises(Unavailable, match="unknown"):
            engine.write(cut_after)
        assert engine.read(lambda reader: reader.get(b"n")) == b"1"


def test_a_transaction_that_is_cut_before_its_commit_is_done_again(
    server: PostgresServer, proxy: Proxy, hasty: None, isolation: str
) -> None:
    with closing(PostgresEngine.open(url_of(proxy), isolation=isolation)) as engine:
        engine.write(lambda tx: tx.put(b"n", b"0"))
        runs = []

        def cut_within(tx: Transaction) -> int:
            tx.get(b"n")
            runs.append(1)
            if len(runs) == 1:
                proxy.cut()
            tx.get(b"other")
            return increment(tx)

        assert engine.write(cut_within) == 1
        assert len(runs) == 2


@pytest.mark.parametrize("cut_at", [1, 2, 3, 30])
def test_a_read_that_loses_its_connection_begins_again(
    server: PostgresServer, proxy: Proxy, hasty: None, cut_at: int, isolation: str
) -> None:
    """Whether it shares its reads with others or is so large by then that it has a snapshot of its own."""
    with closing(PostgresEngine.open(url_of(proxy), isolation=isolation)) as engine:
        engine.write(lambda tx: [tx.put(b"cut%03d" % number, b"%d" % number) for number in range(100)])
        calls = 0
        waiter: Waiter[list[bytes]] = Waiter()

        def step(reader: Reader) -> list[bytes]:
            nonlocal calls
            found = []
            for number in range(0, 100, 10):
                calls += 1
                if calls == cut_at:
                    proxy.cut()
                found += [key for key, _ in reader.scan(b"cut%03d" % number, b"cut%03d" % (number + 10))]
            return found

        engine.submit_read(step, waiter.done)
        assert waiter.wait() == [b"cut%03d" % number for number in range(100)]


def test_what_was_read_counts_though_the_connection_is_lost_by_then(
    server: PostgresServer, proxy: Proxy, hasty: None
) -> None:
    with closing(PostgresEngine.open(url_of(proxy))) as engine:
        engine.write(lambda tx: tx.put(b"n", b"0"))

        def read_and_cut(reader: Reader) -> bytes | None:
            found = reader.get(b"n")
            proxy.cut()
            time.sleep(0.1)
            return found

        assert [engine.read(read_and_cut) for _ in range(3)] == [b"0"] * 3


def test_a_server_that_hangs_with_rows_locked_is_let_go_of(server: PostgresServer, isolation: str) -> None:
    """The one that hung begins again when it wakes, and counts after the one that did not wait for it."""
    locked, awake = threading.Event(), threading.Event()
    counts: list[int] = []

    def hang(tx: Transaction) -> int:
        tx.get(b"n")
        locked.set()
        awake.wait(60)
        return increment(tx)

    with (
        closing(PostgresEngine.open(server.url(), isolation=isolation)) as engine,
        closing(PostgresEngine.open(server.url(), isolation=isolation)) as other,
    ):
        engine.write(lambda tx: tx.put(b"n", b"1"))
        hanging = threading.Thread(target=lambda: counts.append(other.write(hang)))
        hanging.start()
        assert locked.wait(60)
        assert engine.write(increment) == 2  # and not 3, as it would be behind the other
        awake.set()
        hanging.join(60)
        assert counts == [3]


def test_the_log_says_when_the_database_is_gone_and_when_it_is_back(
    server: PostgresServer, proxy: Proxy, hasty: None, caplog: pytest.LogCaptureFixture, isolation: str
) -> None:
    caplog.set_level("INFO", logger="hashrange")  # other tests may have set it
    with closing(PostgresEngine.open(url_of(proxy), isolation=isolation)) as engine:
        engine.write(lambda tx: tx.put(b"n", b"0"))
        proxy.cut()  # one connection that ends is no news
        engine.write(increment)
        assert "database.unreachable" not in caplog.text
        proxy.open = False
        proxy.cut()
        for _ in range(2):
            with pytest.raises(Unavailable):
                engine.read(lambda reader: reader.get(b"n"))
        proxy.open = True
        engine.write(increment)
    assert caplog.text.count("database.unreachable") == 1
    assert caplog.text.count("database.reachable") == 1


def signal_all(pids: list[int], number: signal.Signals) -> None:
    """Processes of earlier connections may be gone by now."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def test_a_paused_database_costs_seconds_and_not_the_server(
    engine: PostgresEngine, server: PostgresServer
) -> None:
    assert engine.write(increment) == 1
    assert server.process is not None
    stopped = [process.pid for process in server.processes()]
    try:
        signal_all(stopped, signal.SIGSTOP)
        with pytest.raises(Unavailable):
            engine.read(lambda reader: reader.get(b"n"))
        with pytest.raises(Unavailable):
            engine.write(increment)
    finally:
        signal_all(stopped, signal.SIGCONT)
    assert engine.read(lambda reader: reader.get(b"n")) == b"1"
    assert engine.write(increment) == 2


def test_closing_does_not_wait_for_a_database_that_is_away(
    server: PostgresServer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    monkeypatch.setattr(engine_module, "ANSWER_SECONDS_MAX", 1.0)
    monkeypatch.setattr(engine_module, "PATIENCE_SECONDS", 1.0)
    engine = PostgresEngine.open(url_of(proxy), isolation=isolation)
    engine.write(lambda tx: tx.put(b"n", b"0"))
    proxy.open = False
    proxy.cut()
    errors: list[BaseException | None] = []
    first = threading.Event()

    def done(_result: object, error: BaseException | None) -> None:
        errors.append(error)
        first.set()

    for _ in range(3 * committer.STEPS_MAX):  # three commits
        engine.submit(increment, done)
    assert first.wait(60)
    monkeypatch.setattr(engine._pool, "_patience_seconds", 3600.0)  # which nobody may make use of
    engine.close()
    assert len(errors) == 3 * committer.STEPS_MAX
    assert all(isinstance(error, Unavailable) for error in errors)


def test_nobody_listening_is_unavailable_and_passes(
    server: PostgresServer, proxy: Proxy, hasty: None, isolation: str
) -> None:
    with closing(PostgresEngine.open(url_of(proxy), isolation=isolation)) as engine:
        engine.write(lambda tx: tx.put(b"n", b"0"))
        proxy.open = False
        proxy.cut()
        errors: list[BaseException | None] = []
        engine.submit_read(
            lambda reader: reader.get(b"n"), lambda _result, error: errors.append(error), reads=(b"n",)
        )
        with pytest.raises(Unavailable):
            engine.read(lambda reader: reader.get(b"n"))
        with pytest.raises(Unavailable):
            engine.write(increment)
        assert isinstance(errors[0], Unavailable)
        proxy.open = True
        assert engine.write(increment) == 1


def test_a_row_that_someone_else_has_locked_is_a_conflict_in_the_end(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    monkeypatch.setattr(committer, "STEP_SECONDS", 0.5)
    with (
        closing(PostgresEngine.open(server.url(), isolation=isolation)) as engine,
        psycopg.connect(server.url()) as other,
    ):
        engine.write(lambda tx: tx.put(b"n", b"0"))
        other.execute("SELECT 1 FROM hashrange.rows WHERE k = 'n' FOR UPDATE")
        with pytest.raises(Conflict):
            engine.write(increment)
        engine.write(lambda tx: tx.put(b"m", b"0"))
        other.rollback()
        assert engine.write(increment) == 1


def test_a_commit_that_may_not_be_on_the_replicas_is_not_acknowledged(
    engine: PostgresEngine, server: PostgresServer
) -> None:
    """Whoever cancels a commit that waits for its replicas makes PostgreSQL answer that it is committed."""
    engine.write(lambda tx: tx.put(b"n", b"0"))
    cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    server.change("synchronous_standby_names = 'nobody'")
    try:
        canceller = threading.Thread(target=lambda: eventually(lambda: server.execute(cancel) != []))
        canceller.start()
        with pytest.raises(Unavailable, match="replicas"):
            engine.write(increment)
        canceller.join()
    finally:
        server.change("synchronous_standby_names = ''")
    assert engine.write(increment) == 2
