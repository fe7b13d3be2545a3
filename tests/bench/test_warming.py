"""Warm-up: it goes on while a server gets faster, and ends."""

from collections.abc import Sequence

import pytest

from hashrange_bench.load import Outcome
from hashrange_bench.warming import Budget, is_steady, warm_up


@pytest.mark.parametrize(
    ("rates", "steady"),
    [
        ([], False),
        ([100, 100], False),
        ([100, 100, 100], True),
        ([10, 100, 104, 102], True),
        ([100, 105, 100], False),
        ([100, 150, 150, 150], True),
        ([150, 150, 150, 20], False),
        ([100, 110, 120, 130, 140], False),
    ],
)
def test_a_rate_is_steady_when_three_windows_differ_by_less_than_five_percent(
    rates: Sequence[float], steady: bool
) -> None:
    assert is_steady(rates) is steady


def test_a_server_that_compiles_while_it_runs_is_loaded_until_it_has() -> None:
    rates = iter([100, 300, 700, 900, 910, 905, 1])
    told = []

    def load(requests: int) -> Outcome:
        told.append(requests)
        return Outcome(next(rates), 1.0, 0, 0, 1.0, 1.0, 0.0)

    warmth = warm_up(load, 20)
    assert (warmth.requests, warmth.windows, warmth.steady) == (3815, 6, True)
    assert told == [0, 100, 400, 1100, 2000, 2910]


def test_a_server_that_gets_faster_without_end_is_given_up() -> None:
    rates = iter(range(100, 10_000, 100))
    warmth = warm_up(lambda _: Outcome(next(rates), 1.0, 0, 0, 1.0, 1.0, 0.0), 5)
    assert (warmth.windows, warmth.steady) == (5, False)


def test_requests_that_are_used_up_last_beyond_the_warm_up() -> None:
    rates = iter([100, 200, 300, 400])
    warmth = warm_up(lambda _: Outcome(next(rates), 1.0, 0, 0, 1.0, 1.0, 0.0), 9, requests_max=600)
    assert (warmth.requests, warmth.windows, warmth.steady) == (600, 3, False)


def test_a_class_of_workloads_has_its_seconds_and_then_one_window_each() -> None:
    budget = Budget(60)
    assert budget.windows(1, 2.0) == 30
    budget.use(1, 50)
    assert (budget.windows(1, 2.0), budget.windows(2, 2.0)) == (5, 30)
    budget.use(1, 50)
    assert budget.windows(1, 2.0) == 1


def test_a_class_that_asks_for_something_else_starts_over() -> None:
    budget = Budget(60)
    budget.use(1, 50)
    budget.use(2, 50)
    budget.renew(1)
    assert (budget.windows(1, 1), budget.windows(2, 1)) == (60, 10)
