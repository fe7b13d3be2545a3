"""Members that several operations of CloudWatch have. What has only defaults is left out where it is an answer."""

from typing import Annotated, Literal

from msgspec import Meta

from hashrange.api.protocol import kinds
from hashrange.api.protocol.structures import Structure

# Enumerations list their values in the order in which the service's errors do, where that is known.
Statistic = Literal["SampleCount", "Average", "Sum", "Minimum", "Maximum"]
StateValue = Literal["INSUFFICIENT_DATA", "ALARM", "OK"]
ScanBy = Literal["TimestampDescending", "TimestampAscending"]
AlarmType = Literal["CompositeAlarm", "MetricAlarm"]
ComparisonOperator = Literal[
    "GreaterThanOrEqualToThreshold",
    "GreaterThanThreshold",
    "LessThanThreshold",
    "LessThanOrEqualToThreshold",
    "LessThanLowerOrGreaterThanUpperThreshold",
    "LessThanLowerThreshold",
    "GreaterThanUpperThreshold",
]
Unit = Literal[
    "Seconds",
    "Microseconds",
    "Milliseconds",
    "Bytes",
    "Kilobytes",
    "Megabytes",
    "Gigabytes",
    "Terabytes",
    "Bits",
    "Kilobits",
    "Megabits",
    "Gigabits",
    "Terabits",
    "Percent",
    "Count",
    "Bytes/Second",
    "Kilobytes/Second",
    "Megabytes/Second",
    "Gigabytes/Second",
    "Terabytes/Second",
    "Bits/Second",
    "Kilobits/Second",
    "Megabits/Second",
    "Gigabits/Second",
    "Terabits/Second",
    "Count/Second",
    "None",
]
Timestamp = Annotated[float, kinds.Timestamp()]
Namespace = Annotated[
    str,
    Meta(min_length=1, max_length=255, pattern=r"\A[^:]"),
    kinds.Text(least=1, most=255, pattern=kinds.compiled("[^:].*")),
]
MetricName = Annotated[str, Meta(min_length=1, max_length=255)]
Period = Annotated[int, Meta(ge=1, le=2**31 - 1)]
QueryId = Annotated[str, Meta(min_length=1, max_length=255)]
AlarmName = Annotated[str, Meta(min_length=1, max_length=255)]
AlarmNames = Annotated[list[AlarmName], Meta(max_length=100)]
Actions = Annotated[list[Annotated[str, Meta(min_length=1, max_length=1024)]], Meta(max_length=5)]


class Dimension(Structure, kw_only=True, omit_defaults=True):
    """A part of a metric's identity."""

    name: Annotated[str, Meta(min_length=1, max_length=255)]
    value: Annotated[str, Meta(min_length=1, max_length=1024)]


Dimensions = Annotated[list[Dimension], Meta(max_length=30)]


class Metric(Structure, kw_only=True, omit_defaults=True):
    """A metric's identity."""

    namespace: Namespace | None = None
    metric_name: MetricName | None = None
    dimensions: Dimensions | None = None


class MetricStat(Structure, kw_only=True, omit_defaults=True):
    """A statistic of a metric."""

    metric: Metric
    period: Period
    stat: str
    unit: Unit | None = None


class MetricDataQuery(Structure, kw_only=True, omit_defaults=True):
    """A statistic, or an expression of others."""

    id: QueryId
    metric_stat: MetricStat | None = None
    expression: Annotated[str, Meta(min_length=1, max_length=2048)] | None = None
    label: str | None = None
    return_data: bool | None = None
    period: Period | None = None
    account_id: Annotated[str, Meta(min_length=1, max_length=255)] | None = None


class Tag(Structure, kw_only=True, omit_defaults=True):
    """A tag of an alarm."""

    key: Annotated[str, Meta(min_length=1, max_length=128)]
    value: Annotated[str, Meta(min_length=0, max_length=256)]
