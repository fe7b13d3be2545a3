"""Cron expressions in AWS's form: minutes, hours, day of the month, month, day of the week, year."""

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import NamedTuple

_FIELDS = 6
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"), 1
    )
}
_WEEKDAYS = {"SUN": 1, "MON": 2, "TUE": 3, "WED": 4, "THU": 5, "FRI": 6, "SAT": 7}
_YEARS = (1970, 2199)
_SATURDAY = 7
_WEEK = 7
_NEAREST_WEEKDAY = re.compile(r"([0-9]{1,2})W")
_NTH_WEEKDAY = re.compile(r"([0-9]|[A-Z]{3})#([1-5])")
_LAST_WEEKDAY = re.compile(r"([0-9]|[A-Z]{3})L")
_RANGE = re.compile(r"(\*|[0-9]{1,4}|[A-Z]{3})(?:-([0-9]{1,4}|[A-Z]{3}))?(?:/([0-9]{1,4}))?")

Days = Callable[[int, int], set[int]]  # of a year and a month


class CronError(ValueError):
    """The text is no cron expression."""


class Cron(NamedTuple):
    """The moments of an expression, as a calendar on a wall shows them."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: Days
    months: frozenset[int]
    years: frozenset[int]

    def has_day(self, day: date) -> bool:
        """Whether there are moments on this day."""
        return (
            day.year in self.years and day.month in self.months and day.day in self.days(day.year, day.month)
        )

    def times_backwards(self) -> Iterator[tuple[int, int]]:
        """The hours and minutes of such a day, the latest first."""
        for hour in reversed(self.hours):
            for minute in reversed(self.minutes):
                yield hour, minute


def parse(text: str) -> Cron:
    """Read the six fields; exactly one of the two for days is a question mark."""
    fields = text.upper().split()
    if len(fields) != _FIELDS:
        raise CronError(text)
    minutes, hours, month_days, months, weekdays, years = fields
    if (month_days == "?") is (weekdays == "?"):
        raise CronError(text)
    return Cron(
        tuple(sorted(_numbers(minutes, 0, 59))),
        tuple(sorted(_numbers(hours, 0, 23))),
        _month_days(month_days) if weekdays == "?" else _weekdays(weekdays),
        frozenset(_numbers(months, 1, 12, _MONTHS)),
        frozenset(_numbers(years, *_YEARS)),
    )


def _numbers(field: str, least: int, most: int, names: dict[str, int] | None = None) -> set[int]:
    return set().union(*(_part(part, least, most, names or {}) for part in field.split(",")))


def _part(part: str, least: int, most: int, names: dict[str, int]) -> set[int]:
    match = _RANGE.fullmatch(part)
    if match is None:
        raise CronError(part)
    first, last, step = match.groups()
    if first == "*":
        if last is not None:
            raise CronError(part)
        start, end = least, most
    else:
        start = _number(first, names)
        # A step without an end goes on to the end of the field.
        end = _number(last, names) if last is not None else (most if step is not None else start)
    if not least <= start <= end <= most or step == "0":
        raise CronError(part)
    return set(range(start, end + 1, int(step or 1)))


def _number(text: str, names: dict[str, int]) -> int:
    if text.isdigit():
        return int(text)
    if text not in names:
        raise CronError(text)
    return names[text]


def _month_days(field: str) -> Days:
    if field == "L":
        return lambda year, month: {_last_day(year, month)}
    if field == "LW":
        return lambda year, month: {_nearest_weekday(year, month, _last_day(year, month))}
    if match := _NEAREST_WEEKDAY.fullmatch(field):
        (day,) = _numbers(match[1], 1, 31)
        return lambda year, month: (
            {_nearest_weekday(year, month, day)} if day <= _last_day(year, month) else set()
        )
    days = _numbers(field, 1, 31)
    return lambda _year, _month: days


def _weekdays(field: str) -> Days:
    if match := _NTH_WEEKDAY.fullmatch(field):
        (weekday,) = _numbers(match[1], 1, _WEEK, _WEEKDAYS)
        nth = int(match[2])
        return lambda year, month: set(_days_on(year, month, {weekday})[nth - 1 : nth])
    if match := _LAST_WEEKDAY.fullmatch(field):
        (weekday,) = _numbers(match[1], 1, _WEEK, _WEEKDAYS)
        return lambda year, month: {_days_on(year, month, {weekday})[-1]}
    weekdays = {_SATURDAY} if field == "L" else _numbers(field, 1, _WEEK, _WEEKDAYS)
    return lambda year, month: set(_days_on(year, month, weekdays))


def _last_day(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]


def _weekday(year: int, month: int, day: int) -> int:
    """1 is Sunday, as the service counts."""
    return date(year, month, day).isoweekday() % _WEEK + 1


def _days_on(year: int, month: int, weekdays: set[int]) -> list[int]:
    days = range(1, _last_day(year, month) + 1)
    return [day for day in days if _weekday(year, month, day) in weekdays]


def _nearest_weekday(year: int, month: int, day: int) -> int:
    """The day from Monday to Friday that is nearest, within the month."""
    weekday = _weekday(year, month, day)
    if weekday == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == 1:
        return day + 1 if day < _last_day(year, month) else day - 2
    return day
