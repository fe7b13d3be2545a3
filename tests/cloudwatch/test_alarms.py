"""Alarms: how they are set, listed, changed and deleted, and what happens when they are evaluated."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import pytest

from clocked import MIDNIGHT
from hashrange.capacity.series import Place
from hashrange.jobs.custom_metrics import ForgetAlarmHistory
from hashrange.jobs.evaluate_alarms import SETTLED_SECONDS, EvaluateAlarms
from hashrange.storage import metric_rows
from hashrange.storage.engine import Reader
from hashrange.storage.wrapped import WrappedEngine
from new_tables import request as new_table
from watching import Watched

SETTINGS: dict[str, Any] = {
    "AlarmName": "alarm",
    "Namespace": "Test",
    "MetricName": "m",
    "Statistic": "Sum",
    "Period": 60,
    "EvaluationPeriods": 1,
    "Threshold": 21.0,
    "ComparisonOperator": "GreaterThanThreshold",
}
_PLAIN = ("Namespace", "MetricName", "Statistic", "Period")
SEARCHING = {**dict.fromkeys(_PLAIN), "Metrics": [{"Id": "e", "Expression": "SUM(SEARCH('x', 'Sum', 60))"}]}
TOPIC = "arn:aws:sns:us-east-1:000000000000:topic"


def make(watched: Watched, name: str = "alarm", **settings: Any) -> None:
    watched.ask("PutMetricAlarm", **{**SETTINGS, "AlarmName": name, **settings})


def names(answer: Any) -> list[str]:
    return [alarm["AlarmName"] for alarm in answer["MetricAlarms"]]


def summaries(watched: Watched, **request: Any) -> list[str]:
    items = watched.ask("DescribeAlarmHistory", **request)["AlarmHistoryItems"]
    return [item["HistorySummary"] for item in items]


def test_a_new_alarm_has_not_enough_data(watched: Watched) -> None:
    make(watched)
    assert watched.ask("DescribeAlarms")["MetricAlarms"] == [
        {
            **SETTINGS,
            "AlarmArn": "arn:aws:cloudwatch:us-east-1:000000000000:alarm:alarm",
            "AlarmConfigurationUpdatedTimestamp": MIDNIGHT,
            "ActionsEnabled": True,
            "OKActions": [],
            "AlarmActions": [],
            "InsufficientDataActions": [],
            "Dimensions": [],
            "StateValue": "INSUFFICIENT_DATA",
            "StateReason": "Unchecked: Initial alarm creation",
            "StateUpdatedTimestamp": MIDNIGHT,
            "StateTransitionedTimestamp": MIDNIGHT,
        }
    ]


def test_the_state_follows_the_data(watched: Watched) -> None:
    make(watched, AlarmActions=[TOPIC])
    watched.put("m", 20.0, 1.5)
    watched.tick(60 + SETTLED_SECONDS)
    assert watched.state("alarm") == (
        "ALARM",
        "Threshold Crossed: 1 datapoint [21.5 (14/11/23 00:00:00)] was greater than the threshold (21.0).",
    )
    watched.put("m", 3.0)
    watched.tick()
    state, reason = watched.state("alarm")
    assert (state, "[3.0 (14/11/23 00:01:00)] was not greater" in reason) == ("OK", True)
    watched.tick(300)
    assert watched.state("alarm") == ("INSUFFICIENT_DATA", "Insufficient Data: 1 datapoint was unknown.")
    assert summaries(watched) == [
        "Alarm updated from OK to INSUFFICIENT_DATA",
        "Alarm updated from ALARM to OK",
        f"Recorded action {TOPIC}",
        "Alarm updated from INSUFFICIENT_DATA to ALARM",
        'Alarm "alarm" created',
    ]
    (update, *_) = watched.ask(
        "DescribeAlarmHistory", HistoryItemType="StateUpdate", ScanBy="TimestampAscending"
    )["AlarmHistoryItems"]
    data = json.loads(update["HistoryData"])
    assert data["oldState"] == {
        "stateValue": "INSUFFICIENT_DATA",
        "stateReason": "Unchecked: Initial alarm creation",
    }
    assert data["newState"]["stateReasonData"]["evaluatedDatapoints"] == [
        {"timestamp": "2023-11-14T00:00:00.000+0000", "sampleCount": 2.0, "value": 21.5}
    ]


def test_a_minute_that_is_not_over_does_not_count(watched: Watched) -> None:
    make(watched, TreatMissingData="notBreaching")
    watched.put("m", 100.0)
    watched.tick(30)
    assert watched.state("alarm")[0] == "OK"
    watched.tick(30 + SETTLED_SECONDS)
    assert watched.state("alarm")[0] == "ALARM"


def test_long_periods_slide_with_the_minutes(watched: Watched) -> None:
    make(watched, Period=300)
    watched.clock.advance(120)
    watched.put("m", 30.0)
    watched.tick(60 + SETTLED_SECONDS)  # the period from 23:58 to 00:03
    assert watched.state("alarm")[0] == "ALARM"


def test_m_of_n(watched: Watched) -> None:
    make(watched, EvaluationPeriods=3, DatapointsToAlarm=2)
    for value in (30.0, 1.0, 40.0):
        watched.put("m", value)
        watched.clock.advance(60)
    watched.tick(SETTLED_SECONDS)
    state, reason = watched.state("alarm")
    assert state == "ALARM"
    assert reason.startswith("Threshold Crossed: 2 out of the last 3 datapoints [40.0 (")


def test_an_alarm_on_an_expression(watched: Watched) -> None:
    metric = {"Namespace": "Test", "MetricName": "m"}
    settings = {
        "AlarmName": "math",
        "EvaluationPeriods": 1,
        "Threshold": 50.0,
        "ComparisonOperator": "GreaterThanThreshold",
        "Metrics": [
            {"Id": "m1", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}, "ReturnData": False},
            {"Id": "e1", "Expression": "100 * m1 / 40"},
        ],
    }
    watched.ask("PutMetricAlarm", **settings)
    (alarm,) = watched.ask("DescribeAlarms")["MetricAlarms"]
    assert settings.items() <= alarm.items()
    watched.put("m", 30.0)
    watched.tick(60 + SETTLED_SECONDS)
    assert watched.state("math")[0] == "ALARM"


def test_an_alarm_on_a_percentile(watched: Watched) -> None:
    make(watched, ExtendedStatistic="p90", Statistic=None, Threshold=80.0)
    watched.put("m", *map(float, range(1, 101)))
    watched.tick(60 + SETTLED_SECONDS)
    assert watched.state("alarm")[0] == "ALARM"


def test_an_idle_table_has_zeros(watched: Watched) -> None:
    """Consumption has a sample of zero in every minute; other metrics of DynamoDB leave an alarm as it is."""
    watched.call("CreateTable", **new_table("pk", TableName="tab"))
    watched.settle()
    dimensions = [{"Name": "TableName", "Value": "tab"}]
    own = {"Namespace": "AWS/DynamoDB", "Dimensions": dimensions}
    make(watched, "idle", MetricName="ConsumedWriteCapacityUnits", **own)
    make(watched, "silent", MetricName="WriteThrottleEvents", **own)
    watched.tick(120)
    assert watched.state("idle")[0] == "OK"
    assert watched.state("silent") == ("INSUFFICIENT_DATA", "Unchecked: Initial alarm creation")


def test_actions_that_are_disabled_are_not_recorded(watched: Watched) -> None:
    make(watched, AlarmActions=[TOPIC], ActionsEnabled=False)
    watched.ask("SetAlarmState", AlarmName="alarm", StateValue="ALARM", StateReason="a test")
    assert summaries(watched, HistoryItemType="Action") == []
    watched.ask("EnableAlarmActions", AlarmNames=["alarm", "none"])
    watched.ask("SetAlarmState", AlarmName="alarm", StateValue="OK", StateReason="a test")
    watched.ask("SetAlarmState", AlarmName="alarm", StateValue="ALARM", StateReason="a test")
    assert summaries(watched, HistoryItemType="Action") == [f"Recorded action {TOPIC}"]
    watched.ask("DisableAlarmActions", AlarmNames=["alarm"])
    assert watched.ask("DescribeAlarms")["MetricAlarms"][0]["ActionsEnabled"] is False


def test_a_state_that_is_set_lasts_until_the_next_evaluation(watched: Watched) -> None:
    make(watched)
    data = '{"by": "hand"}'
    watched.ask("SetAlarmState", AlarmName="alarm", StateValue="ALARM", StateReason="x", StateReasonData=data)
    (alarm,) = watched.ask("DescribeAlarms", StateValue="ALARM")["MetricAlarms"]
    assert (alarm["StateReason"], alarm["StateReasonData"]) == ("x", data)
    watched.tick(120)
    assert watched.state("alarm")[0] == "INSUFFICIENT_DATA"
    wrong = watched.fails(
        "SetAlarmState", AlarmName="alarm", StateValue="OK", StateReason="x", StateReasonData="{"
    )
    assert wrong == ("InvalidFormatFault", "StateReasonData was not valid JSON")


def test_another_configuration_leaves_the_state_and_the_tags(watched: Watched) -> None:
    make(watched, Tags=[{"Key": "a", "Value": "b"}])
    watched.ask("SetAlarmState", AlarmName="alarm", StateValue="ALARM", StateReason="a test")
    watched.clock.advance(5)
    make(watched, Threshold=5.0, Tags=[{"Key": "c", "Value": "d"}])
    (alarm,) = watched.ask("DescribeAlarms")["MetricAlarms"]
    assert (alarm["Threshold"], alarm["StateValue"]) == (5.0, "ALARM")
    assert alarm["AlarmConfigurationUpdatedTimestamp"] == MIDNIGHT + 5
    tags = watched.ask("ListTagsForResource", ResourceARN=alarm["AlarmArn"])["Tags"]
    assert tags == [{"Key": "a", "Value": "b"}]
    assert summaries(watched)[0] == 'Alarm "alarm" updated'


def test_pages(watched: Watched) -> None:
    for at in range(7):
        make(watched, f"alarm-{at}")
    make(watched, "other", OKActions=[TOPIC])
    first = watched.ask("DescribeAlarms", AlarmNamePrefix="alarm-", MaxRecords=4)
    assert names(first) == ["alarm-0", "alarm-1", "alarm-2", "alarm-3"]
    second = watched.ask(
        "DescribeAlarms", AlarmNamePrefix="alarm-", MaxRecords=4, NextToken=first["NextToken"]
    )
    assert names(second) == ["alarm-4", "alarm-5", "alarm-6"]
    assert "NextToken" not in second
    assert names(watched.ask("DescribeAlarms", AlarmNames=["other", "none", "alarm-3"])) == [
        "alarm-3",
        "other",
    ]
    assert names(watched.ask("DescribeAlarms", ActionPrefix="arn:aws:sns")) == ["other"]
    assert names(watched.ask("DescribeAlarms", AlarmTypes=["CompositeAlarm"])) == []
    assert names(watched.ask("DescribeAlarms", ChildrenOfAlarmName="other")) == []
    other = watched.fails("DescribeAlarms", AlarmNamePrefix="o", NextToken=first["NextToken"])
    assert other == ("InvalidNextToken", "The next token specified is invalid.")
    for rubbish in ("x", "ä", "AAAA", "=" * 9):
        assert watched.fails("DescribeAlarms", NextToken=rubbish)[0] == "InvalidNextToken"
        assert watched.fails("DescribeAlarmHistory", NextToken=rubbish)[0] == "InvalidNextToken"
        assert watched.fails("ListMetrics", NextToken=rubbish)[0] == "InvalidNextToken"


def test_pages_of_history(watched: Watched) -> None:
    for at in range(5):
        make(watched, f"alarm-{at}")
        make(watched, f"alarm-{at}")  # at the same moment
        watched.clock.advance(10)
    items: list[Any] = []
    token: dict[str, str] = {}
    while True:
        page = watched.ask("DescribeAlarmHistory", MaxRecords=3, ScanBy="TimestampAscending", **token)
        items += page["AlarmHistoryItems"]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert [item["HistorySummary"] for item in items] == [
        f'Alarm "alarm-{at}" {what}' for at in range(5) for what in ("created", "updated")
    ]
    within = {"StartDate": MIDNIGHT + 10, "EndDate": MIDNIGHT + 30}
    assert summaries(watched, **within, HistoryItemType="ConfigurationUpdate", AlarmName="alarm-2") == [
        'Alarm "alarm-2" updated',
        'Alarm "alarm-2" created',
    ]
    assert len(summaries(watched, **within)) == 4
    assert len(summaries(watched, **within, ScanBy="TimestampAscending")) == 4
    assert summaries(watched, StartDate=1e300) == []
    assert summaries(watched, EndDate=-1e300) == []


def test_every_alarm_has_its_turn_however_long_a_step_takes(watched: Watched) -> None:
    for number in range(50):
        make(watched, f"alarm-{number}", TreatMissingData="breaching")
    for _ in range(3):  # of twenty alarms
        watched.clock.advance(60)
        watched.evaluating.step(watched.clock.now())
    assert len(watched.ask("DescribeAlarms", StateValue="ALARM", MaxRecords=100)["MetricAlarms"]) == 50


@pytest.mark.parametrize("minutes", [1, 7, 59])
def test_an_alarm_of_a_long_range_is_evaluated_once_in_an_hour(watched: Watched, minutes: int) -> None:
    make(watched, Period=3600, EvaluationPeriods=25, DatapointsToAlarm=1)
    watched.tick(30 * 60 + SETTLED_SECONDS)
    watched.put("m", 50.0)
    watched.tick()
    assert watched.state("alarm")[0] == "INSUFFICIENT_DATA"
    watched.tick((29 + minutes) * 60)  # no step falls on the hour itself
    assert watched.state("alarm")[0] == "ALARM"
    watched.ask("SetAlarmState", AlarmName="alarm", StateValue="OK", StateReason="by hand")
    watched.tick(60)
    assert watched.state("alarm")[0] == ("OK" if minutes < 59 else "ALARM")


def test_history_is_forgotten_after_thirty_days(watched: Watched) -> None:
    make(watched)
    watched.clock.advance(30 * 86_400)
    watched.forgetting.step(watched.clock.now())
    assert len(summaries(watched)) == 1
    watched.clock.advance(1)
    watched.forgetting.step(watched.clock.now())
    assert summaries(watched) == []


def test_what_is_counted_is_waited_for_when_the_clock_was_moved(watched: Watched) -> None:
    """Workers write some seconds later: a table that was busy must not look idle meanwhile."""
    watched.call("CreateTable", **new_table("pk", TableName="tab"))
    watched.settle()
    moment = [0.0]
    watched.evaluating = EvaluateAlarms(watched.engine, lambda: moment[0])
    dimensions = [{"Name": "TableName", "Value": "tab"}]
    metric = {
        "Namespace": "AWS/DynamoDB",
        "MetricName": "ConsumedReadCapacityUnits",
        "Dimensions": dimensions,
    }
    make(watched, "counted", **metric)
    plain = dict.fromkeys(("Namespace", "MetricName", "Statistic", "Period"))
    stat = {"Metric": metric, "Period": 60, "Stat": "Sum"}
    make(watched, "expression", **plain, Metrics=[{"Id": "m", "MetricStat": stat}])
    make(watched, "sent")
    watched.put("m", 100.0)
    watched.tick(0)
    minute = watched.clock.now()
    watched.clock.advance(120)
    assert watched.evaluating.step(watched.clock.now()) == 1.0
    states = {name: watched.state(name)[0] for name in ("counted", "expression", "sent")}
    assert states == {"counted": "INSUFFICIENT_DATA", "expression": "INSUFFICIENT_DATA", "sent": "ALARM"}
    place = Place(*watched.place, "tab")
    samples = {"ConsumedReadCapacityUnits": 50.0}
    for at in (minute, minute + 60):
        watched.engine.write(partial(metric_rows.add_samples, place=place, now=at, samples=samples))
    moment[0] += 11.0
    watched.tick(11)
    assert watched.state("counted")[0] == watched.state("expression")[0] == "ALARM"


class CountingEngine(WrappedEngine):
    """Counts the rows that are looked at in scans."""

    rows = 0

    def read(self, step: Callable[[Reader], Any], *, seconds: float | None = None) -> Any:
        def counted(reader: Reader) -> Any:
            return step(cast("Reader", CountingReader(self, reader)))

        return super().read(counted, seconds=seconds)


class CountingReader:
    def __init__(self, engine: CountingEngine, reader: Reader) -> None:
        self._engine = engine
        self._reader = reader

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        for row in self._reader.scan(start, end, reverse=reverse, limit=limit):
            self._engine.rows += 1
            yield row


def test_forgetting_history_reads_only_what_is_to_go(watched: Watched) -> None:
    make(watched, "old")
    watched.clock.advance(86_400)
    for region in ("eu-west-1", "us-east-1", "us-west-2"):
        watched.context.region = region
        for at in range(20):
            make(watched, f"alarm-{at}")
    watched.clock.advance(29.5 * 86_400)
    engine = CountingEngine(watched.engine)
    ForgetAlarmHistory(engine).step(watched.clock.now())
    # Of every region one row to find it and one that is not to go.
    assert engine.rows == 1 + 2 * 3
    watched.context.region = "us-east-1"
    assert len(summaries(watched)) == 20


def test_alarms_of_a_metric(watched: Watched) -> None:
    dimensions = [{"Name": "a", "Value": "1"}, {"Name": "b", "Value": "2"}]
    make(watched, "plain")
    make(watched, "with", Dimensions=dimensions)
    make(watched, "max", Statistic="Maximum", Period=300)
    wanted = {"Namespace": "Test", "MetricName": "m"}
    assert names(watched.ask("DescribeAlarmsForMetric", **wanted)) == ["max", "plain"]
    assert names(watched.ask("DescribeAlarmsForMetric", **wanted, Dimensions=dimensions[::-1])) == ["with"]
    assert names(watched.ask("DescribeAlarmsForMetric", **wanted, Statistic="Maximum", Period=300)) == ["max"]
    assert names(watched.ask("DescribeAlarmsForMetric", Namespace="Test", MetricName="x")) == []


def test_alarms_are_deleted_all_or_none(watched: Watched) -> None:
    make(watched, "a")
    make(watched, "b")
    assert watched.fails("DeleteAlarms", AlarmNames=["a", "none"]) == ("ResourceNotFound", "")
    watched.ask("DeleteAlarms", AlarmNames=["none"])
    assert names(watched.ask("DescribeAlarms")) == ["a", "b"]
    watched.ask("DeleteAlarms", AlarmNames=["a", "b"])
    assert names(watched.ask("DescribeAlarms")) == []
    assert summaries(watched)[0] == 'Alarm "b" deleted'


def test_an_alarm_that_was_deleted_is_not_evaluated(watched: Watched) -> None:
    for at in range(25):  # more than one step takes
        make(watched, f"alarm-{at:02d}")
    watched.clock.advance(120)
    assert watched.evaluating.step(watched.clock.now()) == 0
    watched.ask("DeleteAlarms", AlarmNames=["alarm-24"])
    assert watched.evaluating.step(watched.clock.now()) > 0
    assert len(names(watched.ask("DescribeAlarms"))) == 24


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"Threshold": None}, "MissingRequiredParameterException"),
        ({"MetricName": None}, "MissingRequiredParameterException"),
        ({"Period": None}, "MissingRequiredParameterException"),
        ({"Period": 61}, "ValidationException"),
        ({"Period": 0}, "ValidationException"),
        ({"Statistic": None}, "InvalidParameterCombinationException"),
        ({"ExtendedStatistic": "p99"}, "InvalidParameterCombinationException"),
        ({"Statistic": None, "ExtendedStatistic": "p101"}, "InvalidParameterValueException"),
        ({"Statistic": None, "ExtendedStatistic": "Sum"}, "InvalidParameterValueException"),
        ({"Statistic": "p99"}, "ValidationException"),
        ({"EvaluationPeriods": 1441}, "ValidationException"),
        ({"EvaluationPeriods": 169, "Period": 3600}, "ValidationException"),
        ({"EvaluationPeriods": 2, "DatapointsToAlarm": 3}, "ValidationException"),
        ({"TreatMissingData": "maybe"}, "ValidationException"),
        ({"ComparisonOperator": "GreaterThanUpperThreshold"}, "ValidationException"),
        ({"OKActions": ["x"] * 6}, "ValidationException"),
        ({"AlarmName": ""}, "ValidationException"),
        ({"Namespace": ":x"}, "ValidationException"),
        ({"Metrics": [{"Id": "e", "Expression": "1"}]}, "InvalidParameterCombinationException"),
        (SEARCHING, "ValidationException"),
        ({"Tags": [{"Key": str(at), "Value": ""} for at in range(51)]}, "LimitExceededFault"),
    ],
)
def test_what_is_refused(watched: Watched, settings: dict[str, Any], code: str) -> None:
    request = {name: value for name, value in {**SETTINGS, **settings}.items() if value is not None}
    assert watched.fails("PutMetricAlarm", **request)[0] == code


@pytest.mark.parametrize(
    "settings", [{"EvaluationPeriods": 1440}, {"EvaluationPeriods": 168, "Period": 3600}, {"Period": 10}]
)
def test_what_is_just_taken(watched: Watched, settings: dict[str, Any]) -> None:
    make(watched, **settings)
    watched.tick(7200)
    assert watched.state("alarm")[0] == "INSUFFICIENT_DATA"


def test_tags_of_what_is_no_alarm(watched: Watched) -> None:
    for arn, code in (
        ("arn:aws:cloudwatch:us-east-1:000000000000:alarm:none", "ResourceNotFoundException"),
        ("arn:aws:cloudwatch:eu-west-1:000000000000:alarm:alarm", "ResourceNotFoundException"),
        ("rubbish", "InvalidParameterValueException"),
    ):
        make(watched)
        assert watched.fails("ListTagsForResource", ResourceARN=arn)[0] == code
        assert watched.fails("TagResource", ResourceARN=arn, Tags=[])[0] == code
        assert watched.fails("UntagResource", ResourceARN=arn, TagKeys=[])[0] == code
