"""When an alarm is in which state, and how the service words why. Pure: points in, a verdict out."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import orjson

from hashrange.api.cloudwatch.alarms import Configuration, State
from hashrange.api.cloudwatch.structures import StateValue

Treatment = Literal["missing", "ignore", "breaching", "notBreaching"]

_COMPARISONS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    "GreaterThanOrEqualToThreshold": (lambda value, limit: value >= limit, "greater than or equal to"),
    "GreaterThanThreshold": (lambda value, limit: value > limit, "greater than"),
    "LessThanThreshold": (lambda value, limit: value < limit, "less than"),
    "LessThanOrEqualToThreshold": (lambda value, limit: value <= limit, "less than or equal to"),
}
SPARE_PERIODS = 2  # that the evaluation range has beyond those that count, to make up for missing points
PLAIN_COMPARISONS = frozenset(_COMPARISONS)


class Evaluated(NamedTuple):
    """The value of one period; None where there is none."""

    time: int
    value: float | None
    samples: float | None = None


class Verdict(NamedTuple):
    """The state of an alarm, and why."""

    value: StateValue
    reason: str
    evaluated: list[Evaluated]  # the real points that count, newest first


class Rule(NamedTuple):
    """What an alarm compares, and how many of its periods have to breach."""

    comparison: str
    threshold: float
    periods: int
    to_alarm: int
    treatment: Treatment
    is_m_of_n: bool  # whether DatapointsToAlarm was given, which is worded differently

    def breaches(self, value: float) -> bool:
        """Whether a value breaches the threshold."""
        return _COMPARISONS[self.comparison][0](value, self.threshold)


def rule_of(configuration: Configuration) -> Rule:
    """The rule of an alarm. Those on DynamoDB's metrics ignore missing data unless told otherwise."""
    default: Treatment = "ignore" if configuration.namespace == "AWS/DynamoDB" else "missing"
    treatment: Treatment = configuration.treat_missing_data or default  # type: ignore[assignment]
    return Rule(
        configuration.comparison_operator,
        configuration.threshold or 0.0,
        configuration.evaluation_periods,
        configuration.datapoints_to_alarm or configuration.evaluation_periods,
        treatment,
        configuration.datapoints_to_alarm is not None,
    )


def verdict(rule: Rule, points: Sequence[Evaluated]) -> Verdict | None:
    """The state that an evaluation range leads to, its newest point last; None: the state stays as it is.

    The range is longer than the periods that count. If it has as many real points as periods count, the newest of them
    decide; otherwise the treatment of missing data makes up for those that lack.
    """
    real = [point for point in reversed(points) if point.value is not None][: rule.periods]
    breaching = [point for point in real if point.value is not None and rule.breaches(point.value)]
    lacking = rule.periods - len(real)
    if not real:
        return _without_data(rule)
    if len(breaching) >= rule.to_alarm or (
        lacking and rule.treatment == "breaching" and len(breaching) + lacking >= rule.to_alarm
    ):
        return Verdict("ALARM", _crossed(rule, real, breaching, alarm=True), real)
    if lacking and len(breaching) >= min(rule.to_alarm, len(real)):
        if rule.treatment == "ignore":
            return None
        if rule.treatment == "missing":
            return Verdict("ALARM", _crossed(rule, real, breaching, alarm=True), real)
    return Verdict("OK", _crossed(rule, real, breaching, alarm=False), real)


def _without_data(rule: Rule) -> Verdict | None:
    count = rule.periods
    match rule.treatment:
        case "ignore":
            return None
        case "missing":
            unknown = "1 datapoint was" if count == 1 else f"{count} datapoints were"
            return Verdict("INSUFFICIENT_DATA", f"Insufficient Data: {unknown} unknown.", [])
        case "breaching":
            return Verdict("ALARM", _treated(count, "Breaching"), [])
        case "notBreaching":
            return Verdict("OK", _treated(count, "NonBreaching"), [])


def _treated(count: int, how: str) -> str:
    periods = "1 period" if count == 1 else f"{count} periods"
    missing = "1 missing datapoint was" if count == 1 else f"{count} missing datapoints were"
    return f"Threshold Crossed: no datapoints were received for {periods} and {missing} treated as [{how}]."


def _crossed(rule: Rule, real: list[Evaluated], breaching: list[Evaluated], *, alarm: bool) -> str:
    """The sentence names the points that are the reason: those that breach, or those that do not."""
    wording = _COMPARISONS[rule.comparison][1]
    fine = [point for point in real if point not in breaching]
    named = (breaching if alarm else fine) or real
    listed = ", ".join(f"{point.value} ({_stamp(point.time)})" for point in named)
    verb = "was" if len(named) == 1 else "were"
    relation = wording if alarm else f"not {wording}"
    count = f"{len(named)} datapoint{'' if len(named) == 1 else 's'}"
    ending = "."
    if rule.is_m_of_n:
        count = f"{len(named)} out of the last {rule.periods} datapoints"
        ending = f" ({_minimum(rule, alarm=alarm)})."
    return f"Threshold Crossed: {count} [{listed}] {verb} {relation} the threshold ({rule.threshold}){ending}"


def _minimum(rule: Rule, *, alarm: bool) -> str:
    least = rule.to_alarm if alarm else rule.periods - rule.to_alarm + 1
    transition = "OK -> ALARM" if alarm else "ALARM -> OK"
    return f"minimum {least} datapoint{'' if least == 1 else 's'} for {transition} transition"


def _stamp(time: int) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%d/%m/%y %H:%M:%S")


def state(configuration: Configuration, rule: Rule, decided: Verdict, now: float) -> State:
    """The state that an alarm changes to."""
    return State(
        value=decided.value,
        reason=decided.reason,
        reason_data=reason_data(configuration, rule, decided, now),
        updated_at=now,
        transitioned_at=now,
    )


def reason_data(configuration: Configuration, rule: Rule, decided: Verdict, now: float) -> str:
    """What StateReasonData says, as JSON."""
    newest_first = decided.evaluated
    told: dict[str, object] = {"version": "1.0", "queryDate": _iso(now)}
    if newest_first:
        told["startDate"] = _iso(newest_first[-1].time)
    if configuration.unit is not None:
        told["unit"] = configuration.unit
    if (statistic := configuration.statistic or configuration.extended_statistic) is not None:
        told["statistic"] = statistic
    told |= {
        "period": configuration.period or 60,
        "recentDatapoints": [point.value for point in reversed(newest_first)],
        "threshold": rule.threshold,
        "evaluatedDatapoints": [_evaluated(point) for point in newest_first],
    }
    return orjson.dumps(told).decode()


def _evaluated(point: Evaluated) -> dict[str, object]:
    told: dict[str, object] = {"timestamp": _iso(point.time)}
    if point.samples is not None:
        told["sampleCount"] = point.samples
    if point.value is not None:
        told["value"] = point.value
    return told


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "+0000"
