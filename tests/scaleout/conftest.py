"""What the tests of several servers share."""

import itertools
import random
from collections.abc import Iterator

import pytest

from postgres_server import PostgresServer

_names = (f"scaleout_{number}" for number in itertools.count())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, help="what random tests begin with; printed when they fail")


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Where a random test begins."""
    chosen = request.config.getoption("--seed")
    number = random.getrandbits(32) if chosen is None else chosen
    print(f"--seed {number}")
    return number


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    """The URL of an empty database that no other test uses."""
    name = next(_names)
    postgres.execute(f"CREATE DATABASE {name}")
    yield postgres.url(name)
    postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["locking", "serializable"])
def isolation(request: pytest.FixtureRequest) -> str:
    """What keeps writes apart."""
    return str(request.param)
