"""DeleteTable: what can be deleted, what is told, and that a name can be used again."""

import time
from typing import Any

import pytest
from botocore.exceptions import ClientError

from clocked import Clocked
from item_tables import definitions, index, invalid, key_schema, make_table, refused


def wait_until_gone(client: Any, name: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            client.describe_table(TableName=name)
        except ClientError as error:
            assert error.response["Error"]["Code"] == "ResourceNotFoundException"  # noqa: PT017
            return
        assert time.monotonic() < deadline, f"{name} is still there"
        time.sleep(0.005)


def test_a_deleted_table_tells_only_what_it_still_is(client: Any) -> None:
    name = make_table(client, "p", types={"g": "S"}, GlobalSecondaryIndexes=[index("glo", "g")])
    described = client.describe_table(TableName=name)["Table"]
    deleted = client.delete_table(TableName=name)["TableDescription"]
    kept = (
        "TableName",
        "TableArn",
        "TableId",
        "ProvisionedThroughput",
        "ItemCount",
        "TableSizeBytes",
        "BillingModeSummary",
        "DeletionProtectionEnabled",
    )
    assert deleted == {member: described[member] for member in kept} | {"TableStatus": "DELETING"}


def test_the_name_can_be_used_again_once_the_table_is_gone(client: Any) -> None:
    name = make_table(client, "p")
    first = client.describe_table(TableName=name)["Table"]["TableId"]
    client.put_item(TableName=name, Item={"p": {"S": "old"}})
    client.delete_table(TableName=name)
    wait_until_gone(client, name)
    make_table(client, "p", TableName=name)
    described = client.describe_table(TableName=name)["Table"]
    assert described["TableId"] != first
    assert described["ItemCount"] == 0
    assert client.scan(TableName=name)["Items"] == []


def test_a_table_there_is_not(client: Any) -> None:
    assert refused(client.delete_table, TableName="never-made") == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: never-made not found",
    )


def test_a_protected_table_stays(client: Any) -> None:
    name = make_table(client, "p", DeletionProtectionEnabled=True)
    assert invalid(client.delete_table, TableName=name) == (
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection "
        "first."
    )
    client.update_table(TableName=name, DeletionProtectionEnabled=False)
    client.delete_table(TableName=name)


@pytest.fixture
def service() -> Clocked:
    return Clocked()


def create(service: Clocked, name: str = "tab") -> None:
    service.call(
        "CreateTable",
        TableName=name,
        KeySchema=key_schema("p"),
        AttributeDefinitions=definitions(p="S"),
        BillingMode="PAY_PER_REQUEST",
    )


def test_the_life_of_a_table(service: Clocked) -> None:
    create(service)
    in_use = "Attempt to change a resource which is still in use: "
    created = ("ResourceInUseException", f"{in_use}Table is being created: tab")
    assert service.refused("DeleteTable", TableName="tab") == created
    again = {
        "KeySchema": key_schema("p"),
        "AttributeDefinitions": definitions(p="S"),
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert service.refused("CreateTable", TableName="tab", **again) == created
    assert (
        service.refused("PutItem", TableName="tab", Item={"p": {"S": "x"}})[0] == "ResourceNotFoundException"
    )
    service.clock.advance(1)
    service.call("PutItem", TableName="tab", Item={"p": {"S": "x"}})
    service.call("DeleteTable", TableName="tab")
    assert service.describe("tab")["TableStatus"] == "DELETING"
    assert service.call("ListTables")["TableNames"] == ["tab"]
    assert service.refused("DeleteTable", TableName="tab") == (
        "ResourceInUseException",
        f"{in_use}Table is being deleted: tab",
    )
    assert service.refused("CreateTable", TableName="tab", **again) == (
        "ResourceInUseException",
        "Table already exists: tab",
    )
    assert (
        service.refused("GetItem", TableName="tab", Key={"p": {"S": "x"}})[0] == "ResourceNotFoundException"
    )
    service.clock.advance(1)
    assert service.refused("DescribeTable", TableName="tab")[0] == "ResourceNotFoundException"
    assert service.call("ListTables")["TableNames"] == []
    create(service)
    assert service.describe("tab")["TableStatus"] == "CREATING"
    service.settle()
    assert service.call("Scan", TableName="tab")["Items"] == []
