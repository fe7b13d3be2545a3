"""DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling: the same settings as the other service has."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import index, make_table

UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
OFF = {"AutoScalingDisabled": True, "ScalingPolicies": []}


@pytest.fixture
def table(client: Any) -> str:
    return make_table(
        client,
        "pk",
        types={"g": "S"},
        BillingMode="PROVISIONED",
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[{**index("glo", "g"), "ProvisionedThroughput": UNITS}],
    )


@pytest.fixture
def scaling(make_client: Callable[..., Any]) -> Any:
    return make_client("application-autoscaling")


def replica(client: Any, table: str) -> dict[str, Any]:
    answer = client.describe_table_replica_auto_scaling(TableName=table)["TableAutoScalingDescription"]
    assert (answer["TableName"], answer["TableStatus"]) == (table, "ACTIVE")
    (only,) = answer["Replicas"]
    return dict(only)


def update(least: int = 5, most: int = 50, value: float = 70.0, **policy: Any) -> dict[str, Any]:
    return {
        "MinimumUnits": least,
        "MaximumUnits": most,
        "ScalingPolicyUpdate": {
            **policy,
            "TargetTrackingScalingPolicyConfiguration": {"TargetValue": value, "ScaleInCooldown": 60},
        },
    }


def refused(call: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as failure:
        call(**request)
    error = failure.value.response["Error"]
    return error["Code"], error["Message"]


def test_a_table_that_was_never_scaled(client: Any, table: str) -> None:
    assert replica(client, table) == {
        "RegionName": "us-east-1",
        "ReplicaStatus": "ACTIVE",
        "ReplicaProvisionedReadCapacityAutoScalingSettings": OFF,
        "ReplicaProvisionedWriteCapacityAutoScalingSettings": OFF,
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "glo",
                "IndexStatus": "ACTIVE",
                "ProvisionedReadCapacityAutoScalingSettings": OFF,
                "ProvisionedWriteCapacityAutoScalingSettings": OFF,
            }
        ],
    }


def test_settings_of_the_table_and_of_its_index(client: Any, scaling: Any, table: str) -> None:
    client.update_table_replica_auto_scaling(
        TableName=table,
        ProvisionedWriteCapacityAutoScalingUpdate=update(),
        GlobalSecondaryIndexUpdates=[
            {"IndexName": "glo", "ProvisionedWriteCapacityAutoScalingUpdate": update(6)}
        ],
        ReplicaUpdates=[
            {
                "RegionName": "us-east-1",
                "ReplicaProvisionedReadCapacityAutoScalingUpdate": update(7, PolicyName="own"),
                "ReplicaGlobalSecondaryIndexUpdates": [
                    {"IndexName": "glo", "ProvisionedReadCapacityAutoScalingUpdate": update(8)}
                ],
            }
        ],
    )
    shown = replica(client, table)
    write = shown["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
    assert (write["MinimumUnits"], write["MaximumUnits"]) == (5, 50)
    assert write["ScalingPolicies"] == [
        {
            "PolicyName": f"DynamoDBWriteCapacityUtilization:table/{table}",
            "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70.0, "ScaleInCooldown": 60},
        }
    ]
    read = shown["ReplicaProvisionedReadCapacityAutoScalingSettings"]
    assert (read["MinimumUnits"], read["ScalingPolicies"][0]["PolicyName"]) == (7, "own")
    (glo,) = shown["GlobalSecondaryIndexes"]
    assert glo["ProvisionedWriteCapacityAutoScalingSettings"]["MinimumUnits"] == 6
    assert glo["ProvisionedReadCapacityAutoScalingSettings"]["MinimumUnits"] == 8
    targets = scaling.describe_scalable_targets(
        ServiceNamespace="dynamodb", ResourceIds=[f"table/{table}", f"table/{table}/index/glo"]
    )["ScalableTargets"]
    assert len(targets) == 4


def test_another_policy_name_replaces_the_policy(client: Any, table: str) -> None:
    for name, value in (("one", 50.0), ("two", 60.0)):
        client.update_table_replica_auto_scaling(
            TableName=table,
            ProvisionedWriteCapacityAutoScalingUpdate=update(value=value, PolicyName=name),
        )
    settings = replica(client, table)["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
    assert [policy["PolicyName"] for policy in settings["ScalingPolicies"]] == ["two"]


def test_disabling_can_be_repeated(client: Any, table: str) -> None:
    client.update_table_replica_auto_scaling(
        TableName=table, ProvisionedWriteCapacityAutoScalingUpdate=update()
    )
    for _ in range(2):
        client.update_table_replica_auto_scaling(
            TableName=table, ProvisionedWriteCapacityAutoScalingUpdate={"AutoScalingDisabled": True}
        )
        assert replica(client, table)["ReplicaProvisionedWriteCapacityAutoScalingSettings"] == OFF


def test_refusals(client: Any, table: str) -> None:
    call = client.update_table_replica_auto_scaling
    assert refused(call, TableName=table, ProvisionedWriteCapacityAutoScalingUpdate={"MinimumUnits": 1}) == (
        "ValidationException",
        (
            f"Failed to update settings for global table with name: \u2018{table}\u2019: Parameters 'MaximumUnits', "
            "'MinimumUnits' are required unless auto scaling is being disabled."
        ),
    )
    code, message = refused(call, TableName=table, ProvisionedWriteCapacityAutoScalingUpdate=update(value=5))
    assert code == "ValidationException"
    assert message.startswith(
        "For predefined metric type DynamoDBWriteCapacityUtilization, target value must be between '10.0' and "
        "'90.0', but was '5.0'. (Service: AWSApplicationAutoScaling; Status Code: 400; Error Code: "
        "ValidationException; Request ID: "
    )
    # Nothing of a refused request stays.
    assert replica(client, table)["ReplicaProvisionedWriteCapacityAutoScalingSettings"] == OFF
    assert refused(client.describe_table_replica_auto_scaling, TableName="nowhere") == (
        "ResourceNotFoundException",
        "Global table with name: 'nowhere' does not exist.",
    )
    other = [{"RegionName": "eu-west-1", "ReplicaProvisionedReadCapacityAutoScalingUpdate": update()}]
    assert refused(call, TableName=table, ReplicaUpdates=other)[0] == "ValidationException"
    unknown = [{"IndexName": "nix", "ProvisionedWriteCapacityAutoScalingUpdate": update()}]
    code, _ = refused(call, TableName=table, GlobalSecondaryIndexUpdates=unknown)
    assert code == "ResourceNotFoundException"
