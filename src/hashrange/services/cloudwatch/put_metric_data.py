"""PutMetricData: samples of clients' own metrics."""

import math
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from hashrange.api.cloudwatch.structures import Dimensions, MetricName, Namespace, Timestamp, Unit
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Structure
from hashrange.api.results import Described
from hashrange.core import effort
from hashrange.core.limits import (
    METRIC_AGE_SECONDS_MAX,
    METRIC_AHEAD_SECONDS_MAX,
    METRIC_VALUE_MAX,
    PUT_METRIC_VALUES_MAX,
    PUT_METRICS_MAX,
)
from hashrange.services.cloudwatch import errors, metrics
from hashrange.services.cloudwatch.metrics import MINUTE
from hashrange.storage import custom_metric_rows
from hashrange.storage.custom_metric_rows import CustomSeries, CustomStatistics
from hashrange.storage.engine import Transaction

_DATUM_UNITS = 2000  # to check it and add it up: ten microseconds,
_VALUE_UNITS = 400  # and two for each of several values
_ROW_UNITS = 10_000  # to read and write the rows of a series


class StatisticSet(Structure, kw_only=True):
    """Samples that the client has added up."""

    sample_count: float
    sum: float
    minimum: float
    maximum: float


class MetricDatum(Structure, kw_only=True):
    """One sample, or several, of one metric."""

    metric_name: MetricName
    dimensions: Dimensions | None = None
    timestamp: Timestamp | None = None
    value: float | None = None
    statistic_values: StatisticSet | None = None
    values: list[float] | None = None
    counts: list[float] | None = None
    unit: Unit | None = None
    storage_resolution: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None


class Entity(Structure, kw_only=True):
    """What emits a metric: taken, and not kept."""

    key_attributes: dict[str, str] | None = None
    attributes: dict[str, str] | None = None


class EntityMetricData(Structure, kw_only=True):
    """Samples with what emits them."""

    entity: Entity | None = None
    metric_data: list[MetricDatum] | None = None


class PutMetricData(Request, kw_only=True):
    """The request."""

    namespace: Namespace
    metric_data: list[MetricDatum] | None = None
    entity_metric_data: list[EntityMetricData] | None = None
    strict_entity_validation: bool | None = None


SHAPE = Shape(PutMetricData)


def put_metric_data(context: Context, request: PutMetricData) -> Plan:
    """All samples are stored, or none."""
    if request.namespace.startswith("AWS/"):
        raise errors.invalid_value("The value AWS/ for parameter Namespace is invalid.")
    data = list(request.metric_data or ())
    for entity in request.entity_metric_data or ():
        data += entity.metric_data or ()
    if not data:
        raise errors.missing("The parameter MetricData is required.")
    if len(data) > PUT_METRICS_MAX:
        raise errors.invalid_value(
            f"The collection MetricData must not have a size greater than {PUT_METRICS_MAX}."
        )
    effort.spend(sum(_DATUM_UNITS + _VALUE_UNITS * len(datum.values or ()) for datum in data))
    now = context.clock.now()
    for at, datum in enumerate(data, 1):
        _check(datum, f"MetricData.member.{at}", now)
    gathered = _gathered(request.namespace, data, now)

    def step(tx: Transaction) -> Described:
        for (series, _), statistics in gathered.items():
            effort.spend(_ROW_UNITS + _VALUE_UNITS * len(statistics.histogram))
            # The step may run again, and adding changes what it is given.
            fresh = CustomStatistics(time=statistics.time, unit=statistics.unit)
            fresh.merge(statistics)
            custom_metric_rows.add(tx, context.account_id, context.region, series, fresh)
        return Described(None)

    return Write(step, conflict=errors.conflict)


