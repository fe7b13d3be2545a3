"""The alarms of target-tracking policies have the service's shape, follow the controller, and go with the policy."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from hashrange.jobs.metrics import SampleCapacity
from item_tables import index
from new_tables import request as new_table
from watching import Watched

UUID = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
UNITS = {"ReadCapacityUnits": 100, "WriteCapacityUnits": 100}
READ = "dynamodb:table:ReadCapacityUnits"


@pytest.fixture
def watched() -> Watched:
    watched = Watched()
    watched.call(
        "CreateTable",
        **new_table(
            "pk",
            TableName="tab",
            types={"g": "S"},
            GlobalSecondaryIndexes=[{**index("glo", "g"), "ProvisionedThroughput": UNITS}],
            BillingMode="PROVISIONED",
            ProvisionedThroughput=UNITS,
        ),
    )
    watched.settle()
    return watched


def target(dimension: str = READ, resource: str = "table/tab") -> dict[str, Any]:
    return {"ServiceNamespace": "dynamodb", "ResourceId": resource, "ScalableDimension": dimension}


def follow(
    watched: Watched, dimension: str = READ, resource: str = "table/tab", value: float = 70.0, **more: Any
) -> Any:
    access = "Read" if "Read" in dimension else "Write"
    watched.call("RegisterScalableTarget", **target(dimension, resource), MinCapacity=5, MaxCapacity=2000)
    return watched.call(
        "PutScalingPolicy",
        **target(dimension, resource),
        PolicyName="seventy",
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration={
            "TargetValue": value,
            "PredefinedMetricSpecification": {"PredefinedMetricType": f"DynamoDB{access}CapacityUtilization"},
            **more,
        },
    )


def described(watched: Watched, **request: Any) -> dict[str, Any]:
    """The alarms by their kinds."""
    shown = watched.ask("DescribeAlarms", **request)["MetricAlarms"]
    return {re.sub(rf"TargetTracking-.*-(\w+)-{UUID}", r"\1", alarm["AlarmName"]): alarm for alarm in shown}


def consume(watched: Watched, rate: Callable[[float], float], minutes: int) -> None:
    watched.consumed.rates["table/tab", "Read"] = rate
    for _ in range(minutes):
        watched.tick()
        watched.run_jobs()


def test_a_policy_has_the_four_alarms_of_the_service(watched: Watched) -> None:
    answer = follow(watched)
    alarms = described(watched)
    action = f"{answer['PolicyARN']}:createdBy/"
    creator = alarms["AlarmHigh"]["AlarmActions"][0].removeprefix(action)
    assert re.fullmatch(UUID, creator)
    common = {
        "AlarmDescription": f"DO NOT EDIT OR DELETE. For TargetTrackingScaling policy {action}{creator}.",
        "AlarmConfigurationUpdatedTimestamp": watched.clock.now(),
        "ActionsEnabled": True,
        "OKActions": [],
        "AlarmActions": [action + creator],
        "InsufficientDataActions": [],
        "StateValue": "INSUFFICIENT_DATA",
        "StateReason": "Unchecked: Initial alarm creation",
        "StateUpdatedTimestamp": watched.clock.now(),
        "StateTransitionedTimestamp": watched.clock.now(),
        "Namespace": "AWS/DynamoDB",
        "Dimensions": [{"Name": "TableName", "Value": "tab"}],
    }
    consumed = {"MetricName": "ConsumedReadCapacityUnits", "Statistic": "Sum", "Period": 60}
    provisioned = {"MetricName": "ProvisionedReadCapacityUnits", "Statistic": "Average", "Period": 300}
    own = {
        "AlarmHigh": (consumed, 2, "GreaterThanThreshold", 4200.0),
        "AlarmLow": (consumed, 15, "LessThanThreshold", 3000.0),
        "ProvisionedCapacityHigh": (provisioned, 3, "GreaterThanThreshold", 100.0),
        "ProvisionedCapacityLow": (provisioned, 3, "LessThanThreshold", 100.0),
    }
    assert list(alarms) == list(own)
    for kind, (metric, periods, comparison, threshold) in own.items():
        name = alarms[kind]["AlarmName"]
        assert re.fullmatch(rf"TargetTracking-table/tab-{kind}-{UUID}", name)
        assert alarms[kind] == {
            **common,
            **metric,
            "AlarmName": name,
            "AlarmArn": f"arn:aws:cloudwatch:us-east-1:000000000000:alarm:{name}",
            "EvaluationPeriods": periods,
            "ComparisonOperator": comparison,
            "Threshold": threshold,
        }
    named = [{"AlarmName": alarm["AlarmName"], "AlarmARN": alarm["AlarmArn"]} for alarm in alarms.values()]
    assert answer["Alarms"] == named
    (policy,) = watched.call("DescribeScalingPolicies", ServiceNamespace="dynamodb")["ScalingPolicies"]
    assert policy["Alarms"] == named


# Measured at the service: units, target, thresholds of AlarmHigh and AlarmLow.
@pytest.mark.parametrize(
    ("units", "value", "high", "low"),
    [
        (5, 70.0, 210.0, 150.0),
        (500, 70.0, 21000.0, 15000.0),
        (1263, 70.0, 53046.0, 37890.0),
        (1, 50.0, 30.0, 18.0),
    ],
)
def test_thresholds_are_those_of_the_service(
    watched: Watched, units: int, value: float, high: float, low: float
) -> None:
    throughput = {"ReadCapacityUnits": units, "WriteCapacityUnits": 100}
    watched.call("UpdateTable", TableName="tab", ProvisionedThroughput=throughput)
    watched.settle()
    follow(watched, value=value)
    alarms = described(watched)
    assert (alarms["AlarmHigh"]["Threshold"], alarms["AlarmLow"]["Threshold"]) == (high, low)


def test_alarms_of_an_index(watched: Watched) -> None:
    follow(watched, "dynamodb:index:WriteCapacityUnits", "table/tab/index/glo")
    high = described(watched, AlarmNamePrefix="TargetTracking-table/tab/index/glo-")["AlarmHigh"]
    assert high["MetricName"] == "ConsumedWriteCapacityUnits"
    assert high["Dimensions"] == [
        {"Name": "TableName", "Value": "tab"},
        {"Name": "GlobalSecondaryIndexName", "Value": "glo"},
    ]


def test_a_capacity_that_scales_out_moves_the_thresholds(watched: Watched) -> None:
    follow(watched)
    consume(watched, lambda _: 90.0, 4)
    alarms = described(watched)
    assert alarms["AlarmHigh"]["Threshold"] == 129 * 60 * 0.7
    assert alarms["ProvisionedCapacityLow"]["Threshold"] == 129.0
    states = watched.ask(
        "DescribeAlarmHistory",
        AlarmName=alarms["AlarmHigh"]["AlarmName"],
        ScanBy="TimestampAscending",
    )["AlarmHistoryItems"]
    (action,) = alarms["AlarmHigh"]["AlarmActions"]
    assert [item["HistorySummary"] for item in states] == [
        f'Alarm "{alarms["AlarmHigh"]["AlarmName"]}" created',
        "Alarm updated from INSUFFICIENT_DATA to ALARM",
        f"Successfully executed action {action}",
        "Alarm updated from ALARM to OK",
    ]
    (activity,) = watched.call("DescribeScalingActivities", ServiceNamespace="dynamodb")["ScalingActivities"]
    assert alarms["AlarmHigh"]["AlarmName"] in activity["Cause"]


def test_the_reason_names_the_minutes_that_the_controller_has_seen(watched: Watched) -> None:
    follow(watched, DisableScaleIn=True)
    watched.call("RegisterScalableTarget", **target(), MaxCapacity=100)
    consume(watched, lambda _: 90.0, 4)
    high = described(watched)["AlarmHigh"]
    assert high["StateValue"] == "ALARM"
    assert re.fullmatch(
        r"Threshold Crossed: 2 datapoints \[5400\.0 \(14/11/23 00:0\d:00\), 5400\.0 \(14/11/23 00:0\d:00\)\] "
        r"were greater than the threshold \(4200\.0\)\.",
        high["StateReason"],
    )
    data = json.loads(high["StateReasonData"])
    assert (data["threshold"], data["recentDatapoints"]) == (4200.0, [5400.0, 5400.0])


def test_an_idle_table_at_its_minimum_stays_in_alarm_low(watched: Watched) -> None:
    follow(watched)
    consume(watched, lambda _: 0.0, 18)
    alarms = described(watched)
    assert watched.describe("tab")["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert {kind: alarms[kind]["StateValue"] for kind in ("AlarmHigh", "AlarmLow")} == {
        "AlarmHigh": "OK",
        "AlarmLow": "ALARM",
    }
    assert set(described(watched, StateValue="ALARM")) >= {"AlarmLow"}


def test_a_capacity_that_the_user_sets_moves_the_thresholds_too(watched: Watched) -> None:
    follow(watched)
    watched.call(
        "UpdateTable",
        TableName="tab",
        ProvisionedThroughput={"ReadCapacityUnits": 200, "WriteCapacityUnits": 100},
    )
    consume(watched, lambda _: 120.0, 2)
    assert described(watched)["AlarmHigh"]["Threshold"] == 8400.0


def test_another_target_value_keeps_the_names(watched: Watched) -> None:
    before = follow(watched)
    after = follow(watched, value=50.0)
    assert after == before
    assert described(watched)["AlarmHigh"]["Threshold"] == 3000.0


def test_an_alarm_that_was_deleted_comes_back(watched: Watched) -> None:
    follow(watched)
    high = described(watched)["AlarmHigh"]["AlarmName"]
    watched.ask("DeleteAlarms", AlarmNames=[high])
    assert "AlarmHigh" not in described(watched)
    consume(watched, lambda _: 60.0, 2)
    assert described(watched)["AlarmHigh"]["AlarmName"] == high


def delete_policy(watched: Watched) -> None:
    watched.call("DeleteScalingPolicy", **target(), PolicyName="seventy")


def deregister(watched: Watched) -> None:
    watched.call("DeregisterScalableTarget", **target())


def disable(watched: Watched) -> None:
    update = {
        "RegionName": "us-east-1",
        "ReplicaProvisionedReadCapacityAutoScalingUpdate": {"AutoScalingDisabled": True},
    }
    watched.call("UpdateTableReplicaAutoScaling", TableName="tab", ReplicaUpdates=[update])


def rename(watched: Watched) -> None:
    """Replace the policy by one of another name, and that by none."""
    update = {
        "RegionName": "us-east-1",
        "ReplicaProvisionedReadCapacityAutoScalingUpdate": {
            "MinimumUnits": 5,
            "MaximumUnits": 50,
            "ScalingPolicyUpdate": {
                "PolicyName": "other",
                "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 50.0},
            },
        },
    }
    before = described(watched)["AlarmHigh"]["AlarmName"]
    watched.call("UpdateTableReplicaAutoScaling", TableName="tab", ReplicaUpdates=[update])
    alarms = described(watched)
    assert (len(alarms), alarms["AlarmHigh"]["AlarmName"] != before) == (4, True)
    watched.call("DeleteScalingPolicy", **target(), PolicyName="other")


@pytest.mark.parametrize("end", [delete_policy, deregister, disable, rename])
def test_the_alarms_go_with_the_policy(watched: Watched, end: Callable[[Watched], None]) -> None:
    follow(watched)
    consume(watched, lambda _: 60.0, 2)
    end(watched)
    assert described(watched) == {}
    consume(watched, lambda _: 60.0, 2)
    assert described(watched) == {}


def test_a_deleted_table_leaves_its_alarms(watched: Watched) -> None:
    follow(watched)
    watched.call("DeleteTable", TableName="tab")
    watched.settle()
    consume(watched, lambda _: 0.0, 2)
    assert len(described(watched)) == 4


def test_alarms_on_what_is_provisioned_are_evaluated_as_any_alarm(watched: Watched) -> None:
    follow(watched)
    sampling = SampleCapacity(watched.engine, watched.catalogue)
    for _ in range(5):
        sampling.step(watched.clock.now())
        watched.tick(300)
    high = described(watched)["ProvisionedCapacityHigh"]
    assert high["StateValue"] == "OK"
    assert high["StateReason"].endswith(" was not greater than the threshold (100.0).")
