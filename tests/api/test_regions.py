"""Regions are namespaces: the credential scope says which one a request means."""

from collections.abc import Callable
from typing import Any

import pytest

from item_tables import make_table, refused, unique


@pytest.fixture(scope="module")
def clients(make_client: Callable[..., Any]) -> tuple[Any, Any]:
    return make_client(region="eu-west-1"), make_client(region="ap-south-1")


def test_a_table_of_one_region_is_unknown_in_another(clients: tuple[Any, Any]) -> None:
    here, there = clients
    table = make_table(here, "pk")
    key = {"pk": {"S": "a"}}
    here.put_item(TableName=table, Item=key)
    for call, parameters in (
        (there.get_item, {"TableName": table, "Key": key}),
        (there.put_item, {"TableName": table, "Item": key}),
        (there.update_item, {"TableName": table, "Key": key}),
        (there.delete_item, {"TableName": table, "Key": key}),
        (there.scan, {"TableName": table}),
        (there.batch_get_item, {"RequestItems": {table: {"Keys": [key]}}}),
        (there.transact_write_items, {"TransactItems": [{"Put": {"TableName": table, "Item": key}}]}),
    ):
        assert refused(call, **parameters) == ("ResourceNotFoundException", "Requested resource not found")
    assert here.get_item(TableName=table, Key=key)["Item"] == key


def test_tables_of_one_name_are_two_tables(clients: tuple[Any, Any]) -> None:
    name = unique("table")
    key = {"pk": {"S": "a"}}
    for number, client in enumerate(clients):
        make_table(client, "pk", TableName=name)
        client.put_item(TableName=name, Item={**key, "n": {"N": str(number)}})
    found = [client.get_item(TableName=name, Key=key)["Item"]["n"]["N"] for client in clients]
    assert found == ["0", "1"]
    arns = [client.describe_table(TableName=name)["Table"]["TableArn"] for client in clients]
    assert [arn.split(":")[3] for arn in arns] == ["eu-west-1", "ap-south-1"]
    clients[0].delete_item(TableName=name, Key=key)
    assert "Item" in clients[1].get_item(TableName=name, Key=key)
    names = [set(client.list_tables()["TableNames"]) for client in clients]
    assert all(name in each for each in names)


def test_an_arn_stands_for_its_table_in_its_region_only(clients: tuple[Any, Any]) -> None:
    here, there = clients
    table = make_table(here, "pk")
    arn = here.describe_table(TableName=table)["Table"]["TableArn"]
    key = {"pk": {"S": "a"}}
    here.put_item(TableName=arn, Item=key)
    assert here.get_item(TableName=table, Key=key)["Item"] == key
    assert here.query(
        TableName=arn, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "a"}}
    )["Items"] == [key]
    code, _ = refused(there.get_item, TableName=arn, Key=key)
    assert code in ("ValidationException", "ResourceNotFoundException", "AccessDeniedException")


def test_an_arn_of_another_account_is_denied(clients: tuple[Any, Any]) -> None:
    here, _ = clients
    table = make_table(here, "pk")
    arn = here.describe_table(TableName=table)["Table"]["TableArn"].replace(
        ":000000000000:", ":123456789012:"
    )
    code, _message = refused(here.get_item, TableName=arn, Key={"pk": {"S": "a"}})
    assert code in ("AccessDeniedException", "ResourceNotFoundException")


def test_tokens_belong_to_their_region(clients: tuple[Any, Any]) -> None:
    name, token = unique("table"), unique("t")
    action = {
        "Update": {
            "TableName": name,
            "Key": {"pk": {"S": "a"}},
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
    }
    for client in clients:
        make_table(client, "pk", TableName=name)
        client.transact_write_items(TransactItems=[action], ClientRequestToken=token)
        assert client.get_item(TableName=name, Key={"pk": {"S": "a"}})["Item"]["n"] == {"N": "1"}
