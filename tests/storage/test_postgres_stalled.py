"""Replicas that are away: writers give up in time and leave little behind, and reads go on with what is confirmed."""

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from hashrange.storage.checksums import sealed
from hashrange.storage.engine import Transaction
from hashrange.storage.errors import Unavailable
from hashrange.storage.postgres import PostgresEngine, commit_guard, committer
from hashrange.storage.postgres import engine as engine_module
from hashrange.storage.postgres.commit_guard import Stalled
from hashrange.storage.waiting import Waiter
from postgres_server import PostgresServer, postgres_server
from wiring import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

AWAY = ("ANY 1 (n1, n2)", "FIRST 1 (n1)", "n1")
_WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server that these tests may restart and reconfigure."""
    with postgres_server() as running:
        yield running


@pytest.fixture(params=["locking", "serializable"])
def engine(
    request: pytest.FixtureRequest, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PostgresEngine]:
    monkeypatch.setattr(engine_module, "ANSWER_SECONDS_MAX", 2.0)
    monkeypatch.setattr(commit_guard, "PROBE_SECONDS", 1.0)
    monkeypatch.setattr(commit_guard, "PATIENCE_SECONDS", 1.0)
    with closing(PostgresEngine.open(server.url(), isolation=request.param)) as opened:
        opened.write(lambda tx: (tx.clear(b"", b"\xff", limit=1000), tx.put(b"n", b"0")))
        try:
            yield opened
        finally:
            bring_back(server)


def take_away(server: PostgresServer, names: str = AWAY[0]) -> None:
    server.change(f"synchronous_standby_names = '{names}'")


def bring_back(server: PostgresServer) -> None:
    server.change("synchronous_standby_names = ''")


def increment(tx: Transaction) -> int:
    count = int(tx.get(b"n") or b"0") + 1
    tx.put(b"n", b"%d" % count)
    return count


def stored(server: PostgresServer) -> bytes:
    """What the database shows to whoever asks it."""
    [(value,)] = server.execute("SELECT v FROM hashrange.rows WHERE k = 'n'")
    return bytes(value)


def read(engine: PostgresEngine) -> bytes | None:
    return engine.read(lambda reader: reader.get(b"n"))


def read_in_batch(engine: PostgresEngine) -> bytes | None:
    waiter: Waiter[bytes | None] = Waiter()
    engine.submit_read(lambda reader: reader.get(b"n"), waiter.done, reads=(b"n",))
    return waiter.wait()


def is_done(engine: PostgresEngine) -> bool:
    try:
        engine.write(lambda tx: tx.put(b"later", b""))
    except Unavailable:
        return False
    return True


def is_readable(engine: PostgresEngine) -> bool:
    try:
        return read(engine) is not None and read_in_batch(engine) is not None
    except Unavailable:
        return False


@pytest.mark.parametrize("names", AWAY)
def test_writers_give_up_and_leave_few_sessions_behind(
    engine: PostgresEngine, server: PostgresServer, names: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="hashrange")
    take_away(server, names)
    with pytest.raises(Unavailable, match="unknown"):
        engine.write(increment)
    errors: list[BaseException | None] = []
    all_told = threading.Event()

    def done(_result: object, error: BaseException | None) -> None:
        errors.append(error)
        if len(errors) == 6 * committer.STEPS_MAX:
            all_told.set()

    for number in range(6 * committer.STEPS_MAX):  # many commits, by both writers
        engine.submit(increment, done, reads=(b"n",) if number % 2 else ())
        if number % 100 == 0:
            assert read(engine) == read_in_batch(engine) == b"0"  # what waits is not to be seen
    assert all_told.wait(60)
    assert all(isinstance(error, Unavailable) for error in errors)
    assert sum(isinstance(error, Stalled) for error in errors) >= 4 * committer.STEPS_MAX
    assert len(server.execute(_WAITING)) <= 3  # one of each writer, and a probe
    with pytest.raises(Unavailable):
        engine.maintain(1)
    bring_back(server)
    assert eventually(lambda: is_done(engine))
    # The commits that waited have happened; at most one of each writer.
    assert eventually(lambda: read(engine) != b"0")
    assert engine.write(increment) <= 2 * committer.STEPS_MAX + 2
    assert eventually(lambda: not engine._guard.is_stalled)
    assert not engine._guard._late
    assert 1 <= caplog.text.count("commits.stalled") <= caplog.text.count("commits.confirmed")


def test_a_queue_that_does_not_move_takes_no_more(
    engine: PostgresEngine, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committer, "WAITING_MAX", 10)
    take_away(server)
    waiters: list[Waiter[int]] = [Waiter() for _ in range(30)]
    for waiter in waiters:
        engine.submit(increment, waiter.done)
    with pytest.raises(Stalled, match="too many"):
        waiters[-1].wait()
    for waiter in waiters[:-1]:
        with pytest.raises(Unavailable):
            waiter.wait()


def test_reads_do_not_show_a_commit_that_was_cancelled_until_a_replica_has_it(
    engine: PostgresEngine, server: PostgresServer
) -> None:
    take_away(server)
    with pytest.raises(Unavailable, match="unknown"):
        engine.write(increment)
    assert read(engine) == read_in_batch(engine) == b"0"
    server.execute(f"SELECT pg_cancel_backend(pid) FROM ({_WAITING}) AS waiting")
    # Once its session has taken the signal, it is visible to whoever asks the database, and gone if the leader is lost.
    assert eventually(lambda: stored(server) == sealed(b"n", b"1"))
    assert eventually(lambda: not is_readable(engine))
    for reading in (read, read_in_batch):
        with pytest.raises(Unavailable, match="replicas"):
            reading(engine)
    bring_back(server)
    assert eventually(lambda: is_readable(engine))
    assert read(engine) == read_in_batch(engine) == b"1"


def test_reads_wait_when_the_database_was_started_anew(
    engine: PostgresEngine, server: PostgresServer
) -> None:
    """Commits that waited are visible after a restart, though no replica has them."""
    take_away(server)
    with pytest.raises(Unavailable, match="unknown"):
        engine.write(increment)
    server.kill()
    server.start()
    assert stored(server) == sealed(b"n", b"1")
    assert not is_readable(engine)
    bring_back(server)
    assert eventually(lambda: is_readable(engine))
    assert read(engine) == b"1"


def test_a_restart_with_nobody_to_wait_for_is_no_matter(
    engine: PostgresEngine, server: PostgresServer
) -> None:
    assert engine.write(increment) == 1
    server.kill()
    server.start()
    assert eventually(lambda: is_readable(engine))
    assert engine.write(increment) == 2


def test_closing_leaves_a_commit_waiting_and_does_not_wait_itself(
    engine: PostgresEngine, server: PostgresServer
) -> None:
    take_away(server)
    with pytest.raises(Unavailable, match="unknown"):
        engine.write(increment)
    engine.close()
    bring_back(server)
    assert eventually(lambda: stored(server) == sealed(b"n", b"1"), 30)
