"""Every engine, one after the other, for the tests of the engine contract."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hashrange.storage.engine import Engine
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine

OPENERS: dict[str, Callable[[Path], Engine]] = {
    "memory": lambda _directory: MemoryEngine(),
    "sqlite": lambda directory: SqliteEngine.open(directory / "data"),
}


@pytest.fixture(params=sorted(OPENERS))
def open_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Engine]:
    """Open an engine of each kind, empty the first time."""
    return lambda: OPENERS[request.param](tmp_path)


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
