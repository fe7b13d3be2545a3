"""Quantities as people write them: `1 million`, `20 per User`, `2KB`, `50/s`, `30%`, `2 years`."""

import re
from collections.abc import Callable
from math import isfinite

from hashrange import durations
from hashrange.modeling.model import Distribution, Growth
from hashrange.modeling.texts import TextInvalid

AMOUNT_MAX = 1e15
SIZE_BYTES_MAX = 1 << 30
RATE_MAX = 1e9
PERCENT_MAX = 10_000.0
DAYS_PER_MONTH = 30.4375
EXPONENT_MAX = 5.0
_NUMBER = r"([0-9][0-9,_]*(?:\.[0-9]+)?(?:[eE][0-9]{1,2})?)"
_AMOUNT = re.compile(rf"{_NUMBER}\s*(k|thousand|m|mio|million|bn|billion)?", re.IGNORECASE)
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mio": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_COUNT = re.compile(r"(.+?)(?:\s+per\s+(\S+))?")
_SIZE = re.compile(rf"{_NUMBER}\s*(b|bytes?|kb|kib|mb|mib)?", re.IGNORECASE)
_SIZE_UNITS = {"b": 1, "byte": 1, "bytes": 1, "kb": 1024, "kib": 1024, "mb": 1 << 20, "mib": 1 << 20}
_RATE = re.compile(r"(.+?)\s*(?:/|\bper\b)\s*(s|sec|second|min|minute|h|hour|d|day|month)", re.IGNORECASE)
_PER_SECONDS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600}
_PER_SECONDS |= {"d": 86_400, "day": 86_400, "month": round(DAYS_PER_MONTH * 86_400)}
_PERCENT = re.compile(rf"{_NUMBER}\s*%")
_GROWTH = re.compile(r"(.+?)\s*(?:/|\bper\b)\s*(day|week|month|year)", re.IGNORECASE)
_GROWTH_DAYS = {"day": 1.0, "week": 7.0, "month": DAYS_PER_MONTH, "year": 12 * DAYS_PER_MONTH}
_SPAN = re.compile(rf"{_NUMBER}\s*(second|minute|hour|day|week|month|year)s?", re.IGNORECASE)
_SPAN_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_629_800}
_SPAN_SECONDS |= {"year": 31_557_600}
_FACTOR = re.compile(rf"{_NUMBER}\s*(?:x|times)?", re.IGNORECASE)


def _number(text: str, most: float, what: str) -> float:
    if len(text) > 40:
        raise TextInvalid(f"{what} has more than 40 digits")
    value = float(text.replace(",", "").replace("_", ""))
    if not isfinite(value) or value > most:
        raise TextInvalid(f"{what} of `{text}`", f"at most {most:,.0f} is possible")
    return value


