"""GetInsightRuleReport: the keys that contribute most to what a rule of Contributor Insights counts."""

from typing import Annotated, Literal, get_args

from msgspec import Meta

from hashrange.api.cloudwatch.structures import Timestamp
from hashrange.api.context import Context
from hashrange.api.insights.report import (
    CONTRIBUTORS_DEFAULT,
    Contributor,
    InsightReport,
    ReportPoint,
    ReportRequest,
    report,
)
from hashrange.api.insights.rules import InsightRule, rules_in
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.core import effort
from hashrange.services.cloudwatch import errors, times
from hashrange.storage.engine import Reader

_CONTRIBUTORS_MAX = 100  # that may be asked for; of DynamoDB's rules no more than 25 are given
_RULE_NAME_CHARS_MAX = 600  # names of a table and of an index have 255 each

OrderBy = Literal["Sum", "Maximum"]
RuleMetric = Literal[
    "UniqueContributors", "MaxContributorValue", "SampleCount", "Sum", "Minimum", "Maximum", "Average"
]
_Name = Annotated[str, Meta(min_length=1, max_length=32)]


class GetInsightRuleReport(Request, kw_only=True):
    """The request."""

    rule_name: Annotated[str, Meta(min_length=1, max_length=_RULE_NAME_CHARS_MAX)]
    start_time: Timestamp
    end_time: Timestamp
    period: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    max_contributor_count: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)] | None = None
    metrics: list[_Name] | None = None
    order_by: _Name | None = None


SHAPE = Shape(GetInsightRuleReport)


class InsightRuleContributorDatapoint(Response, kw_only=True):
    """What a contributor came to in one period."""

    timestamp: Timestamp
    approximate_value: float


class InsightRuleContributor(Response, kw_only=True):
    """One key."""

    keys: list[str]
    approximate_aggregate_value: float
    datapoints: list[InsightRuleContributorDatapoint]


class InsightRuleMetricDatapoint(Response, kw_only=True):
    """What all contributors came to in one period."""

    timestamp: Timestamp
    unique_contributors: float | None = None
    max_contributor_value: float | None = None
    sample_count: float | None = None
    average: float | None = None
    sum: float | None = None
    maximum: float | None = None


class GetInsightRuleReportOutput(Response, kw_only=True):
    """The answer."""

    key_labels: list[str]
    aggregation_statistic: str
    aggregate_value: float
    approximate_unique_count: int
    contributors: list[InsightRuleContributor]
    metric_datapoints: list[InsightRuleMetricDatapoint]


def get_insight_rule_report(context: Context, request: GetInsightRuleReport) -> Plan:
    """A report reaches back a day, which is for how long keys are kept."""
    times.check_range(request.start_time, request.end_time)
    times.check_period(request.period)
    wanted = ReportRequest(
        start=request.start_time,
        end=min(request.end_time, context.clock.now() + times.DAY),
        period=request.period,
        contributors_max=_contributors(request.max_contributor_count),
        order_by=_order(request.order_by),
    )
    metrics = _metrics(request.metrics or [])
    rule = _rule(context, request.rule_name)

    def step(reader: Reader) -> Described:
        effort.leave_shared_thread()  # a day of many workers is a lot to add up
        return Described(_shown(report(reader, rule, wanted), metrics))

    return Read(step)


def _rule(context: Context, name: str) -> InsightRule:
    tables = context.catalogue.tables()
    for rule in rules_in(tables, context.account_id, context.region, context.clock.now()):
        if rule.name == name:
            return rule
    raise errors.no_such_resource(name)


def _contributors(wanted: int | None) -> int:
    if wanted is None:
        return CONTRIBUTORS_DEFAULT
    if not 1 <= wanted <= _CONTRIBUTORS_MAX:
        raise errors.invalid_value(
            f"The value {wanted} for parameter MaxContributorCount is invalid: it has to be between 1 and "
            f"{_CONTRIBUTORS_MAX}."
        )
    return wanted


def _order(wanted: str | None) -> OrderBy:
    match wanted:
        case None | "Sum":
            return "Sum"
        case "Maximum":
            return "Maximum"
        case _:
            raise errors.invalid_value(f"The value {wanted} for parameter OrderBy is invalid.")


def _metrics(wanted: list[str]) -> frozenset[str]:
    for name in wanted:
        if name not in get_args(RuleMetric):
            raise errors.invalid_value(f"The value {name} for parameter Metrics is invalid.")
    return frozenset(wanted)


def _shown(told: InsightReport, metrics: frozenset[str]) -> GetInsightRuleReportOutput:
    return GetInsightRuleReportOutput(
        key_labels=told.key_labels,
        aggregation_statistic=told.aggregation_statistic,
        aggregate_value=told.aggregate_value,
        approximate_unique_count=told.approximate_unique_count,
        contributors=[_contributor(one) for one in told.contributors],
        metric_datapoints=[_datapoint(point, metrics) for point in told.points] if metrics else [],
    )


def _contributor(contributor: Contributor) -> InsightRuleContributor:
    points = [
        InsightRuleContributorDatapoint(timestamp=float(point.timestamp), approximate_value=point.value)
        for point in contributor.points
    ]
    return InsightRuleContributor(
        keys=contributor.keys, approximate_aggregate_value=contributor.value, datapoints=points
    )


def _datapoint(point: ReportPoint, metrics: frozenset[str]) -> InsightRuleMetricDatapoint:
    """Of single samples only sum and number are kept: the largest is told as that of a contributor."""
    values = {
        "UniqueContributors": float(point.unique_contributors),
        "MaxContributorValue": point.max_contributor_value,
        "SampleCount": point.sample_count,
        "Average": point.sum / point.sample_count if point.sample_count else 0.0,
        "Sum": point.sum,
        "Maximum": point.max_contributor_value,
    }
    told = {name: value for name, value in values.items() if name in metrics}
    return InsightRuleMetricDatapoint(
        timestamp=float(point.timestamp),
        unique_contributors=told.get("UniqueContributors"),
        max_contributor_value=told.get("MaxContributorValue"),
        sample_count=told.get("SampleCount"),
        average=told.get("Average"),
        sum=told.get("Sum"),
        maximum=told.get("Maximum"),
    )
