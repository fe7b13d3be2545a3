"""The functions of metric math that need nothing but their arguments."""

import itertools
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.math.values import Series, Value, each

Function = Callable[[Sequence[Value]], Value]
Reduction = Callable[[Sequence[float]], float]


def _pointwise(function: Callable[[float], float]) -> Function:
    def applied(value: float) -> float:
        try:
            return float(function(value))
        except (ArithmeticError, ValueError):
            return math.nan

    def run(arguments: Sequence[Value]) -> Value:
        (value,) = arguments
        if isinstance(value, float):
            return applied(value)
        return each(
            value, lambda series: series.with_points({t: applied(v) for t, v in series.points.items()})
        )

    return run


def _reducing(reduction: Reduction, name: str) -> Function:
    """A list becomes one series, a series one number."""

    def run(arguments: Sequence[Value]) -> Value:
        first = arguments[0]
        if len(arguments) > 1 or isinstance(first, float):
            return _over(_listed(arguments, name), reduction)
        if isinstance(first, list):
            return _over(first, reduction)
        return float(reduction(list(first.points.values()))) if first.points else math.nan

    return run


def _listed(arguments: Sequence[Value], name: str) -> list[Series]:
    series = [argument for argument in arguments if isinstance(argument, Series)]
    if len(series) < len(arguments):
        raise MathError(f"{name} needs time series")
    return series


def _over(several: Sequence[Series], reduction: Reduction) -> Series:
    """What a reduction gives for the values that several series have at a time; gaps do not count."""
    if not several:
        return Series("", 60, {})
    by_time: dict[int, list[float]] = {}
    for series in several:
        for time, value in series.points.items():
            by_time.setdefault(time, []).append(value)
    points = {time: float(reduction(by_time[time])) for time in sorted(by_time)}
    return Series(several[0].label, max(series.period for series in several), {}).with_points(points)


def _changing(change: Callable[[float, int], float]) -> Function:
    """What a change from one point to the next comes to; `change` is given the difference and the seconds."""

    def changed(series: Series) -> Series:
        times = sorted(series.points)
        points = {
            time: change(series.points[time] - series.points[before], time - before)
            for before, time in itertools.pairwise(times)
        }
        return series.with_points(points)

    return lambda arguments: each(arguments[0], changed)


def _dated(part: Callable[[datetime], float]) -> Function:
    def run(arguments: Sequence[Value]) -> Value:
        return each(
            arguments[0],
            lambda series: series.with_points(
                {t: part(datetime.fromtimestamp(t, UTC)) for t in series.points}
            ),
        )

    return run


def _count(arguments: Sequence[Value]) -> Value:
    (value,) = arguments
    if isinstance(value, Series):
        return float(len(value.points))
    return _over(value, lambda values: float(len(values))) if isinstance(value, list) else 1.0


def _metric_count(arguments: Sequence[Value]) -> Value:
    (value,) = arguments
    return float(len(value)) if isinstance(value, list) else 1.0


def _period(arguments: Sequence[Value]) -> Value:
    (value,) = arguments
    if not isinstance(value, Series):
        raise MathError("PERIOD needs a time series")
    return float(value.period)


def _running_sum(series: Series) -> Series:
    total, points = 0.0, {}
    for time in sorted(series.points):
        total += series.points[time]
        points[time] = total
    return series.with_points(points)


def _at_end(end: int) -> Function:
    def run(arguments: Sequence[Value]) -> Value:
        (value,) = arguments
        if not isinstance(value, list) or not value:
            raise MathError("FIRST and LAST need a list of time series")
        return value[end]

    return run


def _remove_empty(arguments: Sequence[Value]) -> Value:
    (value,) = arguments
    if not isinstance(value, list):
        raise MathError("REMOVE_EMPTY needs a list of time series")
    return [series for series in value if series.points]


def _slice(arguments: Sequence[Value]) -> Value:
    several, *bounds = arguments
    if not isinstance(several, list) or not bounds or len(bounds) > 2:
        raise MathError("SLICE needs a list of time series and one or two numbers")
    numbers = [int(bound) for bound in bounds if isinstance(bound, float)]
    if len(numbers) < len(bounds):
        raise MathError("SLICE needs numbers")
    return several[numbers[0] :] if len(numbers) == 1 else several[numbers[0] : numbers[1]]


def _deviation(values: Sequence[float]) -> float:
    """That of the whole population; `statistics.pstdev` computes with fractions, which takes fifty times as long."""
    try:
        mean = math.fsum(values) / len(values)
        return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    except OverflowError:
        return math.nan


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values)


PLAIN: dict[str, Function] = {
    "ABS": _pointwise(abs),
    "AVG": _reducing(_average, "AVG"),
    "CEIL": _pointwise(math.ceil),
    "DATAPOINT_COUNT": _count,
    "DATE": _dated(lambda at: at.day),
    "DAY": _dated(lambda at: at.isoweekday()),
    "DIFF": _changing(lambda difference, _: difference),
    "DIFF_TIME": _changing(lambda _, seconds: float(seconds)),
    "EPOCH": _dated(lambda at: at.timestamp()),
    "FIRST": _at_end(0),
    "FLOOR": _pointwise(math.floor),
    "HOUR": _dated(lambda at: at.hour),
    "LAST": _at_end(-1),
    "LOG": _pointwise(math.log),
    "LOG10": _pointwise(math.log10),
    "MAX": _reducing(max, "MAX"),
    "METRIC_COUNT": _metric_count,
    "MIN": _reducing(min, "MIN"),
    "MINUTE": _dated(lambda at: at.minute),
    "MONTH": _dated(lambda at: at.month),
    "PERIOD": _period,
    "RATE": _changing(lambda difference, seconds: difference / seconds),
    "REMOVE_EMPTY": _remove_empty,
    "RUNNING_SUM": lambda arguments: each(arguments[0], _running_sum),
    "SLICE": _slice,
    "STDDEV": _reducing(_deviation, "STDDEV"),
    "SUM": _reducing(sum, "SUM"),
    "YEAR": _dated(lambda at: at.year),
}
ARGUMENTS_MAX = {"SLICE": 3, "AVG": 100, "MAX": 100, "MIN": 100, "STDDEV": 100, "SUM": 100}
