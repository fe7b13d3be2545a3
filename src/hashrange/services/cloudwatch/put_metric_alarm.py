"""PutMetricAlarm: make an alarm, or give one another configuration."""

from typing import Annotated

import msgspec
from msgspec import Meta

from hashrange.api.cloudwatch import alarms, transitions
from hashrange.api.cloudwatch.alarms import Alarm, Configuration, State
from hashrange.api.cloudwatch.structures import (
    Actions,
    AlarmName,
    ComparisonOperator,
    Dimensions,
    MetricDataQuery,
    MetricName,
    Namespace,
    Period,
    QueryId,
    Statistic,
    Tag,
    Unit,
)
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.core.limits import (
    ALARM_EXPRESSIONS_MAX,
    ALARM_METRICS_MAX,
    ALARM_RANGE_SECONDS_MAX,
    ALARM_SHORT_RANGE_SECONDS_MAX,
    ALARM_TAGS_MAX,
)
from hashrange.services.cloudwatch import errors, statistics, times
from hashrange.services.cloudwatch.evaluation import PLAIN_COMPARISONS, SPARE_PERIODS
from hashrange.services.cloudwatch.queries import Queries
from hashrange.storage.engine import Transaction

_TREATMENTS = ("breaching", "notBreaching", "ignore", "missing")
_LOW_SAMPLES = ("evaluate", "ignore")
_SHORT_PERIODS = (10, 20, 30)

Count = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class PutMetricAlarm(Request, kw_only=True):
    """The request."""

    alarm_name: AlarmName
    alarm_description: Annotated[str, Meta(max_length=1024)] | None = None
    actions_enabled: bool | None = None
    ok_actions: Actions | None = None
    alarm_actions: Actions | None = None
    insufficient_data_actions: Actions | None = None
    metric_name: MetricName | None = None
    namespace: Namespace | None = None
    statistic: Statistic | None = None
    extended_statistic: str | None = None
    dimensions: Dimensions | None = None
    period: Period | None = None
    unit: Unit | None = None
    evaluation_periods: Count
    datapoints_to_alarm: Count | None = None
    threshold: float | None = None
    comparison_operator: ComparisonOperator
    treat_missing_data: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    evaluate_low_sample_count_percentile: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    metrics: list[MetricDataQuery] | None = None
    tags: list[Tag] | None = None
    threshold_metric_id: QueryId | None = None


SHAPE = Shape(PutMetricAlarm)


def put_metric_alarm(context: Context, request: PutMetricAlarm) -> Plan:
    """A new alarm has not enough data; one that is there keeps its state and its tags."""
    _check(request)
    configuration = _configuration(request)
    tags = {tag.key: tag.value for tag in request.tags or ()}
    if len(tags) > ALARM_TAGS_MAX:
        raise errors.limit_exceeded(f"An alarm has at most {ALARM_TAGS_MAX} tags.")
    now = context.clock.now()
    place = alarms.place_of(context)

    def step(tx: Transaction) -> Described:
        stored = alarms.ALARMS.find(tx, place, request.alarm_name)
        enabled = request.actions_enabled is not False
        alarm = Alarm(
            name=request.alarm_name,
            configuration=configuration,
            configured_at=now,
            actions_enabled=enabled,
            state=State(updated_at=now, transitioned_at=now) if stored is None else stored.state,
            tags=tags if stored is None else stored.tags,
        )
        alarms.save(tx, place, alarm)
        transitions.note_configuration(tx, place, alarm, "Create" if stored is None else "Update", now)
        return Described(None)

    return Write(step, conflict=errors.conflict)


def _configuration(request: PutMetricAlarm) -> Configuration:
    members = msgspec.structs.asdict(request)
    kept = {name: members[name] for name in Configuration.__struct_fields__}
    for name in ("ok_actions", "alarm_actions", "insufficient_data_actions", "dimensions"):
        kept[name] = kept[name] or []
    return Configuration(**kept)


def _check(request: PutMetricAlarm) -> None:
    if request.comparison_operator not in PLAIN_COMPARISONS or request.threshold_metric_id is not None:
        raise errors.validation("Alarms on anomaly detection bands are not supported.")
    if request.threshold is None:
        raise errors.missing("The parameter Threshold is required.")
    if request.metrics:
        _check_metrics(request, request.metrics)
    else:
        _check_metric(request)
    periods = request.evaluation_periods
    if request.datapoints_to_alarm is not None and request.datapoints_to_alarm > periods:
        raise errors.validation(
            "The parameter DatapointsToAlarm must be less than or equal to EvaluationPeriods."
        )
    _check_choice("TreatMissingData", request.treat_missing_data, _TREATMENTS)
    _check_choice(
        "EvaluateLowSampleCountPercentile", request.evaluate_low_sample_count_percentile, _LOW_SAMPLES
    )
    period = alarms.period_of(request.period, request.metrics)
    _check_range(periods, period)
    if request.metrics:
        Queries(request.metrics).check_alarm((periods + SPARE_PERIODS) * period)


def _check_metric(request: PutMetricAlarm) -> None:
    for name, value in (("MetricName", request.metric_name), ("Namespace", request.namespace)):
        if value is None:
            raise errors.missing(f"The parameter {name} is required.")
    if (request.statistic is None) == (request.extended_statistic is None):
        raise errors.invalid_combination("Exactly one of Statistic and ExtendedStatistic must be specified.")
    if request.extended_statistic is not None and statistics.parsed(request.extended_statistic) is None:
        raise errors.invalid_value(
            f"The value {request.extended_statistic} for parameter ExtendedStatistic is not supported."
        )
    if request.period is None:
        raise errors.missing("The parameter Period is required.")
    if request.period not in _SHORT_PERIODS and request.period % 60:
        raise errors.validation("Period must be 10, 20, 30 or a multiple of 60")


def _check_metrics(request: PutMetricAlarm, metrics: list[MetricDataQuery]) -> None:
    """An alarm on an expression has everything about its metrics in Metrics."""
    sent = (request.metric_name, request.namespace, request.statistic, request.extended_statistic)
    if any(value is not None for value in (*sent, request.period, request.unit)) or request.dimensions:
        raise errors.invalid_combination(
            "The parameters Metrics and MetricName, Namespace, Dimensions, Period, Unit, Statistic and "
            "ExtendedStatistic are mutually exclusive and you have specified both."
        )
    if sum(query.expression is not None for query in metrics) > ALARM_EXPRESSIONS_MAX:
        raise errors.validation(f"Metrics list must not have more than {ALARM_EXPRESSIONS_MAX} expressions.")
    if Queries(metrics).searches():
        raise errors.validation("SEARCH is not supported on Metric Alarms.")
    if sum(query.metric_stat is not None for query in metrics) > ALARM_METRICS_MAX:
        raise errors.validation(f"Metrics list must not have more than {ALARM_METRICS_MAX} metrics.")
    if sum(query.return_data is not False for query in metrics) != 1:
        raise errors.validation("Exactly one element of the metrics list should return data.")


def _check_choice(name: str, value: str | None, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise errors.validation(f"Value '{value}' at '{name}' must be one of [{', '.join(choices)}]")


def _check_range(periods: int, period: int) -> None:
    times.check_period(period)
    longest, days = ALARM_SHORT_RANGE_SECONDS_MAX, "a day"
    if period >= 3600:
        longest, days = ALARM_RANGE_SECONDS_MAX, "seven days"
    if periods * period > longest:
        raise errors.validation(
            f"Metrics cannot be checked across more than {days} (EvaluationPeriods * Period must be <= {longest})."
        )
