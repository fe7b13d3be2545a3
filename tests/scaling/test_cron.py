"""Cron expressions as AWS writes them."""

from datetime import date

import pytest

from hashrange.scaling import cron
from hashrange.scaling.cron import CronError


def days(text: str, year: int, month: int) -> list[int]:
    parsed = cron.parse(text)
    return [
        day for day in range(1, 32) if _exists(year, month, day) and parsed.has_day(date(year, month, day))
    ]


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 0 1 * ? *", [1]),
        ("0 0 1,15,31 * ? *", [1, 15, 31]),
        ("0 0 10-12 * ? *", [10, 11, 12]),
        ("0 0 1/10 * ? *", [1, 11, 21, 31]),
        ("0 0 */15 * ? *", [1, 16, 31]),
        ("0 0 L * ? *", [31]),
        ("0 0 ? * SUN *", [4, 11, 18, 25]),
        ("0 0 ? * 1 *", [4, 11, 18, 25]),
        ("0 0 ? * MON-TUE *", [5, 6, 12, 13, 19, 20, 26, 27]),
        ("0 0 ? * L *", [3, 10, 17, 24, 31]),
        ("0 0 ? * 6L *", [30]),
        ("0 0 ? * FRI#2 *", [9]),
        ("0 0 ? * 3#1 *", [6]),
        ("0 0 3W * ? *", [2]),
        ("0 0 4W * ? *", [5]),
        ("0 0 31W * ? *", [30]),
        ("0 0 LW * ? *", [30]),
        ("0 0 * OCT ? *", list(range(1, 32))),
        ("0 0 * 1-9 ? *", []),
        ("0 0 * * ? 2027", []),
    ],
)
def test_the_days_of_october_2026(text: str, expected: list[int]) -> None:
    assert days(text, 2026, 10) == expected


def test_the_first_of_a_month_on_a_weekend_stays_in_the_month() -> None:
    assert days("0 0 1W * ? *", 2026, 8) == [3]  # a Saturday
    assert days("0 0 1W * ? *", 2026, 11) == [2]  # a Sunday
    assert days("0 0 31W * ? *", 2026, 5) == [29]  # a Sunday at the end
    assert days("0 0 31W * ? *", 2026, 6) == []


def test_a_fifth_weekday_is_not_in_every_month() -> None:
    assert days("0 0 ? * SAT#5 *", 2026, 10) == [31]
    assert days("0 0 ? * SAT#5 *", 2026, 11) == []


def test_times_come_the_latest_first() -> None:
    assert list(cron.parse("0,30 8-9 * * ? *").times_backwards()) == [(9, 30), (9, 0), (8, 30), (8, 0)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0 0 * * *",
        "0 0 * * ? * *",
        "0 0 * * * *",
        "0 0 ? * ? *",
        "60 0 * * ? *",
        "0 24 * * ? *",
        "0 0 0 * ? *",
        "0 0 32 * ? *",
        "0 0 * 13 ? *",
        "0 0 ? * 8 *",
        "0 0 ? * 0 *",
        "0 0 ? * MON#6 *",
        "0 0 * * ? 1969",
        "0 0 * * ? 2200",
        "5-1 0 * * ? *",
        "*/0 0 * * ? *",
        "*-5 0 * * ? *",
        "a 0 * * ? *",
        "0 0 * XYZ ? *",
        "0,,1 0 * * ? *",
        "0 0 99W * ? *",
    ],
)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(CronError):
        cron.parse(text)
