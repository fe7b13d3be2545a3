"""A table for all patterns, on which each test has names of its own."""

from collections.abc import Iterator
from typing import Any

import pytest

from faulty_client import StillRunner
from hashrange.patterns import Table
from item_tables import make_table


@pytest.fixture(scope="session")
def table(client: Any) -> Table:
    return Table(make_table(client, "pk", "sk"))


@pytest.fixture
def runner(client: Any) -> Iterator[StillRunner]:
    """A runner on which nothing goes wrong."""
    with StillRunner(client) as still:
        yield still
