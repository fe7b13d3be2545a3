"""Spans of time as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.durations import parse_duration, shown_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("90", 90),
        ("90s", 90),
        ("15m", 900),
        ("36h", 129_600),
        ("2d", 172_800),
        ("1d12h", 129_600),
        ("1w", 604_800),
        (" 2H ", 7200),
    ],
)
def test_what_is_read(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "-1", "-1h", "1.5h", "1h1d", "1y", "1h 2m", "²", "1" * 13])
def test_what_is_not(text: str) -> None:
    with pytest.raises(ValueError, match="such as 90s"):
        parse_duration(text)


@given(st.integers(0, 10**9))
def test_what_is_shown_is_read_again(seconds: int) -> None:
    assert parse_duration(shown_duration(seconds)) == seconds