def amount(text: str) -> float:
    """`1500`, `1,500`, `2.5k`, `1 million`."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise TextInvalid(f"`{text}` is no number", "write 1500, 2.5k or 1 million")
    value = _number(match[1], AMOUNT_MAX, "a number") * _SCALES.get((match[2] or "").lower(), 1)
    if value > AMOUNT_MAX:
        raise TextInvalid(f"a number of `{text}`", f"at most {AMOUNT_MAX:,.0f} is possible")
    return value


def count(text: str) -> tuple[float, str | None]:
    """So many, and the entity for each item of which there are that many: `20 per User`."""
    match = _COUNT.fullmatch(text.strip())
    if match is None:
        raise TextInvalid("a count is empty", "write 1 million, or 20 per User")
    return amount(match[1]), match[2]


def size(text: str) -> int:
    """Bytes: `400`, `2KB` (of 1,024)."""
    return round(_bytes(text))


def _bytes(text: str) -> float:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise TextInvalid(f"`{text}` is no size", "write 400, 400 B or 2KB")
    value = _number(match[1], SIZE_BYTES_MAX, "a size") * _SIZE_UNITS[(match[2] or "b").lower()]
    if value > SIZE_BYTES_MAX:
        raise TextInvalid(f"a size of `{text}`", "an item has 400 KB at most")
    return value


def rate(text: str) -> float:
    """Requests per second: `50/s`, `3 per minute`, `1 million per day`."""
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise TextInvalid(f"`{text}` is no rate", "write 50/s, 3 per minute or 10000 per day")
    value = amount(match[1]) / _PER_SECONDS[match[2].lower()]
    if value > RATE_MAX:
        raise TextInvalid(f"a rate of `{text}`", f"at most {RATE_MAX:,.0f}/s is possible")
    return value


def percent(text: str) -> float:
    """`30%` is 30."""
    match = _PERCENT.fullmatch(text.strip())
    if match is None:
        raise TextInvalid(f"`{text}` is no share", "write it as 30%")
    return _number(match[1], PERCENT_MAX, "a share")


def share(text: str) -> float:
    """`30%` is 0.3; there is no more than all."""
    value = percent(text) / 100
    if value > 1:
        raise TextInvalid(f"a share of `{text}`", "at most 100% is possible")
    return value


def growth(text: str) -> Growth:
    """`2% per month`, `1000 per day`; items."""
    return _growth(text, amount, "write 2% per month or 1000 per day")


def byte_growth(text: str) -> Growth:
    """`200 B per day`, `5% per month`; bytes of an item."""
    return _growth(text, _bytes, "write 200 B per day or 2% per month")


def _growth(text: str, measure: Callable[[str], float], remedy: str) -> Growth:
    match = _GROWTH.fullmatch(text.strip())
    if match is None:
        raise TextInvalid(f"`{text}` is no growth", remedy)
    days = _GROWTH_DAYS[match[2].lower()]
    if "%" in match[1]:
        factor = (1 + percent(match[1]) / 100) ** (DAYS_PER_MONTH / days)
        if factor > 1 + PERCENT_MAX / 100:
            raise TextInvalid(f"a growth of `{text}`", f"at most {PERCENT_MAX:,.0f}% per month is possible")
        return Growth(percent_per_month=round((factor - 1) * 100, 9))
    return Growth(per_day=measure(match[1]) / days)


def percent_growth(text: str) -> float:
    """`5% per month`, of a rate."""
    value = growth(text)
    if value.per_day:
        raise TextInvalid(f"`{text}` is no share of a rate", "write 5% per month")
    return value.percent_per_month


def seconds(text: str) -> int:
    """A span of time: `3h`, `90 days`, `2 years`."""
    match = _SPAN.fullmatch(text.strip())
    if match is not None:
        value = _number(match[1], 1e9, "a time") * _SPAN_SECONDS[match[2].lower()]
    else:
        try:
            value = durations.parse_duration(text)
        except ValueError:
            raise TextInvalid(f"`{text}` is no time", "write 90s, 36h, 30 days or 2 years") from None
    if not 1 <= value <= 1000 * _SPAN_SECONDS["year"]:
        raise TextInvalid(f"a time of `{text}`", "write one from a second to a thousand years")
    return round(value)


def days(text: str) -> float:
    """A span of time in days."""
    return seconds(text) / 86_400


def factor(text: str) -> float:
    """`4x`."""
    match = _FACTOR.fullmatch(text.strip())
    if match is None:
        raise TextInvalid(f"`{text}` is no factor", "write 4x for four times the average")
    return _number(match[1], 1000, "a factor")


def distribution(text: str) -> Distribution:
    """`uniform`, `zipf`, `zipf 1.1`, `time-rolling 1h`."""
    word, _, rest = text.strip().partition(" ")
    match word.lower():
        case "uniform" if not rest:
            return Distribution()
        case "zipf":
            return Distribution("zipf", exponent=exponent(rest) if rest else 1.0)
        case "time-rolling":
            return Distribution("time-rolling", window_seconds=seconds(rest) if rest else 3600)
    raise TextInvalid(f"`{text}` is no distribution", "write uniform, zipf 1.1 or time-rolling 1h")


def exponent(text: str) -> float:
    """The exponent of Zipf's law."""
    match = re.fullmatch(_NUMBER, text.strip())
    value = _number(match[1], 1000, "an exponent") if match else 0.0
    if not 0 < value <= EXPONENT_MAX:
        raise TextInvalid(f"an exponent of `{text}`", f"write one from 0.1 to {EXPONENT_MAX:g}; 1 is usual")
    return value


def clock_hour(text: str) -> float:
    """An hour of the day: `20:30` is 20.5."""
    match = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", text.strip())
    if match is None:
        raise TextInvalid(f"`{text}` is no time of day", 'write "20:30", in quotes')
    return int(match[1]) + int(match[2]) / 60
