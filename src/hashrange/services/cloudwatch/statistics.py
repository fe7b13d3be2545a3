"""Statistics of samples: the five plain ones, and those that need to know how the samples are distributed."""

import math
import re
from collections.abc import Sequence
from typing import Literal, Protocol, get_args

import msgspec

from hashrange.api.cloudwatch.structures import Statistic
from hashrange.capacity.histograms import BOUNDS
from hashrange.capacity.series import Point
from hashrange.services.cloudwatch import errors
from hashrange.storage.custom_metric_rows import CustomStatistics

PLAIN: frozenset[str] = frozenset(get_args(Statistic))
_NUMBER = r"[0-9]{1,3}(?:\.[0-9]{1,10})?"
_SHORT = re.compile(rf"(p|tm|wm|tc|ts)({_NUMBER})", re.IGNORECASE)
_RANGE = re.compile(r"(TM|WM|TC|TS|PR)\(([^:()]*):([^:()]*)\)", re.IGNORECASE)
_BOUND = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(%?)")

Samples = list[tuple[float, float]]  # values with their numbers, by value


class Sampled(Protocol):
    """Samples of a period, added up."""

    @property
    def time(self) -> int: ...
    @property
    def n(self) -> float: ...
    @property
    def sum(self) -> float: ...
    @property
    def min(self) -> float: ...
    @property
    def max(self) -> float: ...


class Extended(msgspec.Struct, frozen=True):
    """A percentile, or a statistic of what is between two bounds."""

    kind: Literal["p", "tm", "wm", "tc", "ts", "pr"]
    low: float
    high: float
    percent: bool  # whether the bounds are percentages of the samples, or values


def parsed(text: str) -> Extended | None:
    """The statistic that a text stands for; None if it is one of the plain ones."""
    if text in PLAIN:
        return None
    if text.upper() == "IQM":
        return Extended("tm", 25.0, 75.0, percent=True)
    if match := _SHORT.fullmatch(text):
        high = float(match[2])
        if high <= 100:
            return Extended(match[1].lower(), 0.0, high, percent=True)  # type: ignore[arg-type]
    elif match := _RANGE.fullmatch(text):
        extended = _ranged(match[1].lower(), match[2], match[3])
        if extended is not None:
            return extended
    raise errors.invalid_value(f"The value {text} for parameter Stat is not supported.")


def _ranged(kind: str, low: str, high: str) -> Extended | None:
    bounds = [_BOUND.fullmatch(text) if text else None for text in (low, high)]
    matches = [bound for bound in bounds if bound is not None]
    if not matches or len(matches) < bool(low) + bool(high) or len({match[2] for match in matches}) > 1:
        return None
    percent = matches[0][2] == "%"
    if percent and kind == "pr":
        return None
    first = float(bounds[0][1]) if bounds[0] else (0.0 if percent else -math.inf)
    last = float(bounds[1][1]) if bounds[1] else (100.0 if percent else math.inf)
    return Extended(kind, first, last, percent=percent)  # type: ignore[arg-type]


def value_of(text: str, extended: Extended | None, point: Sampled) -> float | None:
    """A statistic of a point; None if it cannot be told from what is kept of the samples."""
    if extended is not None:
        samples = _samples(point)
        return _extended(extended, point, samples) if samples else None
    match text:
        case "SampleCount":
            return float(point.n)
        case "Sum":
            return point.sum
        case "Minimum":
            return point.min
        case "Maximum":
            return point.max
        case _:
            return point.sum / point.n if point.n else None


def _samples(point: Sampled) -> Samples:
    if isinstance(point, CustomStatistics):
        return point.samples()
    if point.min == point.max:
        return [(point.min, point.n)] if point.n else []
    if not isinstance(point, Point):
        return []
    return [(_middle(bucket, point), float(point.histogram[bucket])) for bucket in sorted(point.histogram)]


def _middle(bucket: int, point: Point) -> float:
    low = BOUNDS[bucket - 1] if bucket else 0.0
    high = BOUNDS[bucket] if bucket < len(BOUNDS) else point.max
    return (max(low, point.min) + min(high, point.max)) / 2


def _extended(statistic: Extended, point: Sampled, samples: Samples) -> float | None:
    if statistic.kind == "p":
        if statistic.high in {0.0, 100.0}:
            return point.max if statistic.high else point.min
        if isinstance(point, Point) and point.histogram:
            return point.percentile(statistic.high)
        return _percentile(samples, statistic.high)
    if statistic.kind == "wm":
        return _winsorized(statistic, samples)
    kept = _kept(statistic, samples)
    count = sum(number for _, number in kept)
    total = sum(value * number for value, number in kept)
    match statistic.kind:
        case "tc":
            return count
        case "ts":
            return total
        case "pr":
            return 100 * count / sum(number for _, number in samples)
        case _:
            return total / count if count else None


def _percentile(samples: Samples, percent: float) -> float:
    wanted = sum(number for _, number in samples) * percent / 100
    passed = 0.0
    for value, number in samples:
        passed += number
        if passed >= wanted:
            return value
    return samples[-1][0]


def _kept(statistic: Extended, samples: Samples) -> Samples:
    """The samples between two bounds: above the lower, up to the upper one."""
    if not statistic.percent:
        return [sample for sample in samples if statistic.low < sample[0] <= statistic.high]
    total = sum(number for _, number in samples)
    low, high = total * statistic.low / 100, total * statistic.high / 100
    kept: Samples = []
    passed = 0.0
    for value, number in samples:
        inside = min(passed + number, high) - max(passed, low)
        if inside > 0:
            kept.append((value, inside))
        passed += number
    return kept


def _winsorized(statistic: Extended, samples: Samples) -> float:
    """The mean where what is outside of the bounds counts as much as what is on them."""
    low, high = statistic.low, statistic.high
    if statistic.percent:
        low, high = _percentile(samples, low), _percentile(samples, high)
    clamped = [(min(max(value, low), high), number) for value, number in samples]
    return sum(value * number for value, number in clamped) / sum(number for _, number in clamped)


def all_parsed(texts: Sequence[str]) -> dict[str, Extended | None]:
    """The statistics that texts stand for."""
    return {text: parsed(text) for text in texts}
