"""DeleteItem: removes one item by its key, on condition, and gives it back."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import invalid, refused, unique

ANNOUNCED = "1 validation error detected: "


@pytest.fixture
def stored(client: Any, hash_table: str) -> dict[str, Any]:
    item = {"pk": {"S": unique()}, "a": {"N": "1"}}
    client.put_item(TableName=hash_table, Item=item)
    return item


def is_there(client: Any, table: str, item: dict[str, Any]) -> bool:
    return "Item" in client.get_item(TableName=table, Key={"pk": item["pk"]}, ConsistentRead=True)


def test_the_item_is_gone(client: Any, hash_table: str, stored: dict[str, Any]) -> None:
    answer = client.delete_item(TableName=hash_table, Key={"pk": stored["pk"]})
    assert set(answer) == {"ResponseMetadata"}
    assert not is_there(client, hash_table, stored)


def test_deleting_what_is_not_there_is_no_error(client: Any, hash_table: str) -> None:
    answer = client.delete_item(TableName=hash_table, Key={"pk": {"S": unique()}}, ReturnValues="ALL_OLD")
    assert "Attributes" not in answer


def test_all_old_gives_the_deleted_item(client: Any, hash_table: str, stored: dict[str, Any]) -> None:
    answer = client.delete_item(TableName=hash_table, Key={"pk": stored["pk"]}, ReturnValues="ALL_OLD")
    assert answer["Attributes"] == stored


@pytest.mark.parametrize("choice", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_other_return_values_are_refused(client: Any, hash_table: str, choice: str) -> None:
    message = invalid(client.delete_item, TableName=hash_table, Key={"pk": {"S": "a"}}, ReturnValues=choice)
    assert message == ANNOUNCED + "ReturnValues can only be ALL_OLD or NONE"


def test_a_failed_condition_keeps_the_item(client: Any, hash_table: str, stored: dict[str, Any]) -> None:
    request = {
        "TableName": hash_table,
        "Key": {"pk": stored["pk"]},
        "ConditionExpression": "a > :a",
        "ExpressionAttributeValues": {":a": {"N": "1"}},
    }
    assert refused(client.delete_item, **request) == (
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    with pytest.raises(ClientError) as caught:
        client.delete_item(**request, ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert caught.value.response["Item"] == stored
    assert is_there(client, hash_table, stored)
    client.delete_item(**{**request, "ConditionExpression": "a >= :a"})
    assert not is_there(client, hash_table, stored)


def test_a_condition_on_a_missing_item_can_fail(client: Any, hash_table: str) -> None:
    code, _ = refused(
        client.delete_item,
        TableName=hash_table,
        Key={"pk": {"S": unique()}},
        ConditionExpression="attribute_exists(pk)",
    )
    assert code == "ConditionalCheckFailedException"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"ExpressionAttributeValues": {":a": {"S": "a"}}},
            "ExpressionAttributeValues can only be specified when using expressions",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {"#b": "b"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}",
        ),
        (
            {"Expected": {"a": {"Exists": False}}, "ConditionExpression": "attribute_exists(a)"},
            (
                "Can not use both expression and non-expression parameters in the same request: "
                "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"
            ),
        ),
    ],
)
def test_misuse_of_expressions_is_announced(
    client: Any, hash_table: str, parameters: dict[str, Any], message: str
) -> None:
    found = invalid(client.delete_item, TableName=hash_table, Key={"pk": {"S": "a"}}, **parameters)
    assert found == ANNOUNCED + message


@pytest.mark.parametrize(
    "key", [{}, {"pk": {"N": "1"}}, {"pk": {"S": "a"}, "x": {"S": "c"}}, {"x": {"S": "a"}}]
)
def test_the_key_must_be_the_table_s(client: Any, hash_table: str, key: dict[str, Any]) -> None:
    message = invalid(client.delete_item, TableName=hash_table, Key=key)
    assert message == "The provided key element does not match the schema"


def test_an_unknown_table_is_not_found(client: Any) -> None:
    found = refused(client.delete_item, TableName="no-such-table", Key={"pk": {"S": "a"}})
    assert found == ("ResourceNotFoundException", "Requested resource not found")
