"""Queries of metric data: statistics of metrics, and expressions over them. GetMetricData and alarms share this."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from hashrange.api.cloudwatch.structures import MetricDataQuery, MetricStat
from hashrange.core import effort
from hashrange.core.errors import Expected
from hashrange.core.limits import (
    ALARM_MATH_POINTS_MAX,
    METRIC_DATAPOINTS_READ_MAX,
    METRIC_EXPRESSION_CHARS_MAX,
    METRIC_MATH_POINTS_MAX,
    METRIC_QUERIES_MAX,
)
from hashrange.services.cloudwatch import errors, statistics, times
from hashrange.services.cloudwatch.math import evaluate as math_evaluate
from hashrange.services.cloudwatch.math import parser, tree
from hashrange.services.cloudwatch.math.cost import Estimate, Size, together
from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.math.evaluate import Scope
from hashrange.services.cloudwatch.math.tree import FunctionCall, Node
from hashrange.services.cloudwatch.math.values import Value
from hashrange.services.cloudwatch.metrics import MINUTE, Store
from hashrange.services.cloudwatch.reading import Reading, check_points

_ID = re.compile(r"[a-z][a-zA-Z0-9_]*")
_MEMBER = "MetricDataQueries"


class Queries:
    """Queries that refer to each other, checked and parsed before any data is read."""

    def __init__(self, queries: Sequence[MetricDataQuery]) -> None:
        """Raise what is wrong with them."""
        if len(queries) > METRIC_QUERIES_MAX:
            raise errors.validation(
                f"The collection {_MEMBER} must not have a size greater than {METRIC_QUERIES_MAX}."
            )
        self.by_id = {query.id: query for query in queries}
        if len(self.by_id) < len(queries):
            raise errors.validation(f"The values for parameter id in {_MEMBER} are not unique.")
        chars = sum(len(query.expression) for query in queries if query.expression is not None)
        if chars > METRIC_EXPRESSION_CHARS_MAX:
            raise errors.validation(
                f"The expressions in {_MEMBER} have {chars} characters, which exceeds the limit of "
                f"{METRIC_EXPRESSION_CHARS_MAX}."
            )
        self._trees: dict[str, Node] = {}
        self._names: dict[str, set[str]] = {}  # that expressions refer to
        for query in queries:
            self._check(query)
        self.order = self._ordered()

    def _check(self, query: MetricDataQuery) -> None:
        if not _ID.fullmatch(query.id):
            raise errors.validation(
                f"The value {query.id} for parameter {_MEMBER}.member.Id is not matching the expected pattern "
                "^[a-z][a-zA-Z0-9_]*$."
            )
        if (query.metric_stat is None) == (query.expression is None):
            raise errors.validation(
                f"The parameter {_MEMBER}.member.{query.id} must have exactly one of MetricStat and Expression."
            )
        if query.period is not None:
            times.check_period(query.period)
        if query.metric_stat is not None:
            _check_stat(query.metric_stat)
        if query.expression is not None:
            self._trees[query.id] = _parsed(query.id, query.expression)
            self._names[query.id] = tree.names(self._trees[query.id])

    def _ordered(self) -> list[str]:
        """The ids, each behind those that its expression refers to."""
        order: dict[str, None] = {}
        for first in self.by_id:
            # A stack of our own: 500 expressions may refer to each other in a row.
            stack = [first]
            while stack:
                missing = [] if stack[-1] in order else self._missing(stack[-1], order)
                if not missing:
                    order[stack.pop()] = None
                elif missing[0] in stack:
                    raise errors.validation(
                        f"Error in expression '{stack[-1]}': The expression refers to itself [{missing[0]}]"
                    )
                else:
                    stack.append(missing[0])
        return list(order)

    def _missing(self, query_id: str, order: dict[str, None]) -> list[str]:
        names = self._names.get(query_id, set())
        unknown = sorted(names - self.by_id.keys())
        if unknown:
            raise errors.validation(
                f"Error in expression '{query_id}': Unknown id [{unknown[0]}] in the expression"
            )
        return sorted(names - order.keys())

    def searches(self) -> list[FunctionCall]:
        """Where expressions look for metrics."""
        return [call for node in self._trees.values() for call in tree.calls(node, "SEARCH")]

    def stats(self) -> dict[str, MetricStat]:
        """The statistics of metrics among the queries, by id."""
        return {name: stat for name in self.order if (stat := self.by_id[name].metric_stat) is not None}

    def period(self) -> int:
        """The period of what an expression makes without a metric: the shortest of all, as the service has it."""
        periods = [stat.period for stat in self.stats().values()]
        periods += [query.period for query in self.by_id.values() if query.period is not None]
        return max(MINUTE, min(periods, default=MINUTE))

    def values(
        self, store: Store, start: float, end: float, most: int = METRIC_MATH_POINTS_MAX
    ) -> dict[str, Value]:
        """What every query gives, unless more than `most` points would have to be computed."""
        reading = Reading(store, start, end)
        self._search(reading)
        self._check_work(reading, end - start, most)
        period = self.period()
        times = range(int(start - start % period), int(end), period)
        read = reading.metrics({name: (stat, self.by_id[name].label) for name, stat in self.stats().items()})
        values: dict[str, Value] = dict(read)
        scope = Scope(values, read, times, reading.searched)
        try:
            for query_id, node in ((name, self._trees[name]) for name in self.order if name in self._trees):
                values[query_id] = _evaluated(query_id, node, scope)
        except Expected:
            release(values)
            raise
        return values

    def _search(self, reading: Reading) -> None:
        for query_id, node in self._trees.items():
            if tree.calls(node, "SEARCH"):
                with _telling(query_id):
                    reading.search(self.searches())
                return

    def _check_work(self, reading: Reading, seconds: float, most: int) -> None:
        """Refuse what would take too long, before anything of it is read or computed."""
        sizes = {name: reading.size(stat) for name, stat in self.stats().items()}
        searched = [reading.searched_size(call.arguments) for call in self.searches()]
        check_points(together([*sizes.values(), *searched]).points, METRIC_DATAPOINTS_READ_MAX)
        self._check_math(sizes, reading.searched_size, seconds, most)

    def check_alarm(self, seconds: int) -> None:
        """Refuse expressions that are too much for being evaluated every minute over so long a range."""
        sizes = {
            name: Size(1, times.points_in(0, seconds, stat.period), max(stat.period, MINUTE))
            for name, stat in self.stats().items()
        }
        self._check_math(sizes, lambda _: Size(), seconds, ALARM_MATH_POINTS_MAX)

    def _check_math(
        self, sizes: dict[str, Size], search: Callable[[Sequence[Node]], Size], seconds: float, most: int
    ) -> None:
        def metrics(text: str) -> Size:
            return together([size for name, size in sizes.items() if text in name])

        estimate = Estimate(metrics, search, seconds, self.period())
        estimate.sizes |= sizes
        for query_id in self.order:
            if query_id in self._trees:
                estimate.sizes[query_id] = estimate.of(self._trees[query_id])
            if self.by_id[query_id].return_data is not False:
                estimate.work += estimate.sizes[query_id].points
            check_points(estimate.work, most)


def release(values: dict[str, Value]) -> None:
    """Let go of values, a series at a time: freeing millions of points at once would keep all threads waiting."""
    while values:
        _, value = values.popitem()
        while isinstance(value, list) and value:
            value.pop()


def _check_stat(stat: MetricStat) -> None:
    if stat.metric.namespace is None or stat.metric.metric_name is None:
        raise errors.validation("The parameter MetricStat.Metric must have a Namespace and a MetricName.")
    times.check_period(stat.period)
    statistics.parsed(stat.stat)


@contextmanager
def _telling(query_id: str) -> Iterator[None]:
    """Have what is wrong with an expression told with its id."""
    try:
        yield
    except MathError as error:
        raise errors.validation(f"Error in expression '{query_id}': {error.message}") from None


def _parsed(query_id: str, expression: str) -> Node:
    effort.spend_on_text(expression)
    with _telling(query_id):
        return parser.parse(expression)


def _evaluated(query_id: str, node: Node, scope: Scope) -> Value:
    with _telling(query_id):
        return math_evaluate.evaluate(node, scope)
