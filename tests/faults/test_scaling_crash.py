"""What auto scaling and insights were told survives kill -9, and `hashrange verify` finds nothing wrong with it."""

import signal
from pathlib import Path
from typing import Any

import pytest

import warm
from item_tables import definitions, key_schema
from service_clients import client_of
from serving import Serving, serving
from wiring import eventually

pytestmark = pytest.mark.timeout(300)

_PATIENCE_SECONDS = 60
TARGET = {
    "ServiceNamespace": "dynamodb",
    "ResourceId": "table/tab",
    "ScalableDimension": "dynamodb:table:ReadCapacityUnits",
}


def settings(server: Serving) -> list[Any]:
    scaling = client_of(server, "application-autoscaling")
    answers = [
        scaling.describe_scalable_targets(ServiceNamespace="dynamodb"),
        scaling.describe_scaling_policies(ServiceNamespace="dynamodb"),
        scaling.describe_scheduled_actions(ServiceNamespace="dynamodb"),
        scaling.describe_scaling_activities(ServiceNamespace="dynamodb"),
        client_of(server, "dynamodb").describe_contributor_insights(TableName="tab"),
    ]
    for answer in answers:
        answer.pop("ResponseMetadata")
    return answers


def test_settings_survive_a_crash(tmp_path: Path) -> None:
    flags = ("--data-dir", str(tmp_path), "--log-level", "warning")
    with serving(*flags) as server:
        dynamodb, scaling = client_of(server, "dynamodb"), client_of(server, "application-autoscaling")
        dynamodb.create_table(
            TableName="tab",
            KeySchema=key_schema("pk"),
            AttributeDefinitions=definitions(pk="S"),
            ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
        )
        dynamodb.get_waiter("table_exists").wait(TableName="tab")
        scaling.register_scalable_target(**TARGET, MinCapacity=7, MaxCapacity=50)
        scaling.put_scaling_policy(
            **TARGET,
            PolicyName="seventy",
            PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration={
                "TargetValue": 70.0,
                "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"},
            },
        )
        scaling.put_scheduled_action(
            **TARGET,
            ScheduledActionName="later",
            Schedule="at(2199-01-01T00:00:00)",
            ScalableTargetAction={"MinCapacity": 9},
        )
        assert eventually(lambda: len(settings(server)[3]["ScalingActivities"]) == 1, _PATIENCE_SECONDS)
        dynamodb.update_contributor_insights(TableName="tab", ContributorInsightsAction="ENABLE")
        assert eventually(
            lambda: settings(server)[4]["ContributorInsightsStatus"] == "ENABLED", _PATIENCE_SECONDS
        )
        before = settings(server)
        server.stop(signal.SIGKILL)
    with serving(*flags) as server:
        assert settings(server) == before
        capacity = client_of(server, "dynamodb").describe_table(TableName="tab")["Table"][
            "ProvisionedThroughput"
        ]
        assert capacity["ReadCapacityUnits"] == 7
        assert server.stop() == 0
    done = warm.run("verify", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
