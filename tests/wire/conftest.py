"""Fixtures for the HTTP front end."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hashrange.wire.limits import Limits
from wiring import Client, Wire


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    """A listener with the usual limits."""
    running = Wire().start()
    yield running
    running.stop()


@pytest.fixture
def small_wire() -> Iterator[Callable[..., Wire]]:
    """Make listeners with limits of the test's choice."""
    running: list[Wire] = []

    def make(**limits: Any) -> Wire:
        running.append(Wire(Limits(sweep_seconds=0.02, **limits)).start())
        return running[-1]

    yield make
    for each in running:
        each.stop()


@pytest.fixture
def client(wire: Wire) -> Iterator[Client]:
    """A connection to it."""
    with wire.connect() as connection:
        yield connection
