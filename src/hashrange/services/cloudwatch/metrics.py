"""Where the data of a metric comes from: DynamoDB's own, or what clients put."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from hashrange.api.cloudwatch.structures import Dimension, Metric
from hashrange.api.context import Context
from hashrange.core import effort
from hashrange.core.limits import CLOUDWATCH_METRIC_SECONDS
from hashrange.services.cloudwatch.statistics import Sampled
from hashrange.storage import custom_metric_rows, metric_rows
from hashrange.storage.custom_metric_rows import CustomSeries, CustomStatistics
from hashrange.storage.engine import Reader
from hashrange.storage.metric_rows import WantedSeries

DYNAMODB = "AWS/DynamoDB"
MINUTE = 60
DAY = 86_400
_POINT_UNITS = 200  # to make a point: a microsecond
_UNITS = {
    "ReplicationLatency": "Milliseconds",
    "ReturnedBytes": "Bytes",
    "SuccessfulRequestLatency": "Milliseconds",
}


class MetricKey(NamedTuple):
    """What identifies a metric."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]  # by name

    def structure(self) -> Metric:
        """The metric as answers show it."""
        dimensions = [Dimension(name=name, value=value) for name, value in self.dimensions]
        return Metric(namespace=self.namespace, metric_name=self.name, dimensions=dimensions)


def key_of(namespace: str, name: str, dimensions: Iterable[Dimension] | None) -> MetricKey:
    """The key of a metric, in whatever order its dimensions were sent."""
    pairs = {dimension.name: dimension.value for dimension in dimensions or ()}
    return MetricKey(namespace, name, tuple(sorted(pairs.items())))


class Position(msgspec.Struct, frozen=True):
    """Where a metric stands among all of them: its number among those of its table, or its digest."""

    table: str = ""
    number: int = 0
    digest: str | None = None


class Wanted(NamedTuple):
    """A metric to be read, by periods of a length; only samples of a unit, if one is named."""

    key: MetricKey
    period: int
    unit: str | None = None


class Store(NamedTuple):
    """The metrics of one account and region, in one snapshot."""

    reader: Reader
    account_id: str
    region: str
    now: float

    def points(self, wanted: Wanted, start: float, end: float) -> Sequence[Sampled]:
        """The points of a metric from `start` to before `end`, which begin at multiples of the period."""
        return self.all_points([wanted], start, end)[wanted]

    def all_points(
        self, wanted: Iterable[Wanted], start: float, end: float
    ) -> dict[Wanted, Sequence[Sampled]]:
        """The points of several metrics; those of a table are read together."""
        found: dict[Wanted, Sequence[Sampled]] = {}
        own: dict[Wanted, WantedSeries] = {}
        for one in wanted:
            period = max(one.period, MINUTE)
            effort.spend(_POINT_UNITS * self.points_max(one, start, end))
            if one.key.namespace != DYNAMODB:
                first = max(start, self.now - CLOUDWATCH_METRIC_SECONDS - period)
                found[one] = list(self._custom_points(one.key, first, end, period, one.unit))
            elif one.unit in {None, unit_of(one.key)}:
                own[one] = WantedSeries(one.key.name, one.key.dimensions, period)
            else:
                found[one] = []
        start = max(start, self.now - CLOUDWATCH_METRIC_SECONDS - DAY)
        if start >= end:
            return found | {one: [] for one in own}
        rows = metric_rows.read_many(
            self.reader, self.account_id, self.region, own.values(), start, end, now=self.now
        )
        return found | {one: rows[series] for one, series in own.items()}

    def points_max(self, wanted: Wanted, start: float, end: float) -> int:
        """How many points there may be: what is old is kept by longer periods, unless zeros are put in between."""
        period = max(wanted.period, MINUTE)
        start = max(start, self.now - CLOUDWATCH_METRIC_SECONDS - period)
        if wanted.key.namespace == DYNAMODB and wanted.key.name in metric_rows.ZERO_FILLED:
            return max(0, math.ceil((end - start) / period))
        count, until = 0, end
        for old in metric_rows.AGES:
            since = max(start, self.now - old.kept_seconds)
            if since < until:
                count += math.ceil((until - since) / max(period, old.resolution))
                until = since
        return count

    def _custom_points(
        self, key: MetricKey, start: float, end: float, period: int, unit: str | None
    ) -> Iterator[CustomStatistics]:
        points: dict[int, CustomStatistics] = {}
        first = start - start % period
        rows = custom_metric_rows.read(
            self.reader, self.account_id, self.region, CustomSeries(*key), first, end
        )
        for row in rows:
            if unit is None or row.unit == unit:
                time = row.time - row.time % period
                points.setdefault(time, CustomStatistics(time=time, unit=row.unit)).merge(row)
        for time in sorted(points):
            yield points[time]

    def known(self, since: float) -> Iterator[MetricKey]:
        """Every metric that had a sample since a time."""
        for _, key in self.known_behind(since, None):
            yield key

    def known_behind(self, since: float, behind: "Position | None") -> Iterator[tuple["Position", MetricKey]]:
        """Every metric behind a position, with its own one: DynamoDB's by table, then those of clients."""
        if behind is None or behind.digest is None:
            yield from self._own_behind(since, behind or Position())
        after = b"" if behind is None or behind.digest is None else bytes.fromhex(behind.digest)
        for digest, series in custom_metric_rows.known_series(
            self.reader, self.account_id, self.region, since=since, after=after
        ):
            key = MetricKey(series.namespace, series.metric, series.dimensions)
            yield Position(digest=digest.hex()), key

    def _own_behind(self, since: float, behind: "Position") -> Iterator[tuple["Position", MetricKey]]:
        table, number = None, 0
        for name, dimensions in metric_rows.known_series(
            self.reader, self.account_id, self.region, since=since, from_table=behind.table
        ):
            current = dimensions.get("TableName", "")
            number = number + 1 if current == table else 1
            table = current
            if current != behind.table or number > behind.number:
                key = MetricKey(DYNAMODB, name, tuple(sorted(dimensions.items())))
                yield Position(current, number), key


def store_of(context: Context, reader: Reader) -> Store:
    """The caller's metrics."""
    return Store(reader, context.account_id, context.region, context.clock.now())


def unit_of(key: MetricKey, point: Sampled | None = None) -> str:
    """The unit of a metric; that of a custom one is known by its points."""
    if isinstance(point, CustomStatistics):
        return point.unit
    return _UNITS.get(key.name) or ("Percent" if key.name.endswith("Utilization") else "Count")
