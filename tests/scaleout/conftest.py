"""What the tests of several servers share."""

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, help="what random tests begin with; printed when they fail")


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Where a random test begins."""
    chosen = request.config.getoption("--seed")
    number = random.getrandbits(32) if chosen is None else chosen
    print(f"--seed {number}")
    return number
