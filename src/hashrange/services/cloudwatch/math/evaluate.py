"""What an expression gives."""

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence

from hashrange.core import effort
from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.math.functions import ARGUMENTS_MAX, PLAIN
from hashrange.services.cloudwatch.math.tree import (
    Array,
    Binary,
    BinaryOperator,
    FunctionCall,
    Name,
    Negation,
    Node,
    Number,
    String,
)
from hashrange.services.cloudwatch.math.values import Operation, Series, SeriesList, Value, combined, each

_OPERATIONS: dict[BinaryOperator, Operation] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": math.pow,
    "<": lambda left, right: float(left < right),
    "<=": lambda left, right: float(left <= right),
    ">": lambda left, right: float(left > right),
    ">=": lambda left, right: float(left >= right),
    "==": lambda left, right: float(left == right),
    "!=": lambda left, right: float(left != right),
    "AND": lambda left, right: float(bool(left) and bool(right)),
    "OR": lambda left, right: float(bool(left) or bool(right)),
}
_SORTS: dict[str, Callable[[Sequence[float]], float]] = {
    "SUM": sum,
    "MAX": max,
    "MIN": min,
    "AVG": lambda values: sum(values) / len(values),
}

_POINT_UNITS = 200  # a point that is computed takes a microsecond

Search = Callable[[str, str, int], SeriesList]  # the search expression, the statistic, the period


class Scope:
    """What an expression may refer to."""

    def __init__(
        self, values: Mapping[str, Value], metrics: Mapping[str, Series], times: range, search: Search
    ) -> None:
        """Both by id: all values, and those that METRICS() gives; and the times at which periods begin."""
        self.values = values
        self.metrics = metrics
        self.times = times
        self.search = search


def evaluate(node: Node, scope: Scope) -> Value:
    """The value of an expression."""
    value = _value(node, scope)
    if isinstance(value, Series):
        effort.spend(_POINT_UNITS * len(value.points))
    elif isinstance(value, list):
        effort.spend(_POINT_UNITS * sum(len(series.points) for series in value))
    return value


def _value(node: Node, scope: Scope) -> Value:
    match node:
        case Number():
            return node.value
        case String():
            raise MathError("A text is only an argument of functions")
        case Name():
            if node.name not in scope.values:
                raise MathError(f"Unknown id '{node.name}'")
            return scope.values[node.name]
        case Negation():
            return combined(0.0, evaluate(node.operand, scope), operator.sub)
        case Binary():
            left, right = evaluate(node.left, scope), evaluate(node.right, scope)
            return combined(left, right, _OPERATIONS[node.operator])
        case Array():
            return _array(node.elements, scope)
        case FunctionCall():
            return _called(node, scope)


def _array(elements: Sequence[Node], scope: Scope) -> SeriesList:
    several: SeriesList = []
    for element in elements:
        value = evaluate(element, scope)
        if isinstance(value, float):
            raise MathError("A list has only time series")
        several += value if isinstance(value, list) else [value]
    return several


def _called(call: FunctionCall, scope: Scope) -> Value:
    own = _OWN.get(call.function)
    if own is not None:
        return own(call.arguments, scope)
    plain = PLAIN.get(call.function)
    if plain is None:
        raise MathError(f"Unsupported function {call.function}")
    if not 1 <= len(call.arguments) <= ARGUMENTS_MAX.get(call.function, 1):
        raise MathError(f"Wrong number of arguments for {call.function}")
    return plain([evaluate(argument, scope) for argument in call.arguments])


def _text(node: Node) -> str:
    if not isinstance(node, String):
        raise MathError("A text in quotes is needed here")
    return node.text


def _metrics(arguments: Sequence[Node], scope: Scope) -> Value:
    """All metrics of the request, or those whose ids contain a text."""
    part = _text(arguments[0]) if arguments else ""
    return [series for name, series in scope.metrics.items() if part in name]


def _fill(arguments: Sequence[Node], scope: Scope) -> Value:
    if len(arguments) != 2:
        raise MathError("FILL needs two arguments")
    value = evaluate(arguments[0], scope)
    how = arguments[1]
    if isinstance(how, Name) and how.name in {"REPEAT", "LINEAR"}:
        filled = _repeated if how.name == "REPEAT" else _interpolated
        return each(value, lambda series: filled(series, scope))
    filler = evaluate(how, scope)
    if isinstance(filler, list):
        raise MathError("FILL fills with a number or a time series")

    def fill(series: Series) -> Series:
        points = dict.fromkeys(_times(series, scope), filler) if isinstance(filler, float) else filler.points
        return series.with_points({**points, **series.points})

    return each(value, fill)


