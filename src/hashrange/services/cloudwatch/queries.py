"""Queries of metric data: statistics of metrics, and expressions over them. GetMetricData and alarms share this."""

import re
from collections.abc import Sequence

from hashrange.core import effort
from hashrange.core.errors import Expected
from hashrange.core.limits import (
    METRIC_DATAPOINTS_READ_MAX,
    METRIC_QUERIES_MAX,
    SEARCHED_SERIES_MAX,
    SEARCHES_MAX,
)
from hashrange.services.cloudwatch import errors, metrics, search, statistics, times
from hashrange.services.cloudwatch.math import evaluate as math_evaluate
from hashrange.services.cloudwatch.math import parser, tree
from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.math.evaluate import Scope
from hashrange.services.cloudwatch.math.tree import Node
from hashrange.services.cloudwatch.math.values import Series, SeriesList, Value
from hashrange.services.cloudwatch.metrics import MINUTE, MetricKey, Store
from hashrange.services.cloudwatch.structures import MetricDataQuery, MetricStat

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
        self._trees: dict[str, Node] = {}
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
        node = self._trees.get(query_id)
        names = set() if node is None else tree.names(node)
        unknown = sorted(names - self.by_id.keys())
        if unknown:
            raise errors.validation(
                f"Error in expression '{query_id}': Unknown id [{unknown[0]}] in the expression"
            )
        return sorted(names - order.keys())

    def datapoints(self, start: float, end: float) -> int:
        """How many points the metrics of the queries may have."""
        periods = [query.metric_stat.period for query in self.by_id.values() if query.metric_stat is not None]
        searches = sum(tree.calls(node, "SEARCH") for node in self._trees.values())
        count = sum(times.points_in(start, end, period) for period in periods)
        return count + searches * times.points_in(start, end, MINUTE)

    def searches(self) -> bool:
        """Whether an expression looks for metrics."""
        return any(tree.calls(node, "SEARCH") for node in self._trees.values())

    def period(self) -> int:
        """The period of what an expression makes without a metric: the shortest of all, as the service has it."""
        periods = [query.metric_stat.period for query in self.by_id.values() if query.metric_stat is not None]
        periods += [query.period for query in self.by_id.values() if query.period is not None]
        return max(MINUTE, min(periods, default=MINUTE))

    def values(self, store: Store, start: float, end: float) -> dict[str, Value]:
        """What every query gives."""
        period = self.period()
        values: dict[str, Value] = {}
        read: dict[str, Series] = {}
        first = int(start - start % period)
        reading = _Reading(store, start, end)
        scope = Scope(values, read, range(first, int(end), period), reading.search)
        try:
            for query_id in self.order:
                query = self.by_id[query_id]
                if query.metric_stat is not None:
                    values[query_id] = read[query_id] = reading.metric(query.metric_stat, query.label)
                else:
                    values[query_id] = _evaluated(query_id, self._trees[query_id], scope)
        except Expected:
            release(values)
            raise
        return values


def release(values: dict[str, Value]) -> None:
    """Let go of values, a series at a time: freeing a million points at once would keep all threads waiting."""
    while values:
        _, value = values.popitem()
        while isinstance(value, list) and value:
            value.pop()


class _Reading:
    """The metrics of a time range."""

    def __init__(self, store: Store, start: float, end: float) -> None:
        self._store = store
        self._start = start
        self._end = end
        self._left = METRIC_DATAPOINTS_READ_MAX
        self._searches = 0

    def metric(self, stat: MetricStat, label: str | None) -> Series:
        key = metrics.key_of(
            stat.metric.namespace or "", stat.metric.metric_name or "", stat.metric.dimensions
        )
        return self._series(key, stat.stat, stat.period, label or key.name, stat.unit)

    def search(self, expression: str, stat: str, period: int) -> SeriesList:
        """The series of the metrics that fit, by name; the service gives no more than a hundred."""
        if period % MINUTE:
            raise MathError("The period of SEARCH is a multiple of 60")
        self._searches += 1
        if self._searches > SEARCHES_MAX:
            raise MathError(f"There are more than {SEARCHES_MAX} searches in the request")
        # What has to be found is not known beforehand, and may be a hundred thousand metrics.
        effort.leave_shared_thread()
        wanted = search.parse(expression)
        fitting = sorted(key for key in self._store.known(self._start) if wanted.fits(key))
        return [self._series(key, stat, period, _label(key), None) for key in fitting[:SEARCHED_SERIES_MAX]]

    def _series(self, key: MetricKey, stat: str, period: int, label: str, unit: str | None) -> Series:
        extended = statistics.parsed(stat)
        points = self._store.points(key, self._start, self._end, period, unit)
        self._left -= len(points)
        if self._left < 0:
            raise errors.validation(_too_many(METRIC_DATAPOINTS_READ_MAX - self._left))
        told = {point.time: statistics.value_of(stat, extended, point) for point in points}
        values = {time: value for time, value in told.items() if value is not None}
        return Series(label, max(period, MINUTE), values)


def _label(key: MetricKey) -> str:
    return " ".join([*(value for _, value in key.dimensions), key.name])


def check_datapoints(queries: Queries, start: float, end: float) -> None:
    """Refuse what would take too long to read."""
    count = queries.datapoints(start, end)
    if count > METRIC_DATAPOINTS_READ_MAX:
        raise errors.validation(_too_many(count))


def _too_many(count: int) -> str:
    return (
        f"You have requested up to {count} datapoints, which exceeds the limit of {METRIC_DATAPOINTS_READ_MAX}. "
        "You may reduce the datapoints requested by increasing Period, or decreasing the time range."
    )


def _check_stat(stat: MetricStat) -> None:
    if stat.metric.namespace is None or stat.metric.metric_name is None:
        raise errors.validation("The parameter MetricStat.Metric must have a Namespace and a MetricName.")
    times.check_period(stat.period)
    statistics.parsed(stat.stat)


def _parsed(query_id: str, expression: str) -> Node:
    effort.spend_on_text(expression)
    try:
        return parser.parse(expression)
    except MathError as error:
        raise errors.validation(f"Error in expression '{query_id}': {error.message}") from None


def _evaluated(query_id: str, node: Node, scope: Scope) -> Value:
    try:
        return math_evaluate.evaluate(node, scope)
    except MathError as error:
        raise errors.validation(f"Error in expression '{query_id}': {error.message}") from None
