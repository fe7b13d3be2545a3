"""Every engine, one after the other, for the tests of the engine contract."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hashrange.kms.wrapping import Wrapping
from hashrange.storage.data_keys import DataKeys
from hashrange.storage.encrypting import EncryptedEngine, open_encrypted
from hashrange.storage.engine import Engine
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine
from postgres_server import PostgresServer

_schemas = (f"schema_{number}" for number in itertools.count())


def encrypted(engine: Engine) -> EncryptedEngine:
    """An engine with its rows encrypted."""
    opened = open_encrypted(engine, DataKeys(Wrapping(bytes(32))))
    assert isinstance(opened, EncryptedEngine)
    return opened


@pytest.fixture
def schema(postgres: PostgresServer) -> Iterator[str]:
    """The name of a schema that no other test uses."""
    name = next(_schemas)
    yield name
    postgres.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


@pytest.fixture(
    params=[
        "memory",
        pytest.param("encrypted", marks=pytest.mark.slow),
        pytest.param("postgres", marks=pytest.mark.slow),
        pytest.param("postgres-serializable", marks=pytest.mark.slow),
        "sqlite",
    ]
)
def open_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Engine]:
    """Open an engine of each kind, empty the first time."""
    if request.param == "memory":
        return MemoryEngine
    if request.param == "encrypted":
        return lambda: encrypted(SqliteEngine.open(tmp_path / "data"))
    if request.param == "sqlite":
        return lambda: SqliteEngine.open(tmp_path / "data")
    url, schema = request.getfixturevalue("postgres").url(), request.getfixturevalue("schema")
    isolation = "serializable" if request.param == "postgres-serializable" else "locking"
    return lambda: PostgresEngine.open(url, schema_name=schema, isolation=isolation)


@pytest.fixture
def engine(open_engine: Callable[[], Engine]) -> Iterator[Engine]:
    """An empty engine of each kind."""
    opened = open_engine()
    yield opened
    opened.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteEngine]:
    """An empty engine on disk."""
    opened = SqliteEngine.open(tmp_path / "data")
    yield opened
    opened.close()
