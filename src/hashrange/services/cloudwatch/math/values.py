"""What expressions are made of and give: numbers, time series, and lists of series."""

import math
from collections.abc import Callable

import msgspec

from hashrange.services.cloudwatch.math.errors import MathError


class Series(msgspec.Struct, frozen=True):
    """Values by time (epoch seconds), every `period` seconds where there are no gaps."""

    label: str
    period: int
    points: dict[int, float]

    def with_points(self, points: dict[int, float]) -> "Series":
        """The same with other values; those that are no numbers are gaps."""
        kept = {time: value for time, value in points.items() if math.isfinite(value)}
        return Series(self.label, self.period, kept)


SeriesList = list[Series]
Value = float | Series | SeriesList

Operation = Callable[[float, float], float]


def combined(left: Value, right: Value, operation: Operation) -> Value:
    """Apply an operation point by point: a number counts for every point, a point that one side lacks is a gap."""
    match left, right:
        case float(), float():
            return _applied(operation, left, right)
        case Series(), float():
            return left.with_points({time: _applied(operation, v, right) for time, v in left.points.items()})
        case float(), Series():
            return right.with_points({time: _applied(operation, left, v) for time, v in right.points.items()})
        case Series(), Series():
            return _joined(left, right, operation)
        case list(), list():
            if len(left) != len(right):
                raise MathError("Both lists of time series need the same number of them")
            return [_series(combined(one, other, operation)) for one, other in zip(left, right, strict=True)]
        case list(), _:
            return [_series(combined(one, right, operation)) for one in left]
        case _, list():
            return [_series(combined(left, other, operation)) for other in right]
    raise MathError("An operand has no value")


def _joined(left: Series, right: Series, operation: Operation) -> Series:
    points = {
        time: _applied(operation, value, right.points[time])
        for time, value in left.points.items()
        if time in right.points
    }
    return Series(left.label, max(left.period, right.period), {}).with_points(points)


def _applied(operation: Operation, left: float, right: float) -> float:
    """A value, or NaN, which becomes a gap: a division by zero leaves one in the service too."""
    try:
        return operation(left, right)
    except (ArithmeticError, ValueError, TypeError):
        return math.nan


def _series(value: Value) -> Series:
    if not isinstance(value, Series):
        raise MathError("A time series is needed here")
    return value


def each(value: Value, function: Callable[[Series], Series]) -> Value:
    """Apply a function to a series, or to all of a list."""
    if isinstance(value, Series):
        return function(value)
    if isinstance(value, list):
        return [function(series) for series in value]
    raise MathError("A time series is needed here")
