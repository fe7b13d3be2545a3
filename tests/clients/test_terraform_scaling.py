"""Terraform's resources for auto scaling and Contributor Insights: their calls replayed, and what they read back.

The provider compares what it reads with the configuration, member by member: a difference is a change it wants to make.
"""

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from serving import Serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def scaling(server: Serving, make_client: Callable[..., Any]) -> Any:
    return make_client("application-autoscaling", endpoint=server.endpoint)


@pytest.fixture
def table(client: Any) -> str:
    name = f"terraform-{uuid4().hex}"
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    )
    client.get_waiter("table_exists").wait(TableName=name)
    return name


def target(table: str) -> dict[str, str]:
    return {
        "ServiceNamespace": "dynamodb",
        "ResourceId": f"table/{table}",
        "ScalableDimension": "dynamodb:table:ReadCapacityUnits",
    }


def read_target(scaling: Any, table: str) -> dict[str, Any] | None:
    """aws_appautoscaling_target's read: describe by resource, choose by dimension, then list the tags."""
    answer = scaling.describe_scalable_targets(ServiceNamespace="dynamodb", ResourceIds=[f"table/{table}"])
    for shown in answer["ScalableTargets"]:
        if shown["ScalableDimension"] == target(table)["ScalableDimension"]:
            tags = scaling.list_tags_for_resource(ResourceARN=shown["ScalableTargetARN"])["Tags"]
            return {"min": shown["MinCapacity"], "max": shown["MaxCapacity"], "tags": tags}
    return None


def test_a_target_reads_back_as_it_was_applied(scaling: Any, table: str) -> None:
    arn = scaling.register_scalable_target(
        **target(table), MinCapacity=5, MaxCapacity=100, Tags={"team": "blue"}
    )["ScalableTargetARN"]
    assert read_target(scaling, table) == {"min": 5, "max": 100, "tags": {"team": "blue"}}
    # The update of another capacity and another tag.
    scaling.untag_resource(ResourceARN=arn, TagKeys=["team"])
    scaling.tag_resource(ResourceARN=arn, Tags={"cost": "1"})
    scaling.register_scalable_target(
        **target(table),
        MinCapacity=6,
        MaxCapacity=101,
        SuspendedState={
            "DynamicScalingInSuspended": False,
            "DynamicScalingOutSuspended": False,
            "ScheduledScalingSuspended": False,
        },
    )
    assert read_target(scaling, table) == {"min": 6, "max": 101, "tags": {"cost": "1"}}
    scaling.deregister_scalable_target(**target(table))
    assert read_target(scaling, table) is None


def test_a_policy_reads_back_as_it_was_applied(scaling: Any, table: str) -> None:
    scaling.register_scalable_target(**target(table), MinCapacity=5, MaxCapacity=100)
    configuration = {
        "TargetValue": 70.0,
        "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"},
        "DisableScaleIn": False,
        "ScaleInCooldown": 60,
        "ScaleOutCooldown": 30,
    }
    name = f"DynamoDBReadCapacityUtilization:table/{table}"
    put = scaling.put_scaling_policy(
        **target(table),
        PolicyName=name,
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration=configuration,
    )
    answer = scaling.describe_scaling_policies(**target(table), PolicyNames=[name])
    (policy,) = answer["ScalingPolicies"]
    assert (policy["PolicyName"], policy["PolicyType"]) == (name, "TargetTrackingScaling")
    assert policy["TargetTrackingScalingPolicyConfiguration"] == configuration
    assert policy["PolicyARN"] == put["PolicyARN"]
    assert [alarm["AlarmARN"] for alarm in policy["Alarms"]] == [alarm["AlarmARN"] for alarm in put["Alarms"]]
    scaling.delete_scaling_policy(**target(table), PolicyName=name)
    assert scaling.describe_scaling_policies(**target(table))["ScalingPolicies"] == []


def test_a_scheduled_action_reads_back_as_it_was_applied(scaling: Any, table: str) -> None:
    scaling.register_scalable_target(**target(table), MinCapacity=5, MaxCapacity=100)
    action = {
        "Schedule": "cron(0 17 * * ? *)",
        "Timezone": "UTC",  # the provider's default, which it always sends
        "ScalableTargetAction": {"MinCapacity": 1, "MaxCapacity": 200},
    }
    scaling.put_scheduled_action(**target(table), ScheduledActionName="dusk", **action)
    (shown,) = scaling.describe_scheduled_actions(**target(table), ScheduledActionNames=["dusk"])[
        "ScheduledActions"
    ]
    assert {name: shown[name] for name in action} == action
    assert "StartTime" not in shown
    scaling.delete_scheduled_action(**target(table), ScheduledActionName="dusk")
    scaling.deregister_scalable_target(**target(table))


@pytest.mark.parametrize("mode", [None, "ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"])
def test_contributor_insights_read_back_as_they_were_applied(
    client: Any, table: str, mode: str | None
) -> None:
    more = {} if mode is None else {"ContributorInsightsMode": mode}
    client.update_contributor_insights(TableName=table, ContributorInsightsAction="ENABLE", **more)
    shown = waited(client, table, "ENABLED")
    assert shown["TableName"] == table
    assert "IndexName" not in shown
    assert shown["ContributorInsightsMode"] == (mode or "ACCESSED_AND_THROTTLED_KEYS")
    client.update_contributor_insights(TableName=table, ContributorInsightsAction="DISABLE")
    waited(client, table, "DISABLED")


def waited(client: Any, table: str, status: str) -> dict[str, Any]:
    """Poll as the provider does."""
    shown: dict[str, Any] = {}
    for _ in range(1000):
        shown = client.describe_contributor_insights(TableName=table)
        if shown["ContributorInsightsStatus"] == status:
            return shown
        time.sleep(0.05)
    raise AssertionError(shown)
