"""The calls of Terraform's aws_dynamodb_table, replayed: what the provider does, on machines that do not have it."""

import json
import time
from typing import Any
from uuid import uuid4

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def _settled(client: Any, table: str) -> dict[str, Any]:
    """Poll as the provider does, until table and indexes are ACTIVE."""
    described: dict[str, Any] = {}
    for _ in range(400):
        described = client.describe_table(TableName=table)["Table"]
        indexes = described.get("GlobalSecondaryIndexes", [])
        if (
            all(index["IndexStatus"] == "ACTIVE" for index in indexes)
            and described["TableStatus"] == "ACTIVE"
        ):
            return described
        time.sleep(0.02)
    raise AssertionError(json.dumps(described, default=str))


def _refreshed(client: Any, table: str) -> dict[str, Any]:
    """Make the calls of the provider's read."""
    described = _settled(client, table)
    backups = client.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    recovery = backups["PointInTimeRecoveryDescription"]
    return {
        "table": described,
        "recovery": recovery["PointInTimeRecoveryStatus"],
        "ttl": client.describe_time_to_live(TableName=table)["TimeToLiveDescription"],
        "tags": client.list_tags_of_resource(ResourceArn=described["TableArn"]).get("Tags", []),
    }


def test_the_providers_calls_replayed(client: Any) -> None:
    table = f"replay-{uuid4().hex}"
    client.create_table(
        TableName=table,
        BillingMode="PROVISIONED",
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
        AttributeDefinitions=[
            {"AttributeName": "customer", "AttributeType": "S"},
            {"AttributeName": "state", "AttributeType": "S"},
        ],
        KeySchema=[{"AttributeName": "customer", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[_index("by-state", "state")],
        SSESpecification={"Enabled": False},
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        TableClass="STANDARD",
        DeletionProtectionEnabled=True,
        Tags=[{"Key": "team", "Value": "blue"}],
    )
    _settled(client, table)
    client.update_time_to_live(
        TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
    )
    assert _refreshed(client, table)["recovery"] == "DISABLED"
    client.update_continuous_backups(
        TableName=table,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7},
    )
    state = _refreshed(client, table)
    assert state["table"]["LatestStreamArn"].startswith(state["table"]["TableArn"] + "/stream/")
    assert (state["recovery"], state["ttl"]["AttributeName"]) == ("ENABLED", "expires")
    assert state["tags"] == [{"Key": "team", "Value": "blue"}]

    arn = state["table"]["TableArn"]
    _change_by_steps(client, table)
    client.untag_resource(ResourceArn=arn, TagKeys=["team"])
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "cost", "Value": "1"}])
    state = _refreshed(client, table)
    assert state["table"]["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert [index["IndexName"] for index in state["table"]["GlobalSecondaryIndexes"]] == ["by-total"]
    assert state["tags"] == [{"Key": "cost", "Value": "1"}]
    assert {item["AttributeName"] for item in state["table"]["AttributeDefinitions"]} == {"customer", "total"}

    client.delete_table(TableName=table)
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        _settled(client, table)


def _index(name: str, attribute: str, *, provisioned: bool = True) -> dict[str, Any]:
    throughput = {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        **(throughput if provisioned else {}),
    }


def _change_by_steps(client: Any, table: str) -> None:
    """Make the calls of the provider's update: one kind of change per UpdateTable, waiting in between."""
    client.update_table(TableName=table, DeletionProtectionEnabled=False)
    _settled(client, table)
    client.update_table(TableName=table, BillingMode="PAY_PER_REQUEST")
    _settled(client, table)
    client.update_table(TableName=table, StreamSpecification={"StreamEnabled": False})
    _settled(client, table)
    client.update_table(TableName=table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-state"}}])
    _settled(client, table)
    client.update_table(
        TableName=table,
        AttributeDefinitions=[
            {"AttributeName": "customer", "AttributeType": "S"},
            {"AttributeName": "total", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexUpdates=[{"Create": _index("by-total", "total", provisioned=False)}],
    )
    _settled(client, table)
    client.update_table(TableName=table, TableClass="STANDARD_INFREQUENT_ACCESS")
    _settled(client, table)
