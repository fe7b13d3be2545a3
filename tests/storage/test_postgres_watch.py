"""A server notices that its database is another one by now, refuses to work and says why."""

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from hashrange.storage.checksums import sealed
from hashrange.storage.errors import Replaced
from hashrange.storage.postgres import PostgresEngine, watch
from hashrange.storage.waiting import Waiter
from postgres_server import PostgresServer
from wiring import eventually


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "INTERVAL_SECONDS", 0.02)


@pytest.fixture
def engine(postgres: PostgresServer, schema: str) -> Iterator[PostgresEngine]:
    with closing(PostgresEngine.open(postgres.url(), schema_name=schema)) as opened:
        opened.write(lambda tx: tx.put(b"a", b"1"))
        yield opened


def is_refused(engine: PostgresEngine) -> bool:
    try:
        engine.read(lambda reader: reader.get(b"a"))
    except Replaced:
        return True
    return False


def expect_refusal(engine: PostgresEngine, why: str, log: pytest.LogCaptureFixture) -> None:
    assert eventually(lambda: is_refused(engine))
    waiter: Waiter[bytes | None] = Waiter()
    engine.submit_read(lambda reader: reader.get(b"a"), waiter.done, reads=(b"a",))
    with pytest.raises(Replaced, match=why):
        waiter.wait()
    with pytest.raises(Replaced, match=why):
        engine.write(lambda tx: tx.put(b"a", b"2"))
    assert log.text.count("database.replaced") == 1


def test_the_format_was_raised(
    engine: PostgresEngine, postgres: PostgresServer, schema: str, caplog: pytest.LogCaptureFixture
) -> None:
    postgres.execute(f"UPDATE {schema}.meta SET value = '99' WHERE name = 'format'")
    expect_refusal(engine, "has on-disk format 99 by now", caplog)
    assert postgres.execute(f"SELECT v FROM {schema}.rows WHERE k = 'a'") == [(sealed(b"a", b"1"),)]


def test_the_tables_are_those_of_another_database(
    engine: PostgresEngine, postgres: PostgresServer, schema: str, caplog: pytest.LogCaptureFixture
) -> None:
    """As after the restoration of another database's dump: the connections stay, the tables are new."""
    postgres.execute(f"DROP SCHEMA {schema} CASCADE")
    PostgresEngine.open(postgres.url(), schema_name=schema).close()
    expect_refusal(engine, "is not the database that this server has opened", caplog)
    assert postgres.execute(f"SELECT v FROM {schema}.rows WHERE k = 'a'") == []


def test_a_new_connection_is_looked_at_before_it_is_used(
    postgres: PostgresServer, schema: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watch, "INTERVAL_SECONDS", 3600)
    with closing(PostgresEngine.open(postgres.url(), schema_name=schema)) as engine:
        postgres.execute(f"UPDATE {schema}.meta SET value = 'other' WHERE name = 'identity'")
        engine._pool._drop_idle()
        with pytest.raises(Replaced):
            engine.read(lambda reader: reader.get(b"a"))


def test_every_database_is_another_and_stays_the_same(postgres: PostgresServer, schema: str) -> None:
    identity = f"SELECT value FROM {schema}.meta WHERE name = 'identity'"
    PostgresEngine.open(postgres.url(), schema_name=schema).close()
    first = postgres.execute(identity)
    PostgresEngine.open(postgres.url(), schema_name=schema).close()
    assert postgres.execute(identity) == first
    postgres.execute(f"DROP SCHEMA {schema} CASCADE")
    PostgresEngine.open(postgres.url(), schema_name=schema).close()
    assert postgres.execute(identity) != first


def test_the_clock_is_that_of_the_database(engine: PostgresEngine, postgres: PostgresServer) -> None:
    ((before,),) = postgres.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
    shown = engine.clock.now()
    ((after,),) = postgres.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
    slack = 0.5  # an answer may have taken its time when the clock was measured
    assert before - slack <= shown <= after + slack
    assert engine.clock.now() >= shown
    assert abs(engine.clock.now() - time.time()) < 5
