"""Keys that are too long for an index: when the last one with a head goes, nothing stays behind."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.postgres.long_keys import HEAD_BYTES
from postgres_server import PostgresServer

HEAD = b"k" * HEAD_BYTES
ONE, TWO = HEAD + b"1", HEAD + b"2"


@pytest.fixture(params=["locking", "serializable"])
def engine(request: pytest.FixtureRequest, postgres: PostgresServer, schema: str) -> Iterator[PostgresEngine]:
    with closing(PostgresEngine.open(postgres.url(), schema_name=schema, isolation=request.param)) as opened:
        yield opened


def rows(postgres: PostgresServer, schema: str) -> tuple[int, int]:
    """How many rows there are of either kind."""
    ((short, long),) = postgres.execute(
        f"SELECT (SELECT count(*) FROM {schema}.rows), (SELECT count(*) FROM {schema}.long_rows)"
    )
    return int(short), int(long)


def test_nothing_is_left_of_a_deleted_key(
    engine: PostgresEngine, postgres: PostgresServer, schema: str
) -> None:
    engine.write(lambda tx: tx.put(ONE, b"1"))
    assert rows(postgres, schema) == (1, 1)
    engine.write(lambda tx: (tx.get(ONE), tx.delete(ONE)))
    assert rows(postgres, schema) == (0, 0)
    engine.write(lambda tx: tx.put(ONE, b"1"))
    engine.write(lambda tx: tx.delete(ONE))  # unread
    assert rows(postgres, schema) == (0, 0)
    engine.write(lambda tx: (tx.get(ONE), tx.delete(ONE)))  # it is not there
    engine.write(lambda tx: tx.delete(ONE))
    engine.write(lambda tx: (tx.put(ONE, b"1"), tx.delete(ONE)))
    assert rows(postgres, schema) == (0, 0)


def test_the_head_stays_while_a_key_has_it(
    engine: PostgresEngine, postgres: PostgresServer, schema: str
) -> None:
    engine.write(lambda tx: (tx.put(ONE, b"1"), tx.put(TWO, b"2")))
    engine.write(lambda tx: tx.delete(ONE))
    assert engine.read(lambda reader: list(reader.scan(b"", b"\xff"))) == [(TWO, b"2")]
    engine.write(lambda tx: (tx.delete(TWO), tx.put(ONE, b"3")))
    assert engine.read(lambda reader: list(reader.scan(b"", b"\xff"))) == [(ONE, b"3")]
    assert rows(postgres, schema) == (1, 1)


def test_nothing_is_left_of_a_range_that_was_cleared(
    engine: PostgresEngine, postgres: PostgresServer, schema: str
) -> None:
    engine.write(lambda tx: [tx.put(HEAD + b"%d" % number, b"") for number in range(10)])
    assert engine.write(lambda tx: tx.clear(b"k", b"l", limit=4)) == 4
    assert rows(postgres, schema) == (1, 6)
    assert engine.write(lambda tx: tx.clear(b"k", b"l", limit=100)) == 6
    assert rows(postgres, schema) == (0, 0)
