"""GetMetricData: statistics of many metrics and expressions over them, by pages."""

from collections.abc import Iterator
from typing import NamedTuple

from hashrange.api.cloudwatch.structures import MetricDataQuery, ScanBy, Timestamp
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, Structure
from hashrange.api.results import Described
from hashrange.core.limits import METRIC_DATAPOINTS_MAX
from hashrange.services.cloudwatch import errors, metrics, times, tokens
from hashrange.services.cloudwatch.math.values import Value
from hashrange.services.cloudwatch.queries import Queries, release
from hashrange.storage.engine import Reader


class LabelOptions(Structure, kw_only=True):
    """How times in labels are shown."""

    timezone: str | None = None


class GetMetricData(Request, kw_only=True):
    """The request."""

    metric_data_queries: list[MetricDataQuery]
    start_time: Timestamp
    end_time: Timestamp
    next_token: str | None = None
    scan_by: ScanBy | None = None
    max_datapoints: int | None = None
    label_options: LabelOptions | None = None


SHAPE = Shape(GetMetricData)


class MessageData(Response, kw_only=True):
    """A remark on the answer."""

    code: str
    value: str


class MetricDataResult(Response, kw_only=True):
    """The points of one series."""

    id: str
    label: str
    timestamps: list[Timestamp]
    values: list[float]
    status_code: str
    messages: list[MessageData] | None = None


class GetMetricDataOutput(Response, kw_only=True):
    """The answer."""

    metric_data_results: list[MetricDataResult]
    next_token: str | None = None
    messages: list[MessageData]


class _Line(NamedTuple):
    """A series that is asked for."""

    id: str
    label: str
    points: dict[int, float]


def get_metric_data(context: Context, request: GetMetricData) -> Plan:
    """The points of all series count for a page, in the order of the queries; a token says how many were given."""
    times.check_range(request.start_time, request.end_time)
    queries = Queries(request.metric_data_queries)
    start, end = request.start_time, min(request.end_time, context.clock.now() + 2 * 86_400)
    limit = _limit(request.max_datapoints)
    asked = (request.metric_data_queries, request.start_time, request.end_time, request.scan_by)
    given = tokens.offset(request.next_token, asked)
    newest_first = request.scan_by != "TimestampAscending"

    def step(reader: Reader) -> Described:
        store = metrics.store_of(context, reader)
        earliest = max(start, store.now - 16 * 86_400)
        values = queries.values(store, earliest, end) if end > earliest else {}
        lines = [
            line
            for query in request.metric_data_queries
            if query.return_data is not False and query.id in values
            for line in _lines(query, values[query.id])
        ]
        results, more = _page(lines, given, limit, newest_first=newest_first)
        lines.clear()
        release(values)
        following = tokens.token(str(given + limit), asked) if more else None
        return Described(GetMetricDataOutput(metric_data_results=results, next_token=following, messages=[]))

    return Read(step)


def _limit(wanted: int | None) -> int:
    if wanted is None:
        return METRIC_DATAPOINTS_MAX
    if not 1 <= wanted <= METRIC_DATAPOINTS_MAX:
        raise errors.invalid_value(
            f"The value {wanted} for parameter MaxDatapoints is out of range: it has to be between 1 and "
            f"{METRIC_DATAPOINTS_MAX}."
        )
    return wanted


def _lines(query: MetricDataQuery, value: Value) -> Iterator[_Line]:
    if isinstance(value, float):
        raise errors.validation(
            f"Error in expression '{query.id}': The result of the expression is a single value, not a time series"
        )
    if isinstance(value, list):
        labelled = [(series.label, series) for series in value]
    else:
        labelled = [(query.label or (value.label if query.expression is None else query.id), value)]
    for label, series in labelled:
        yield _Line(query.id, label, series.points)


def _page(
    lines: list[_Line], given: int, limit: int, *, newest_first: bool
) -> tuple[list[MetricDataResult], bool]:
    """The part of all points that comes behind those given before, and whether there is more behind it."""
    results: list[MetricDataResult] = []
    before = 0
    for line in lines:
        first, last = max(given - before, 0), given + limit - before
        before += len(line.points)
        # A series without points is told on the first page.
        if last <= 0 or (first >= len(line.points) and (given or line.points)):
            continue
        times = sorted(line.points, reverse=newest_first)[first:last]
        results.append(
            MetricDataResult(
                id=line.id,
                label=line.label,
                timestamps=[float(time) for time in times],
                values=[line.points[time] for time in times],
                status_code="PartialData" if last < len(line.points) else "Complete",
            )
        )
    return results, before > given + limit