def _times(series: Series, scope: Scope) -> range:
    """When the series could have points."""
    start = scope.times.start - scope.times.start % series.period
    return range(start, scope.times.stop, series.period)


def _repeated(series: Series, scope: Scope) -> Series:
    points = dict(series.points)
    last: float | None = None
    for time in _times(series, scope):
        last = points.get(time, last)
        if last is not None:
            points[time] = last
    return series.with_points(points)


def _interpolated(series: Series, scope: Scope) -> Series:
    points = dict(series.points)
    known = sorted(points)
    for before, after in itertools.pairwise(known):
        slope = (points[after] - points[before]) / (after - before)
        for time in range(before + series.period, after, series.period):
            points[time] = points[before] + slope * (time - before)
    return series.with_points(points)


def _if(arguments: Sequence[Node], scope: Scope) -> Value:
    if len(arguments) not in {2, 3}:
        raise MathError("IF needs two or three arguments")
    condition = evaluate(arguments[0], scope)
    chosen = evaluate(arguments[1], scope)
    other = evaluate(arguments[2], scope) if len(arguments) == 3 else None
    if isinstance(condition, float):
        return chosen if condition else _or_gap(other, chosen)
    if isinstance(condition, list):
        raise MathError("The condition of IF is a number or one time series")
    points = {}
    for time, flag in condition.points.items():
        value = _at(chosen if flag else other, time)
        if value is not None:
            points[time] = value
    return condition.with_points(points)


def _or_gap(other: Value | None, chosen: Value) -> Value:
    if other is not None:
        return other
    return chosen.with_points({}) if isinstance(chosen, Series) else Series("", 60, {})


def _at(value: Value | None, time: int) -> float | None:
    if isinstance(value, Series):
        return value.points.get(time)
    if isinstance(value, list):
        raise MathError("IF chooses between numbers and single time series")
    return value


def _time_series(arguments: Sequence[Node], scope: Scope) -> Value:
    if len(arguments) != 1:
        raise MathError("TIME_SERIES needs a number")
    value = evaluate(arguments[0], scope)
    if not isinstance(value, float):
        raise MathError("TIME_SERIES needs a number")
    return Series("", scope.times.step, dict.fromkeys(scope.times, value))


def _sort(arguments: Sequence[Node], scope: Scope) -> Value:
    """SORT(list, function, order[, how many])."""
    if len(arguments) not in {3, 4}:
        raise MathError("SORT needs three or four arguments")
    several = evaluate(arguments[0], scope)
    words = [argument.name.upper() for argument in arguments[1:3] if isinstance(argument, Name)]
    if (
        not isinstance(several, list)
        or len(words) < 2
        or words[0] not in _SORTS
        or words[1] not in {"ASC", "DESC"}
    ):
        raise MathError("SORT needs a list of time series, AVG, MIN, MAX or SUM, and ASC or DESC")
    by, empty = _SORTS[words[0]], [series for series in several if not series.points]
    full = sorted(
        (series for series in several if series.points),
        key=lambda series: by(list(series.points.values())),
        reverse=words[1] == "DESC",
    )
    ordered = full + empty
    if len(arguments) == 3:
        return ordered
    limit = evaluate(arguments[3], scope)
    if not isinstance(limit, float):
        raise MathError("SORT needs a number as its last argument")
    return ordered[: max(0, int(limit))]


def _search(arguments: Sequence[Node], scope: Scope) -> Value:
    if len(arguments) not in {2, 3}:
        raise MathError("SEARCH needs two or three arguments")
    period = evaluate(arguments[2], scope) if len(arguments) == 3 else float(scope.times.step)
    if not isinstance(period, float) or not period >= 1:
        raise MathError("The period of SEARCH is a number")
    return scope.search(_text(arguments[0]), _text(arguments[1]), int(period))


_OWN: dict[str, Callable[[Sequence[Node], Scope], Value]] = {
    "FILL": _fill,
    "IF": _if,
    "METRICS": _metrics,
    "SEARCH": _search,
    "SORT": _sort,
    "TIME_SERIES": _time_series,
}
