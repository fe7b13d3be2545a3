"""PutItem: stores whole items, replaces, returns what was there, checks conditions and keys."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import Item, invalid, refused, unique

VALUES = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "
ANNOUNCED = "1 validation error detected: "


def read(client: Any, table: str, **key: str) -> Item | None:
    found = client.get_item(
        TableName=table, Key={name: {"S": value} for name, value in key.items()}, ConsistentRead=True
    )
    return found.get("Item")


def test_a_put_stores_the_item_and_answers_nothing(client: Any, hash_table: str) -> None:
    pk = unique()
    answer = client.put_item(TableName=hash_table, Item={"pk": {"S": pk}, "a": {"S": "x"}})
    assert set(answer) == {"ResponseMetadata"}
    assert read(client, hash_table, pk=pk) == {"pk": {"S": pk}, "a": {"S": "x"}}


def test_a_second_put_replaces_the_whole_item(client: Any, hash_table: str) -> None:
    pk = unique()
    client.put_item(TableName=hash_table, Item={"pk": {"S": pk}, "a": {"S": "x"}})
    client.put_item(TableName=hash_table, Item={"pk": {"S": pk}, "b": {"S": "y"}})
    assert read(client, hash_table, pk=pk) == {"pk": {"S": pk}, "b": {"S": "y"}}


def test_all_old_gives_the_item_that_was_replaced(client: Any, hash_table: str) -> None:
    old = {"pk": {"S": unique()}, "a": {"N": "1"}}
    first = client.put_item(TableName=hash_table, Item=old, ReturnValues="ALL_OLD")
    assert "Attributes" not in first
    second = client.put_item(TableName=hash_table, Item={"pk": old["pk"]}, ReturnValues="ALL_OLD")
    assert second["Attributes"] == old
    assert "Attributes" not in client.put_item(TableName=hash_table, Item=old, ReturnValues="NONE")


@pytest.mark.parametrize("choice", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_other_return_values_are_refused(client: Any, hash_table: str, choice: str) -> None:
    message = invalid(client.put_item, TableName=hash_table, Item={"pk": {"S": "a"}}, ReturnValues=choice)
    assert message == ANNOUNCED + "ReturnValues can only be ALL_OLD or NONE"


def test_a_condition_that_holds_lets_the_item_in(client: Any, hash_table: str) -> None:
    item = {"pk": {"S": unique()}, "a": {"N": "1"}}
    client.put_item(TableName=hash_table, Item=item, ConditionExpression="attribute_not_exists(pk)")
    client.put_item(
        TableName=hash_table,
        Item={**item, "a": {"N": "2"}},
        ConditionExpression="a = :one",
        ExpressionAttributeValues={":one": {"N": "1.0"}},
    )
    assert read(client, hash_table, pk=item["pk"]["S"]) == {**item, "a": {"N": "2"}}


def test_a_condition_that_fails_leaves_the_item_alone(client: Any, hash_table: str) -> None:
    item = {"pk": {"S": unique()}, "a": {"N": "1"}}
    client.put_item(TableName=hash_table, Item=item)
    request = {
        "TableName": hash_table,
        "Item": {"pk": item["pk"]},
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    with pytest.raises(ClientError) as caught:
        client.put_item(**request)
    assert caught.value.response["Error"]["Code"] == "ConditionalCheckFailedException"
    assert caught.value.response["Error"]["Message"] == "The conditional request failed"
    assert "Item" not in caught.value.response
    assert read(client, hash_table, pk=item["pk"]["S"]) == item

    with pytest.raises(ClientError) as caught:
        client.put_item(**request, ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert caught.value.response["Item"] == item


def test_a_condition_that_fails_on_no_item_returns_none(client: Any, hash_table: str) -> None:
    with pytest.raises(ClientError) as caught:
        client.put_item(
            TableName=hash_table,
            Item={"pk": {"S": unique()}},
            ConditionExpression="attribute_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert "Item" not in caught.value.response


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"sk": {"S": "b"}}, VALUES + "Missing the key pk in the item"),
        ({"pk": {"S": "a"}}, VALUES + "Missing the key sk in the item"),
        ({}, VALUES + "Missing the key pk in the item"),
        ({"pk": {"N": "1"}, "sk": {"S": "b"}}, VALUES + "Type mismatch for key pk expected: S actual: N"),
        (
            {"pk": {"S": "a"}, "sk": {"BOOL": True}},
            VALUES + "Type mismatch for key sk expected: S actual: BOOL",
        ),
        ({"pk": {"M": {}}, "sk": {"S": "b"}}, VALUES + "Type mismatch for key pk expected: S actual: M"),
        (
            {"pk": {"S": ""}, "sk": {"S": "b"}},
            NOT_VALID
            + "The AttributeValue for a key attribute cannot contain an empty string value. Key: pk",
        ),
        (
            {"pk": {"S": "a"}, "sk": {"S": ""}},
            NOT_VALID
            + "The AttributeValue for a key attribute cannot contain an empty string value. Key: sk",
        ),
    ],
)
def test_the_key_must_fit_the_table(client: Any, range_table: str, item: Item, message: str) -> None:
    assert invalid(client.put_item, TableName=range_table, Item=item) == message


def test_an_empty_binary_key_is_refused(client: Any, binary_table: str) -> None:
    message = invalid(client.put_item, TableName=binary_table, Item={"pk": {"S": "a"}, "sk": {"B": b""}})
    assert message == (
        NOT_VALID + "The AttributeValue for a key attribute cannot contain an empty binary value. Key: sk"
    )


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        # An attribute keyed by several indexes is reported against the alphabetically first.
        (
            {"g": {"N": "1"}},
            VALUES + "Type mismatch for Index Key g Expected: S Actual: N IndexName: global-all",
        ),
        (
            {"n": {"S": "1"}},
            VALUES + "Type mismatch for Index Key n Expected: N Actual: S IndexName: global-all",
        ),
        (
            {"l": {"NULL": True}},
            VALUES + "Type mismatch for Index Key l Expected: S Actual: NULL IndexName: local-all",
        ),
        (
            {"g": {"S": ""}},
            NOT_VALID
            + "A value specified for a secondary index key is not supported. The AttributeValue for a key "
            "attribute cannot contain an empty string value. IndexName: global-all, IndexKey: g",
        ),
        (
            {"l": {"S": ""}},
            NOT_VALID
            + "A value specified for a secondary index key is not supported. The AttributeValue for a key "
            "attribute cannot contain an empty string value. IndexName: local-all, IndexKey: l",
        ),
    ],
)
def test_index_keys_must_fit_the_index(
    client: Any, indexed_table: str, attributes: Item, message: str
) -> None:
    item = {"pk": {"S": "a"}, "sk": {"S": "b"}, **attributes}
    assert invalid(client.put_item, TableName=indexed_table, Item=item) == message


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeValues": {":a": {"S": "a"}}},
            "ExpressionAttributeValues can only be specified when using expressions",
        ),
        (
            {"Expected": {"a": {"Exists": False}}, "ConditionExpression": "attribute_exists(a)"},
            (
                "Can not use both expression and non-expression parameters in the same request: "
                "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"
            ),
        ),
        ({"ConditionExpression": ""}, "Invalid ConditionExpression: The expression can not be empty;"),
        (
            {"ConditionExpression": "a = :a", "ExpressionAttributeValues": {}},
            "ExpressionAttributeValues must not be empty",
        ),
        (
            {"ConditionExpression": "#a = #a", "ExpressionAttributeNames": {}},
            "ExpressionAttributeNames must not be empty",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeNames": {"#b": "b"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}",
        ),
        (
            {"ConditionExpression": "attribute_exists(a)", "ExpressionAttributeValues": {":b": {"S": "b"}}},
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}",
        ),
        (
            {"ConditionExpression": "a = :a", "ExpressionAttributeValues": {"a": {"S": "b"}}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: "a"',
        ),
        (
            {"ConditionExpression": "#a = #a", "ExpressionAttributeNames": {"a": "b"}},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
        ),
        (
            {"ConditionExpression": "a = :a"},
            (
                "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
                "attribute value: :a"
            ),
        ),
        (
            {"ConditionExpression": "attribute_exists(#a)"},
            (
                "Invalid ConditionExpression: An expression attribute name used in the document path is not defined; "
                "attribute name: #a"
            ),
        ),
        (
            {"ConditionExpression": "a = :a", "ExpressionAttributeValues": {":a": {"SS": []}}},
            VALUES + "An string set  may not be empty",
        ),
    ],
)
def test_misuse_of_expressions_is_announced(
    client: Any, hash_table: str, parameters: dict[str, Any], message: str
) -> None:
    found = invalid(client.put_item, TableName=hash_table, Item={"pk": {"S": "a"}}, **parameters)
    assert found == ANNOUNCED + message


def test_a_path_into_a_key_is_refused(client: Any, indexed_table: str) -> None:
    rule = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
    request = {"TableName": indexed_table, "Item": {"pk": {"S": "a"}, "sk": {"S": "b"}}}
    assert (
        invalid(client.put_item, **request, ConditionExpression="attribute_exists(sk.a)") == rule + "Key: sk"
    )
    assert (
        invalid(client.put_item, **request, ConditionExpression="attribute_exists(g[0])")
        == rule + "IndexKey: g"
    )


def test_an_unknown_table_is_not_found(client: Any) -> None:
    found = refused(client.put_item, TableName="no-such-table", Item={"pk": {"S": "a"}})
    assert found == ("ResourceNotFoundException", "Requested resource not found")


@pytest.mark.parametrize(("wanted", "member"), [("ALL_OLD", "Message"), ("NONE", "message")])
def test_the_message_beside_an_item_has_a_capital(
    client: Any, raw: Any, hash_table: str, wanted: str, member: str
) -> None:
    item = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item=item)
    answer = raw(
        "PutItem",
        {
            "TableName": hash_table,
            "Item": item,
            "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnValuesOnConditionCheckFailure": wanted,
        },
    )
    assert answer.error == "ConditionalCheckFailedException"
    assert answer.body[member] == "The conditional request failed"
    assert ("Item" in answer.body) == (wanted == "ALL_OLD")
