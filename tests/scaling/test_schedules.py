"""Schedules: the latest moment in a span of time."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.scaling import schedules
from hashrange.scaling.schedules import ScheduleError


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def latest(text: str, after: str, until: str, zone: str | None = None, anchor: float = 0.0) -> str | None:
    moment = schedules.parse(text).latest(at(after), at(until), schedules.time_zone(zone), anchor)
    return None if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@pytest.mark.parametrize(
    ("text", "zone", "after", "until", "expected"),
    [
        (
            "at(2026-10-10T08:00:00)",
            None,
            "2026-10-10T07:59:59",
            "2026-10-10T08:00:00",
            "2026-10-10T08:00:00",
        ),
        ("at(2026-10-10T08:00:00)", None, "2026-10-10T08:00:00", "2026-10-11T08:00:00", None),
        ("at(2026-10-10T08:00:00)", None, "2026-10-09T00:00:00", "2026-10-10T07:59:59", None),
        (
            "at(2026-10-10T08:00:00)",
            "Asia/Tokyo",
            "2026-10-09T00:00:00",
            "2026-10-10T00:00:00",
            "2026-10-09T23:00:00",
        ),
        ("cron(0 8 * * ? *)", None, "2026-10-10T07:00:00", "2026-10-10T09:00:00", "2026-10-10T08:00:00"),
        ("cron(0 8 * * ? *)", None, "2026-10-10T08:00:00", "2026-10-10T09:00:00", None),
        ("cron(0 8 * * ? *)", None, "2026-10-01T00:00:00", "2026-10-10T07:59:00", "2026-10-09T08:00:00"),
        (
            "cron(0 8 * * ? *)",
            "America/New_York",
            "2026-10-10T11:00:00",
            "2026-10-10T13:00:00",
            "2026-10-10T12:00:00",
        ),
        # The clocks in Berlin go back on 25 October 2026: eight is an hour later in UTC from then on.
        (
            "cron(0 8 * * ? *)",
            "Europe/Berlin",
            "2026-10-24T00:00:00",
            "2026-10-24T12:00:00",
            "2026-10-24T06:00:00",
        ),
        (
            "cron(0 8 * * ? *)",
            "Europe/Berlin",
            "2026-10-26T00:00:00",
            "2026-10-26T12:00:00",
            "2026-10-26T07:00:00",
        ),
        # Half past two is twice, and counts once.
        ("cron(30 2 * * ? *)", "Europe/Berlin", "2026-10-25T00:30:00", "2026-10-25T12:00:00", None),
        # On 29 March it is not at all: the moment is the one that a clock that was not put forward would show.
        (
            "cron(30 2 * * ? *)",
            "Europe/Berlin",
            "2026-03-29T00:00:00",
            "2026-03-29T12:00:00",
            "2026-03-29T01:30:00",
        ),
        ("cron(0 0 29 2 ? *)", None, "2024-03-01T00:00:00", "2028-03-01T00:00:00", "2028-02-29T00:00:00"),
    ],
)
def test_the_latest_moment(text: str, zone: str | None, after: str, until: str, expected: str | None) -> None:
    assert latest(text, after, until, zone) == expected


def test_a_rate_counts_from_its_anchor() -> None:
    anchor = at("2026-10-10T00:07:00")
    expected = "2026-10-10T02:07:00"
    assert latest("rate(1 hour)", "2026-10-10T01:30:00", "2026-10-10T03:00:00", anchor=anchor) == expected
    assert latest("rate(1 hour)", "2026-10-10T02:07:00", "2026-10-10T03:00:00", anchor=anchor) is None
    assert latest("rate(2 days)", "2026-10-10T00:07:00", "2026-10-11T00:07:00", anchor=anchor) is None


@given(st.integers(min_value=1, max_value=400_000), st.integers(min_value=1, max_value=500))
def test_minute_by_minute_or_at_once_the_last_moment_is_the_same(start_minute: int, minutes: int) -> None:
    schedule, zone = schedules.parse("cron(0/7 2-4 ? * MON,THU *)"), schedules.time_zone("Europe/Berlin")
    start = at("2026-01-01T00:00:00") + start_minute * 60
    end = start + minutes * 60
    last = None
    for minute in range(minutes):
        moment = schedule.latest(start + minute * 60, start + (minute + 1) * 60, zone, 0.0)
        last = moment if moment is not None else last
    assert schedule.latest(start, end, zone, 0.0) == last


@pytest.mark.parametrize(
    "text",
    [
        "",
        "at()",
        "at(2026-10-10)",
        "at(2026-10-10T08:00)",
        "at(2026-13-10T08:00:00)",
        "at(2026-10-10T08:00:00Z)",
        "at(0000-00-00T00:00:00)",
        "rate(1 minutes)",
        "rate(2 minute)",
        "rate(0 minutes)",
        "rate(-1 minutes)",
        "rate(5 seconds)",
        "rate(5minutes)",
        "cron(0 8 * * *)",
        "every(1 day)",
        "cron(0 8 * * ? *",
    ],
)
def test_what_is_no_schedule(text: str) -> None:
    with pytest.raises(ScheduleError):
        schedules.parse(text)


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "America", "UTC\0"])
def test_what_is_no_time_zone(name: str) -> None:
    with pytest.raises(ScheduleError):
        schedules.time_zone(name)
