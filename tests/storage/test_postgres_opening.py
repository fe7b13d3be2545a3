"""Opening a database: made ready by whoever comes first, refused in plain words when it cannot be used."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from hashrange.storage.errors import Corrupt, FormatTooNew, FormatTooOld, NotWritable, OpenError
from hashrange.storage.formats import FORMAT_VERSION
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.postgres.address import parse_address
from postgres_server import PostgresServer, free_port


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    postgres.execute("CREATE DATABASE opening")
    yield postgres.url("opening")
    postgres.execute("DROP DATABASE opening WITH (FORCE)")


def test_several_servers_may_start_on_an_empty_database_at_once(database: str) -> None:
    with ThreadPoolExecutor(6) as threads:
        engines = list(threads.map(lambda _: PostgresEngine.open(database), range(6)))
    for engine in engines:
        with closing(engine):
            engine.write(lambda tx: tx.add(b"opened", 1))
    with closing(PostgresEngine.open(database)) as engine:
        assert engine.read(lambda reader: reader.counter(b"opened")) == 6


@pytest.mark.parametrize(
    ("found", "error"),
    [("1", FormatTooOld), (str(FORMAT_VERSION + 1), FormatTooNew), ("9999", FormatTooNew), ("odd", Corrupt)],
)
def test_a_database_of_another_format_is_left_alone(
    postgres: PostgresServer, database: str, found: str, error: type[Exception]
) -> None:
    PostgresEngine.open(database).close()
    postgres.execute(f"UPDATE hashrange.meta SET value = '{found}' WHERE name = 'format'", "opening")
    with pytest.raises(error, match="format"):
        PostgresEngine.open(database)


def test_nobody_there(postgres: PostgresServer) -> None:
    with pytest.raises(OpenError, match="cannot connect"):
        PostgresEngine.open(f"postgresql://postgres@127.0.0.1:{free_port()}/postgres")
    with pytest.raises(OpenError, match="does not exist"):
        PostgresEngine.open(postgres.url("no_such_database"))


def test_a_url_that_is_none(postgres: PostgresServer) -> None:
    with pytest.raises(OpenError, match="cannot be read"):
        PostgresEngine.open("postgresql://host/db?what=ever")
    with pytest.raises(OpenError, match="a replica's URL cannot be read"):
        PostgresEngine.open(postgres.url(), replicas=["postgresql://host/db?what=ever"])


def test_a_role_that_may_not_create_tables(postgres: PostgresServer, database: str) -> None:
    postgres.execute("CREATE ROLE guest LOGIN")
    try:
        with pytest.raises(NotWritable, match="cannot create tables"):
            PostgresEngine.open(database.replace("postgres@", "guest@"))
    finally:
        postgres.execute("DROP ROLE guest")


def test_a_role_that_finds_the_tables_needs_no_more_than_to_use_them(
    postgres: PostgresServer, database: str
) -> None:
    PostgresEngine.open(database).close()
    postgres.execute("CREATE ROLE worker LOGIN")
    try:
        postgres.execute("GRANT USAGE ON SCHEMA hashrange TO worker", "opening")
        postgres.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hashrange TO worker", "opening"
        )
        with closing(
            PostgresEngine.open(database.replace("postgres@", "worker@"), read_mostly=(b"s",))
        ) as engine:
            engine.write(lambda tx: (tx.get(b"s"), tx.put(b"s", b"1"), tx.add(b"c", 1), tx.put(b"k", b"v")))
            assert engine.read(lambda reader: (reader.get(b"k"), reader.counter(b"c"))) == (b"v", 1)
    finally:
        postgres.execute("DROP OWNED BY worker", "opening")
        postgres.execute("DROP ROLE worker")


@pytest.mark.parametrize("missing", ["INSERT", "UPDATE", "DELETE"])
def test_a_role_that_may_not_write_is_told_at_the_start(
    postgres: PostgresServer, database: str, missing: str
) -> None:
    PostgresEngine.open(database).close()
    postgres.execute("CREATE ROLE reader LOGIN")
    try:
        postgres.execute("GRANT USAGE ON SCHEMA hashrange TO reader", "opening")
        postgres.execute("GRANT ALL ON ALL TABLES IN SCHEMA hashrange TO reader", "opening")
        postgres.execute(f"REVOKE {missing} ON hashrange.counters FROM reader", "opening")
        with pytest.raises(NotWritable, match="permission denied for table counters; the role needs SELECT"):
            PostgresEngine.open(database.replace("postgres@", "reader@"))
    finally:
        postgres.execute("DROP OWNED BY reader", "opening")
        postgres.execute("DROP ROLE reader")


def test_a_server_that_takes_no_writes_is_no_leader(database: str) -> None:
    only_reading = "?target_session_attrs=any&options=-cdefault_transaction_read_only%3Don"
    for _ in range(2):  # without the tables, and with them
        with pytest.raises(NotWritable, match="takes no writes"):
            PostgresEngine.open(database + only_reading)
        PostgresEngine.open(database).close()


def test_a_database_that_acknowledges_too_early_is_named_in_the_log(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    PostgresEngine.open(database).close()
    assert caplog.text == ""
    PostgresEngine.open(f"{database}?options=-csynchronous_commit%3Doff").close()
    assert "database.not_durable" in caplog.text


def test_tables_that_are_not_complete(postgres: PostgresServer, database: str) -> None:
    PostgresEngine.open(database).close()
    postgres.execute("DROP TABLE hashrange.heartbeats", "opening")
    with pytest.raises(Corrupt, match=r'not complete: relation "heartbeats" does not exist$'):
        PostgresEngine.open(database)


def test_a_database_to_copy_from_is_not_made(postgres: PostgresServer, database: str) -> None:
    with pytest.raises(OpenError, match="no data"):
        PostgresEngine.open(database, create=False)
    assert postgres.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'hashrange'", "opening") == []


def test_the_description_names_the_place_and_keeps_the_password(postgres: PostgresServer) -> None:
    place = parse_address(
        "postgresql://me:secret@one:5433,two/data?sslmode=require", schema="s", seconds_max=1, leader=True
    )
    assert place.description == "one:5433,two:5432/data"
    assert (place.options["target_session_attrs"], place.options["sslmode"]) == ("read-write", "require")
    with closing(PostgresEngine.open(postgres.url())) as engine:
        assert engine.description == f"PostgreSQL (127.0.0.1:{postgres.port}/postgres)"
