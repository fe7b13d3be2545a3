"""TransactGetItems: many items as of one moment."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import Item, invalid, refused, unique

MISMATCH = "The provided key element does not match the schema"


def get(table: str, key: Item, **more: Any) -> dict[str, Any]:
    return {"Get": {"TableName": table, "Key": key, **more}}


def test_items_come_in_the_order_they_were_asked_for(client: Any, hash_table: str, range_table: str) -> None:
    first: Item = {"pk": {"S": unique()}, "a": {"N": "1"}, "m": {"M": {"x": {"S": "1"}, "y": {"S": "2"}}}}
    second = {"pk": {"S": unique()}, "sk": {"S": "s"}}
    client.put_item(TableName=hash_table, Item=first)
    client.put_item(TableName=range_table, Item=second)
    answer = client.transact_get_items(
        TransactItems=[
            get(range_table, second),
            get(hash_table, {"pk": {"S": "none"}}),
            get(
                hash_table,
                {"pk": first["pk"]},
                ProjectionExpression="#a, m.y",
                ExpressionAttributeNames={"#a": "a"},
            ),
        ]
    )
    assert answer["Responses"] == [
        {"Item": second},
        {},
        {"Item": {"a": {"N": "1"}, "m": {"M": {"y": {"S": "2"}}}}},
    ]


@pytest.mark.parametrize("key", [{"x": {"S": "a"}}, {"pk": {"N": "1"}}, {"pk": {"S": "a"}, "x": {"S": "b"}}])
def test_a_key_that_is_not_the_table_s_cancels(client: Any, hash_table: str, key: Item) -> None:
    with pytest.raises(ClientError) as caught:
        client.transact_get_items(TransactItems=[get(hash_table, {"pk": {"S": "ok"}}), get(hash_table, key)])
    response = caught.value.response
    assert response["Error"]["Code"] == "TransactionCanceledException"
    assert response["Error"]["Message"] == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ValidationError]"
    )
    assert response["CancellationReasons"] == [
        {"Code": "None"},
        {"Code": "ValidationError", "Message": MISMATCH},
    ]


def test_an_empty_key_refuses_the_whole_request(client: Any, hash_table: str) -> None:
    message = invalid(client.transact_get_items, TransactItems=[get(hash_table, {"pk": {"S": ""}})])
    assert message == (
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
        "string value. Key: pk"
    )


def test_an_item_is_read_only_once(client: Any, hash_table: str) -> None:
    key = {"pk": {"S": unique()}}
    message = invalid(client.transact_get_items, TransactItems=[get(hash_table, key), get(hash_table, key)])
    assert message == "Transaction request cannot include multiple operations on one item"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"ProjectionExpression": ""}, "Invalid ProjectionExpression: The expression can not be empty;"),
        (
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ProjectionExpression": "a", "ExpressionAttributeNames": {"#b": "b"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}",
        ),
    ],
)
def test_request_errors_come_before_the_table(client: Any, more: dict[str, Any], message: str) -> None:
    key = {"pk": {"S": "a"}}
    assert invalid(client.transact_get_items, TransactItems=[get("no-such-table", key, **more)]) == message


def test_missing_members(client: Any) -> None:
    message = invalid(client.transact_get_items, TransactItems=[{}])
    assert message == (
        "1 validation error detected: Value null at 'transactItems.1.member.get' failed to satisfy constraint: "
        "Member must not be null"
    )
    message = invalid(client.transact_get_items, TransactItems=[{"Get": {"TableName": "abc"}}])
    assert message == (
        "1 validation error detected: Value null at 'transactItems.1.member.get.key' failed to satisfy constraint: "
        "Member must not be null"
    )


def test_an_unknown_table_is_not_found(client: Any, hash_table: str) -> None:
    key = {"pk": {"S": "a"}}
    found = refused(
        client.transact_get_items, TransactItems=[get(hash_table, key), get("no-such-table", key)]
    )
    assert found == ("ResourceNotFoundException", "Requested resource not found")


def test_an_item_of_which_nothing_is_kept_has_no_member(client: Any, hash_table: str) -> None:
    key = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item={**key, "a": {"M": {"b": {"S": "x"}}}})
    gets = [
        {"Get": {"TableName": hash_table, "Key": key, "ProjectionExpression": path}} for path in ("zz", "a.c")
    ]
    assert client.transact_get_items(TransactItems=[gets[0]])["Responses"] == [{}]
    assert client.transact_get_items(TransactItems=[gets[1]])["Responses"] == [{}]
    answer = client.get_item(TableName=hash_table, Key=key, ProjectionExpression="zz")
    assert answer["Item"] == {}
