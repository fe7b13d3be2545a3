"""Warm-up: it goes on while a server gets faster, and ends."""

from collections.abc import Sequence

import pytest

from hashrange_bench.load import Outcome
from hashrange_bench.warming import is_steady, warm_up


@pytest.mark.parametrize(
    ("rates", "steady"),
    [
        ([], False),
        ([100, 100, 100], False),
        ([100, 100, 100, 100], True),
        ([100, 104, 90, 103], True),
        ([100, 150, 150, 150], False),
        ([100, 150, 150, 140, 20], True),
        ([100, 110, 120, 130, 140], False),
        ([100, 90, 90, 106], False),
    ],
)
def test_a_rate_is_steady_when_three_windows_brought_nothing(rates: Sequence[float], steady: bool) -> None:
    assert is_steady(rates) is steady


def test_a_server_that_compiles_while_it_runs_is_loaded_until_it_has() -> None:
    rates = iter([100, 300, 700, 900, 910, 905, 900, 1])
    told = []

    def load(requests: int) -> Outcome:
        told.append(requests)
        return Outcome(next(rates), 1.0, 0, 0, 1.0, 1.0, 0.0)

    warmth = warm_up(load, 20)
    assert (warmth.requests, warmth.windows, warmth.steady) == (4715, 7, True)
    assert told == [0, 100, 400, 1100, 2000, 2910, 3815]


def test_a_server_that_gets_faster_without_end_is_given_up() -> None:
    rates = iter(range(100, 10_000, 100))
    warmth = warm_up(lambda _: Outcome(next(rates), 1.0, 0, 0, 1.0, 1.0, 0.0), 5)
    assert (warmth.windows, warmth.steady) == (5, False)
