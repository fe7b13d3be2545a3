"""Reading the metrics of a request: those that it names, and those that its searches find."""

import heapq
from collections.abc import Mapping, Sequence

from hashrange.api.cloudwatch.structures import MetricStat
from hashrange.core import effort
from hashrange.core.limits import METRIC_DATAPOINTS_READ_MAX, SEARCHED_SERIES_MAX, SEARCHES_MAX
from hashrange.services.cloudwatch import errors, metrics, search, statistics
from hashrange.services.cloudwatch.math.cost import Size
from hashrange.services.cloudwatch.math.errors import MathError
from hashrange.services.cloudwatch.math.tree import FunctionCall, Node, Number, String
from hashrange.services.cloudwatch.math.values import Series, SeriesList
from hashrange.services.cloudwatch.metrics import MINUTE, MetricKey, Store, Wanted
from hashrange.services.cloudwatch.search import Candidate
from hashrange.services.cloudwatch.statistics import Sampled

_KEY_UNITS = 1000  # to compare a metric with a search: five microseconds


class Reading:
    """The metrics of a time range."""

    def __init__(self, store: Store, start: float, end: float) -> None:
        self._store = store
        self._start = start
        self._end = end
        self._left = METRIC_DATAPOINTS_READ_MAX
        self._found: dict[str, list[MetricKey]] = {}  # by search expression

    def metrics(self, stats: Mapping[str, tuple[MetricStat, str | None]]) -> dict[str, Series]:
        """The series of statistics, with their labels, by id; what belongs together is read together."""
        wanted = {name: _wanted(stat) for name, (stat, _) in stats.items()}
        points = self._store.all_points(wanted.values(), self._start, self._end)
        return {
            name: self._series(stat.stat, wanted[name], label or wanted[name].key.name, points[wanted[name]])
            for name, (stat, label) in stats.items()
        }

    def size(self, stat: MetricStat) -> Size:
        """How much a statistic may be."""
        wanted = _wanted(stat)
        count = self._store.points_max(wanted, self._start, self._end)
        return Size(1, count, max(stat.period, MINUTE))

    def search(self, calls: Sequence[FunctionCall]) -> None:
        """Find the metrics of all searches, which may be among a hundred thousand: all are looked at once."""
        if len(calls) > SEARCHES_MAX:
            raise MathError(f"There are more than {SEARCHES_MAX} searches in the request")
        texts = {text for call in calls if (text := _text(call.arguments)) is not None}
        if not texts:
            return
        effort.leave_shared_thread()
        searches = {text: search.parse(text) for text in texts}
        self._found = {text: [] for text in texts}
        for key in self._store.known(self._start):
            effort.spend(_KEY_UNITS)
            candidate = Candidate(key)
            for text, wanted in searches.items():
                if wanted.fits(candidate):
                    self._found[text].append(key)
                    if len(self._found[text]) > 2 * SEARCHED_SERIES_MAX:
                        self._found[text] = _first(self._found[text])

    def searched_size(self, arguments: Sequence[Node]) -> Size:
        """How much a search gives."""
        keys = self._keys(arguments)
        period = MINUTE
        if len(arguments) > 2 and isinstance(arguments[2], Number) and arguments[2].value >= MINUTE:
            period = int(arguments[2].value)
        counts = [self._store.points_max(Wanted(key, period), self._start, self._end) for key in keys]
        return Size(len(keys), sum(counts), period)

    def _keys(self, arguments: Sequence[Node]) -> list[MetricKey]:
        text = _text(arguments)
        return [] if text is None else _first(self._found[text])

    def searched(self, expression: str, stat: str, period: int) -> SeriesList:
        """The series of the metrics that fit, by name; the service gives no more than a hundred."""
        if period % MINUTE:
            raise MathError("The period of SEARCH is a multiple of 60")
        wanted = [Wanted(key, period) for key in _first(self._found[expression])]
        points = self._store.all_points(wanted, self._start, self._end)
        return [self._series(stat, one, _label(one.key), points[one]) for one in wanted]

    def _series(self, stat: str, wanted: Wanted, label: str, points: Sequence[Sampled]) -> Series:
        extended = statistics.parsed(stat)
        self._left -= len(points)
        check_points(METRIC_DATAPOINTS_READ_MAX - self._left, METRIC_DATAPOINTS_READ_MAX)
        told = {point.time: statistics.value_of(stat, extended, point) for point in points}
        values = {time: value for time, value in told.items() if value is not None}
        return Series(label, max(wanted.period, MINUTE), values)


def _wanted(stat: MetricStat) -> Wanted:
    key = metrics.key_of(stat.metric.namespace or "", stat.metric.metric_name or "", stat.metric.dimensions)
    return Wanted(key, stat.period, stat.unit)


def _text(arguments: Sequence[Node]) -> str | None:
    """The search expression; one that is no text is refused when it is evaluated."""
    first = arguments[0] if arguments else None
    return first.text if isinstance(first, String) else None


def _first(keys: list[MetricKey]) -> list[MetricKey]:
    return heapq.nsmallest(SEARCHED_SERIES_MAX, keys)


def _label(key: MetricKey) -> str:
    return " ".join([*(value for _, value in key.dimensions), key.name])


def check_points(count: int, most: int) -> None:
    """Refuse more points than there may be."""
    if count > most:
        raise errors.validation(
            f"You have requested up to {count} datapoints, which exceeds the limit of {most}. "
            "You may reduce the datapoints requested by increasing Period, or decreasing the time range."
        )
