"""When an item expires: by a whole number of seconds, strictly, and not after five years."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import numbers
from hashrange.core.expiry import expiry_second, expiry_window, within
from hashrange.core.expressions import matches
from hashrange.core.limits import EXPIRY_AGE_SECONDS_MAX

NOW = 1_700_000_000


@pytest.mark.parametrize(
    ("value", "second"),
    [
        ({"N": "1700000000"}, 1_700_000_000),
        ({"N": "0"}, 0),
        ({"N": "0.9"}, 0),
        ({"N": "12345678.1234"}, 12_345_678),
        ({"N": numbers.canonical("1234567e1")}, 12_345_670),
        ({"N": "253402300799"}, 253_402_300_799),
        ({"N": "253402300800"}, None),
        ({"N": "1700000000000"}, None),
        ({"N": numbers.canonical("1e125")}, None),
        ({"N": "-1"}, None),
        ({"N": "-0.5"}, None),
        ({"S": "1700000000"}, None),
        ({"NS": ["1700000000"]}, None),
        ({"L": [{"N": "1700000000"}]}, None),
        ({"M": {"ttl": {"N": "1700000000"}}}, None),
        ({"NULL": True}, None),
        ({"BOOL": True}, None),
        ({"B": "MTcwMA=="}, None),
    ],
)
def test_only_a_number_at_the_top_is_a_time(value: dict[str, object], second: int | None) -> None:
    assert expiry_second({"ttl": value}, "ttl") == second
    assert expiry_second({"other": value}, "ttl") is None


def is_expired(text: str, now: float, lag_seconds: int = 0) -> bool:
    item = {"ttl": {"N": numbers.canonical(text)}}
    return matches(within("ttl", expiry_window(now, lag_seconds)), item)


def test_the_time_must_be_greater_than_the_number() -> None:
    assert not is_expired(str(NOW), NOW)
    assert not is_expired(str(NOW), NOW + 0.999)
    assert is_expired(str(NOW), NOW + 1)
    assert not is_expired(f"{NOW}.5", NOW)
    assert is_expired(f"{NOW}.5", NOW + 1)


def test_what_expired_five_years_ago_stays() -> None:
    assert is_expired(str(NOW - EXPIRY_AGE_SECONDS_MAX + 1), NOW)
    assert not is_expired(str(NOW - EXPIRY_AGE_SECONDS_MAX), NOW)


def test_a_lag_puts_the_deletion_off_but_not_the_end_of_the_five_years() -> None:
    assert not is_expired(str(NOW - 100), NOW, lag_seconds=100)
    assert is_expired(str(NOW - 101), NOW, lag_seconds=100)
    assert not is_expired(str(NOW - EXPIRY_AGE_SECONDS_MAX), NOW, lag_seconds=100)


times = st.decimals(min_value=-(10**4), max_value=10**13, places=3, allow_nan=False, allow_infinity=False)


@given(value=times, now=st.integers(0, 10**11), lag=st.integers(0, 10**6))
def test_row_and_condition_say_the_same(value: Decimal, now: int, lag: int) -> None:
    item = {"ttl": {"N": numbers.canonical(format(value, "f"))}}
    window = expiry_window(now, lag)
    second = expiry_second(item, "ttl")
    by_row = second is not None and max(window.oldest, 0) <= second < window.end
    assert by_row == (value >= 0 and matches(within("ttl", window), item))
    assert by_row == (0 <= value < now - lag and value >= now - EXPIRY_AGE_SECONDS_MAX + 1)
