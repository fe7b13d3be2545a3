"""When an alarm is in which state: the tables of the user guide, and the service's words."""

import json

import pytest

from hashrange.api.cloudwatch.alarms import Configuration
from hashrange.services.cloudwatch.evaluation import Evaluated, Rule, reason_data, rule_of, verdict

TREATMENTS = ("missing", "ignore", "breaching", "notBreaching")
KEEP = "keep"
# User guide: Configuring how CloudWatch alarms treat missing data. X breaches, 0 does not, - is missing; oldest first.
THREE_OF_THREE = [
    ("0-X-X", "OK", "OK", "OK", "OK"),
    ("0----", "OK", "OK", "OK", "OK"),
    ("-----", "INSUFFICIENT_DATA", KEEP, "ALARM", "OK"),
    ("0XX-X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ("--X--", "ALARM", KEEP, "ALARM", "OK"),
]
TWO_OF_THREE = [
    ("0-X-X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ("00X0X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ("0-X--", "OK", "OK", "ALARM", "OK"),
    ("----0", "OK", "OK", "ALARM", "OK"),
    ("---X-", "ALARM", KEEP, "ALARM", "OK"),
]


def rule(
    periods: int, to_alarm: int, treatment: str = "missing", comparison: str = "GreaterThanThreshold"
) -> Rule:
    return Rule(comparison, 21.0, periods, to_alarm, treatment, to_alarm != periods)  # type: ignore[arg-type]


def points(pattern: str) -> list[Evaluated]:
    values = {"X": 21.5, "0": 3.0, "-": None}
    return [Evaluated(1_699_920_000 + 60 * at, values[mark], 1.0) for at, mark in enumerate(pattern)]


@pytest.mark.parametrize(
    ("to_alarm", "pattern", "treatment", "state"),
    [
        (to_alarm, row[0], treatment, state)
        for to_alarm, table in ((3, THREE_OF_THREE), (2, TWO_OF_THREE))
        for row in table
        for treatment, state in zip(TREATMENTS, row[1:], strict=True)
    ],
)
def test_the_tables_of_the_user_guide(to_alarm: int, pattern: str, treatment: str, state: str) -> None:
    decided = verdict(rule(3, to_alarm, treatment), points(pattern))
    assert (KEEP if decided is None else decided.value) == state


@pytest.mark.parametrize(
    ("given", "pattern", "reason"),
    [
        (
            rule(1, 1),
            "X",
            "Threshold Crossed: 1 datapoint [21.5 (14/11/23 00:00:00)] was greater than the threshold (21.0).",
        ),
        (
            rule(1, 1),
            "0",
            "Threshold Crossed: 1 datapoint [3.0 (14/11/23 00:00:00)] was not greater than the threshold (21.0).",
        ),
        (
            rule(2, 2, comparison="GreaterThanOrEqualToThreshold"),
            "XX",
            (
                "Threshold Crossed: 2 datapoints [21.5 (14/11/23 00:01:00), 21.5 (14/11/23 00:00:00)] were greater "
                "than or equal to the threshold (21.0)."
            ),
        ),
        (
            rule(3, 2),
            "X0X",
            (
                "Threshold Crossed: 2 out of the last 3 datapoints [21.5 (14/11/23 00:02:00), "
                "21.5 (14/11/23 00:00:00)] were greater than the threshold (21.0) "
                "(minimum 2 datapoints for OK -> ALARM transition)."
            ),
        ),
        (
            rule(3, 2),
            "X00",
            (
                "Threshold Crossed: 2 out of the last 3 datapoints [3.0 (14/11/23 00:02:00), 3.0 (14/11/23 00:01:00)] "
                "were not greater than the threshold (21.0) (minimum 2 datapoints for ALARM -> OK transition)."
            ),
        ),
        (
            rule(2, 2, "breaching"),
            "--",
            (
                "Threshold Crossed: no datapoints were received for 2 periods and 2 missing datapoints were treated as "
                "[Breaching]."
            ),
        ),
        (
            rule(1, 1, "notBreaching"),
            "-",
            (
                "Threshold Crossed: no datapoints were received for 1 period and 1 missing datapoint was treated as "
                "[NonBreaching]."
            ),
        ),
        (rule(1, 1), "-", "Insufficient Data: 1 datapoint was unknown."),
        (rule(2, 2), "--", "Insufficient Data: 2 datapoints were unknown."),
    ],
)
def test_reasons(given: Rule, pattern: str, reason: str) -> None:
    decided = verdict(given, points(pattern))
    assert decided is not None
    assert decided.reason == reason


@pytest.mark.parametrize(
    ("comparison", "breaching"),
    [
        ("GreaterThanOrEqualToThreshold", (21.0, 22.0)),
        ("GreaterThanThreshold", (22.0,)),
        ("LessThanThreshold", (20.0,)),
        ("LessThanOrEqualToThreshold", (20.0, 21.0)),
    ],
)
def test_comparisons(comparison: str, breaching: tuple[float, ...]) -> None:
    given = rule(1, 1, comparison=comparison)
    assert tuple(value for value in (20.0, 21.0, 22.0) if given.breaches(value)) == breaching


def configuration(**members: object) -> Configuration:
    required: dict[str, object] = {
        "ok_actions": [],
        "alarm_actions": [],
        "insufficient_data_actions": [],
        "dimensions": [],
        "evaluation_periods": 2,
        "comparison_operator": "GreaterThanThreshold",
        "threshold": 21.0,
    }
    return Configuration(**(required | members))  # type: ignore[arg-type]


def test_alarms_on_dynamodb_ignore_missing_data_unless_told_otherwise() -> None:
    assert rule_of(configuration(namespace="AWS/DynamoDB")).treatment == "ignore"
    assert (
        rule_of(configuration(namespace="AWS/DynamoDB", treat_missing_data="missing")).treatment == "missing"
    )
    assert rule_of(configuration(namespace="Own")).treatment == "missing"
    assert (rule_of(configuration()).to_alarm, rule_of(configuration(datapoints_to_alarm=1)).to_alarm) == (
        2,
        1,
    )


def test_the_data_of_a_reason() -> None:
    own = configuration(statistic="Sum", period=60, unit="Count")
    decided = verdict(rule_of(own), points("XX"))
    assert decided is not None
    assert json.loads(reason_data(own, rule_of(own), decided, 1_699_920_130.25)) == {
        "version": "1.0",
        "queryDate": "2023-11-14T00:02:10.250+0000",
        "startDate": "2023-11-14T00:00:00.000+0000",
        "unit": "Count",
        "statistic": "Sum",
        "period": 60,
        "recentDatapoints": [21.5, 21.5],
        "threshold": 21.0,
        "evaluatedDatapoints": [
            {"timestamp": "2023-11-14T00:01:00.000+0000", "sampleCount": 1.0, "value": 21.5},
            {"timestamp": "2023-11-14T00:00:00.000+0000", "sampleCount": 1.0, "value": 21.5},
        ],
    }
