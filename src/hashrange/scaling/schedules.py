"""The schedules of scheduled actions: at a moment, at a rate, or by a cron expression, in a time zone."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hashrange.scaling import cron
from hashrange.scaling.cron import Cron, CronError

_EXPRESSION = re.compile(r"(at|rate|cron)\((.*)\)", re.DOTALL)
_AT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")
_RATE = re.compile(r"([1-9][0-9]{0,8}) (minute|minutes|hour|hours|day|days)")
_UNIT_SECONDS = {"minute": 60, "hour": 3600, "day": 86_400}
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]*")
_GAP = timedelta(hours=3)  # no clock is put forward or back by more
_DAY = timedelta(days=1)
_DAYS_MAX = 3000  # the 29th of February comes once in 2922 days at most


class ScheduleError(ValueError):
    """The text is no schedule, or names no time zone."""


class At(NamedTuple):
    """Once."""

    local: datetime

    def latest(self, after: float, until: float, zone: tzinfo, _anchor: float) -> float | None:
        """The moment, if it is behind `after` and not behind `until`."""
        moment = self.local.replace(tzinfo=zone).timestamp()
        return moment if after < moment <= until else None


class Rate(NamedTuple):
    """Every so many seconds, counted from an anchor."""

    seconds: int

    def latest(self, after: float, until: float, _zone: tzinfo, anchor: float) -> float | None:
        """The latest moment of those."""
        times = (until - anchor) // self.seconds
        moment = anchor + times * self.seconds
        return moment if times >= 0 and moment > after else None


class ByCron(NamedTuple):
    """By a calendar and a clock on the wall."""

    cron: Cron

    def latest(self, after: float, until: float, zone: tzinfo, _anchor: float) -> float | None:
        """The latest moment of those; what is longer ago than eight years is not looked for."""
        behind = _wall(until, zone) + _GAP
        first = (_wall(after, zone) - _GAP).date()
        day = behind.date()
        for _ in range(_DAYS_MAX):
            if day < first:
                break
            if self.cron.has_day(day):
                for hour, minute in self.cron.times_backwards():
                    wall = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - a clock on the wall
                    if wall > behind:
                        continue
                    moment = wall.replace(tzinfo=zone).timestamp()
                    if moment <= until:
                        return moment if moment > after else None
            day -= _DAY
        return None


Schedule = At | Rate | ByCron


def parse(text: str) -> Schedule:
    """Read a schedule."""
    match = _EXPRESSION.fullmatch(text)
    if match is None:
        raise ScheduleError(text)
    kind, body = match.groups()
    try:
        if kind == "cron":
            return ByCron(cron.parse(body))
        return _rate(body) if kind == "rate" else _at(body)
    except CronError as error:
        raise ScheduleError(text) from error


def time_zone(name: str | None) -> tzinfo:
    """The zone of an IANA name; UTC where none is given."""
    if name is None:
        return UTC
    if _ZONE.fullmatch(name) is None:
        raise ScheduleError(name)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ScheduleError(name) from error


def _at(body: str) -> At:
    if _AT.fullmatch(body) is None:
        raise ScheduleError(body)
    try:
        local = datetime.fromisoformat(body)
        local.replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError) as error:
        raise ScheduleError(body) from error
    return At(local)


def _rate(body: str) -> Rate:
    match = _RATE.fullmatch(body)
    if match is None or (match[1] == "1") is match[2].endswith("s"):
        raise ScheduleError(body)
    return Rate(int(match[1]) * _UNIT_SECONDS[match[2].removesuffix("s")])


def _wall(moment: float, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(moment, zone).replace(tzinfo=None)
