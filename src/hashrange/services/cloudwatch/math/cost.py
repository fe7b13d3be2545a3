"""How much work an expression is, told from how many series and points it begins with: before any of them is read."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hashrange.services.cloudwatch.math.tree import (
    Array,
    Binary,
    FunctionCall,
    Name,
    Negation,
    Node,
    Number,
    String,
)

_REDUCTIONS = frozenset({"AVG", "MAX", "MIN", "STDDEV", "SUM", "DATAPOINT_COUNT"})


class Size(NamedTuple):
    """How much a value may be: a number has no series. The period is the shortest of all series."""

    series: int = 0
    points: int = 0
    period: int = 0


def together(sizes: Sequence[Size]) -> Size:
    """Several values in one list."""
    periods = [size.period for size in sizes if size.period]
    return Size(
        sum(size.series for size in sizes), sum(size.points for size in sizes), min(periods, default=0)
    )


class Estimate:
    """Adds up the points that are computed; what a value may be is at least what it is."""

    def __init__(
        self,
        metrics: Callable[[str], Size],
        search: Callable[[Sequence[Node]], Size],
        seconds: float,
        period: int,
    ) -> None:
        """`metrics` says what METRICS of a text gives, and `search` what SEARCH of its arguments does."""
        self.sizes: dict[str, Size] = {}
        self.work = 0
        self._metrics = metrics
        self._search = search
        self._seconds = seconds
        self._period = period

    def of(self, node: Node) -> Size:
        """What an expression gives; its work is added."""
        match node:
            case Number() | String():
                size = Size()
            case Name():
                return self.sizes.get(node.name, Size())
            case Negation():
                size = self.of(node.operand)
            case Binary():
                left, right = self.of(node.left), self.of(node.right)
                period = min(filter(None, (left.period, right.period)), default=0)
                size = Size(max(left.series, right.series), max(left.points, right.points), period)
            case Array():
                size = together([self.of(element) for element in node.elements])
                self.work += size.series  # the series themselves are not copied
                return size
            case FunctionCall():
                return self._called(node)
        self.work += size.points + 1
        return size

    def _called(self, call: FunctionCall) -> Size:
        if call.function == "SEARCH":
            return self._search(call.arguments)
        if call.function == "METRICS":
            self.work += len(self.sizes)  # all ids are looked at
            first = call.arguments[0] if call.arguments else None
            return self._metrics(first.text if isinstance(first, String) else "")
        arguments = [self.of(argument) for argument in call.arguments]
        everything = together(arguments)
        self.work += everything.points + everything.series + 1
        if call.function == "TIME_SERIES":
            return self._filled(Size(1, 0, self._period))
        if call.function == "FILL":
            return self._filled(everything)
        if call.function in _REDUCTIONS:
            return Size(1, min(everything.points, self._grid(everything.period)), everything.period)
        return everything

    def _filled(self, size: Size) -> Size:
        filled = Size(size.series, size.points + size.series * self._grid(size.period), size.period)
        self.work += filled.points
        return filled

    def _grid(self, period: int) -> int:
        return int(self._seconds / (period or self._period)) + 1
