"""DescribeAlarmsForMetric: the alarms that watch a metric."""

from hashrange.api.cloudwatch import alarms
from hashrange.api.cloudwatch.alarms import Configuration, MetricAlarm
from hashrange.api.cloudwatch.structures import (
    Dimensions,
    MetricName,
    Namespace,
    Period,
    Statistic,
    Unit,
)
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.cloudwatch import metrics
from hashrange.storage.engine import Reader


class DescribeAlarmsForMetric(Request, kw_only=True):
    """The request."""

    metric_name: MetricName
    namespace: Namespace
    statistic: Statistic | None = None
    extended_statistic: str | None = None
    dimensions: Dimensions | None = None
    period: Period | None = None
    unit: Unit | None = None


SHAPE = Shape(DescribeAlarmsForMetric)


class DescribeAlarmsForMetricOutput(Response, kw_only=True):
    """The answer."""

    metric_alarms: list[MetricAlarm]


def describe_alarms_for_metric(context: Context, request: DescribeAlarmsForMetric) -> Plan:
    """Alarms on expressions are not listed, even if the metric is part of one."""
    place = alarms.place_of(context)
    key = metrics.key_of(request.namespace, request.metric_name, request.dimensions)

    def watches(configuration: Configuration) -> bool:
        wanted = (
            (request.statistic, configuration.statistic),
            (request.extended_statistic, configuration.extended_statistic),
            (request.period, configuration.period),
            (request.unit, configuration.unit),
        )
        own = metrics.key_of(
            configuration.namespace or "", configuration.metric_name or "", configuration.dimensions
        )
        return own == key and all(value is None or value == has for value, has in wanted)

    def step(reader: Reader) -> Described:
        shown = [
            alarms.described(place, alarm)
            for _, alarm in alarms.ALARMS.of_region(reader, place)
            if watches(alarm.configuration)
        ]
        return Described(DescribeAlarmsForMetricOutput(metric_alarms=shown))

    return Read(step)
