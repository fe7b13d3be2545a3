"""The report of a rule: what CloudWatch's GetInsightRuleReport answers, whatever protocol asks for it."""

from typing import Literal

import msgspec

from hashrange.api.insights.rules import InsightRule
from hashrange.capacity.heavy_hitters import Summary, merged
from hashrange.capacity.series import MINUTE
from hashrange.core.keys import key_parts
from hashrange.storage import insight_rows
from hashrange.storage.engine import Reader

CONTRIBUTORS_MAX = 25  # developer guide: of a rule of DynamoDB's
CONTRIBUTORS_DEFAULT = 10  # API_GetInsightRuleReport
_PERIODS_MAX = 1440


class ContributorPoint(msgspec.Struct, frozen=True):
    """A contributor's value in one period."""

    timestamp: int
    value: float


class Contributor(msgspec.Struct, frozen=True):
    """One key, with what it adds up to."""

    keys: list[str]
    value: float
    points: list[ContributorPoint]


class ReportPoint(msgspec.Struct, frozen=True, kw_only=True):
    """All contributors in one period."""

    timestamp: int
    unique_contributors: int
    max_contributor_value: float
    sample_count: float
    sum: float


class InsightReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule has seen."""

    key_labels: list[str]
    aggregation_statistic: str = "SUM"
    aggregate_value: float
    approximate_unique_count: int
    error: float  # every value is at most so much too large
    contributors: list[Contributor]
    points: list[ReportPoint]


class ReportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for."""

    start: float
    end: float
    period: int = MINUTE
    contributors_max: int = CONTRIBUTORS_DEFAULT
    order_by: Literal["Sum", "Maximum"] = "Sum"


def report(reader: Reader, rule: InsightRule, request: ReportRequest) -> InsightReport:
    """Add up the summaries of all workers; periods without any access are left out."""
    periods = _periods(reader, rule, request)
    total = merged(periods.values())
    values = dict(total.top(len(total.counts)))
    if request.order_by == "Maximum":
        values = {
            key: max(summary.counts.get(key, 0.0) + summary.error for summary in periods.values())
            for key in values
        }
    most = min(request.contributors_max, CONTRIBUTORS_MAX)
    heaviest = sorted(values, key=lambda key: (-values[key], key))[:most]
    return InsightReport(
        key_labels=rule.key_labels,
        aggregate_value=total.total,
        approximate_unique_count=total.distinct,
        error=total.error,
        contributors=[_contributor(rule, key, values[key], periods) for key in heaviest],
        points=[_point(time, summary) for time, summary in sorted(periods.items())],
    )


def _periods(reader: Reader, rule: InsightRule, request: ReportRequest) -> dict[int, Summary]:
    period = max(MINUTE, request.period // MINUTE * MINUTE)
    end = int(-(-request.end // MINUTE)) * MINUTE
    start = max(int(request.start // period) * period, end - _PERIODS_MAX * MINUTE)
    observed = rule.observed
    summaries: dict[int, Summary] = {}
    for minute, summary in insight_rows.read(
        reader, observed.table.number, observed.slot, rule.rule, start, end
    ):
        at = minute // period * period
        summaries.setdefault(at, Summary(counts={}, hashes=[])).merge(summary)
    return summaries


def _contributor(rule: InsightRule, key: bytes, value: float, periods: dict[int, Summary]) -> Contributor:
    points = [
        ContributorPoint(time, summary.counts[key] + summary.error)
        for time, summary in sorted(periods.items())
        if key in summary.counts
    ]
    return Contributor(_texts(rule, key), value, points)


def _texts(rule: InsightRule, key: bytes) -> list[str]:
    """The values of the key attributes; binary ones in base64."""
    read = key_parts.attributes if rule.rule.startswith("SK") else key_parts.partition_attributes
    values = read(rule.observed.table, rule.observed.index, key) or {}
    return [str(next(iter(value.values()))) for value in values.values()]


def _point(time: int, summary: Summary) -> ReportPoint:
    top = summary.top(1)
    return ReportPoint(
        timestamp=time,
        unique_contributors=summary.distinct,
        max_contributor_value=top[0][1] if top else summary.error,
        sample_count=summary.events,
        sum=summary.total,
    )
