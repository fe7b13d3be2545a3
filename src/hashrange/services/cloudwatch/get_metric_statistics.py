"""GetMetricStatistics: statistics of one metric, for every period of a time range that has samples."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.cloudwatch.structures import (
    Dimensions,
    MetricName,
    Namespace,
    Period,
    Statistic,
    Timestamp,
    Unit,
)
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.core.limits import STATISTICS_DATAPOINTS_MAX
from hashrange.services.cloudwatch import errors, metrics, statistics, times
from hashrange.services.cloudwatch.metrics import Wanted
from hashrange.services.cloudwatch.statistics import Extended, Sampled
from hashrange.storage.engine import Reader


class GetMetricStatistics(Request, kw_only=True):
    """The request."""

    namespace: Namespace
    metric_name: MetricName
    dimensions: Dimensions | None = None
    start_time: Timestamp
    end_time: Timestamp
    period: Period
    statistics: Annotated[list[Statistic], Meta(min_length=1, max_length=5)] | None = None
    extended_statistics: Annotated[list[str], Meta(min_length=1, max_length=10)] | None = None
    unit: Unit | None = None


SHAPE = Shape(GetMetricStatistics)


class Datapoint(Response, kw_only=True):
    """The statistics of a period."""

    timestamp: Timestamp
    sample_count: float | None = None
    average: float | None = None
    sum: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    unit: str
    extended_statistics: dict[str, float] | None = None


class GetMetricStatisticsOutput(Response, kw_only=True):
    """The answer."""

    label: str
    datapoints: list[Datapoint]


def get_metric_statistics(context: Context, request: GetMetricStatistics) -> Plan:
    """A metric that nobody has heard of has no points; that is no error."""
    times.check_range(request.start_time, request.end_time)
    times.check_period(request.period)
    if not request.statistics and not request.extended_statistics:
        raise errors.invalid_combination(
            "At least one of the parameters Statistics and ExtendedStatistics must be specified."
        )
    count = times.points_in(request.start_time, request.end_time, request.period)
    if count > STATISTICS_DATAPOINTS_MAX:
        raise errors.invalid_combination(
            f"You have requested up to {count} datapoints, which exceeds the limit of {STATISTICS_DATAPOINTS_MAX}. "
            "You may reduce the datapoints requested by increasing Period, or decreasing the time range."
        )
    extended = statistics.all_parsed(request.extended_statistics or ())
    key = metrics.key_of(request.namespace, request.metric_name, request.dimensions)

    wanted = Wanted(key, request.period, request.unit)

    def step(reader: Reader) -> Described:
        store = metrics.store_of(context, reader)
        points = store.points(wanted, request.start_time, request.end_time)
        shown = [_datapoint(request, extended, point, metrics.unit_of(key, point)) for point in points]
        return Described(GetMetricStatisticsOutput(label=request.metric_name, datapoints=shown))

    return Read(step)


def _datapoint(
    request: GetMetricStatistics, extended: dict[str, Extended | None], point: Sampled, unit: str
) -> Datapoint:
    values = {name: statistics.value_of(name, None, point) for name in request.statistics or ()}
    more = {name: statistics.value_of(name, statistic, point) for name, statistic in extended.items()}
    told = {name: value for name, value in more.items() if value is not None}
    return Datapoint(
        timestamp=float(point.time),
        sample_count=values.get("SampleCount"),
        average=values.get("Average"),
        sum=values.get("Sum"),
        minimum=values.get("Minimum"),
        maximum=values.get("Maximum"),
        unit=unit,
        extended_statistics=told or None,
    )