def _check(datum: MetricDatum, where: str, now: float) -> None:
    sent = [name for name in ("Value", "Values", "StatisticValues") if _has(datum, name)]
    if not sent:
        raise errors.missing(f"The parameter {where}.Value is required.")
    if len(sent) > 1:
        raise errors.invalid_combination(
            f"The parameters {where}.{sent[0]} and {where}.{sent[1]} are mutually exclusive "
            "and you have specified both."
        )
    if datum.counts is not None and len(datum.counts) != len(datum.values or ()):
        raise errors.invalid_value(
            f"The parameters {where}.Values and {where}.Counts must be of the same size."
        )
    if len(datum.values or ()) > PUT_METRIC_VALUES_MAX:
        raise errors.invalid_value(
            f"The collection {where}.Values must not have a size greater than {PUT_METRIC_VALUES_MAX}."
        )
    if datum.storage_resolution not in {None, 1, 60}:
        raise errors.invalid_value(
            f"The value {datum.storage_resolution} for parameter {where}.StorageResolution is invalid."
        )
    _check_numbers(datum, where)
    _check_time(datum, where, now)


def _has(datum: MetricDatum, name: str) -> bool:
    members = {"Value": datum.value, "Values": datum.values, "StatisticValues": datum.statistic_values}
    return members[name] is not None


def _check_numbers(datum: MetricDatum, where: str) -> None:
    numbers: list[tuple[str, float | None]] = [("Value", datum.value)]
    numbers += [("Values", value) for value in datum.values or ()]
    numbers += [("Counts", count) for count in datum.counts or ()]
    if (added_up := datum.statistic_values) is not None:
        numbers += [
            ("StatisticValues.SampleCount", added_up.sample_count),
            ("StatisticValues.Sum", added_up.sum),
            ("StatisticValues.Minimum", added_up.minimum),
            ("StatisticValues.Maximum", added_up.maximum),
        ]
    for name, number in numbers:
        if number is None:
            continue
        if not math.isfinite(number):
            raise errors.invalid_value(f"The value {_shown(number)} for parameter {where}.{name} is invalid.")
        if abs(number) > METRIC_VALUE_MAX or (
            name in {"Counts", "StatisticValues.SampleCount"} and number < 0
        ):
            raise errors.invalid_value(f"The value {number} for parameter {where}.{name} is invalid.")
    if added_up is not None and added_up.minimum > added_up.maximum:
        raise errors.invalid_value(
            f"The parameter {where}.StatisticValues.Maximum must be greater than or equal to "
            f"{where}.StatisticValues.Minimum."
        )


def _shown(number: float) -> str:
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _check_time(datum: MetricDatum, where: str, now: float) -> None:
    if datum.timestamp is None:
        return
    if not datum.timestamp <= now + METRIC_AHEAD_SECONDS_MAX:
        raise errors.invalid_value(
            f"The parameter {where}.Timestamp must specify a time no more than two hours in the future."
        )
    if not datum.timestamp >= now - METRIC_AGE_SECONDS_MAX:
        raise errors.invalid_value(
            f"The parameter {where}.Timestamp must specify a time within the past two weeks."
        )


def _gathered(
    namespace: str, data: Sequence[MetricDatum], now: float
) -> dict[tuple[CustomSeries, int], CustomStatistics]:
    """The samples by series and minute, so that each row is written once."""
    gathered: dict[tuple[CustomSeries, int], CustomStatistics] = {}
    for datum in data:
        series = CustomSeries(*metrics.key_of(namespace, datum.metric_name, datum.dimensions))
        moment = int(now if datum.timestamp is None else datum.timestamp)
        time = moment - moment % MINUTE
        statistics = gathered.setdefault(
            (series, time), CustomStatistics(time=time, unit=datum.unit or "None")
        )
        _add(statistics, datum)
    # Samples that are counted zero times are none.
    return {place: statistics for place, statistics in gathered.items() if statistics.n}


def _add(statistics: CustomStatistics, datum: MetricDatum) -> None:
    if datum.value is not None:
        statistics.add(datum.value, 1.0)
    for at, value in enumerate(datum.values or ()):
        count = 1.0 if datum.counts is None else datum.counts[at]
        if count:
            statistics.add(value, count)
    if (added_up := datum.statistic_values) is not None and added_up.sample_count:
        many = CustomStatistics(added_up.sample_count, added_up.sum, added_up.minimum, added_up.maximum)
        if added_up.minimum == added_up.maximum:
            many = CustomStatistics()
            many.add(added_up.minimum, added_up.sample_count)
        statistics.merge(many)
