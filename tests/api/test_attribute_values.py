"""Attribute values of every type go in and come out; what is no value is refused in the words of each operation."""

import json
from typing import Any

import pytest

from item_tables import invalid, unique

VALUES = "One or more parameter values were invalid: "
ANNOUNCED = "1 validation error detected: "


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({"S": ""}, None),
        ({"S": 'héllo 😀 \u0000 " \\ \n'}, None),
        ({"N": "0"}, None),
        ({"N": "-0.0"}, {"N": "0"}),
        ({"N": "+5"}, {"N": "5"}),
        ({"N": "1E125"}, {"N": "1" + "0" * 125}),
        ({"N": "1E-130"}, {"N": "0." + "0" * 129 + "1"}),
        ({"N": "9" * 38}, None),
        ({"N": "100.500"}, {"N": "100.5"}),
        ({"B": ""}, None),
        ({"B": "AAECAw=="}, None),
        ({"BOOL": True}, None),
        ({"BOOL": False}, None),
        ({"BOOL": "true"}, {"BOOL": True}),
        ({"BOOL": "no"}, {"BOOL": False}),
        ({"NULL": True}, None),
        ({"NULL": "yes"}, {"NULL": True}),
        ({"SS": ["b", "a", ""]}, {"SS": ["", "a", "b"]}),
        ({"SS": ["b", "ä", "z", "B"]}, {"SS": ["B", "b", "z", "ä"]}),
        ({"NS": ["10", "9", "-1.50", "1e2"]}, {"NS": ["-1.5", "9", "10", "100"]}),
        ({"BS": ["/w==", "AA==", ""]}, {"BS": ["", "AA==", "/w=="]}),
        ({"L": []}, None),
        (
            {"L": [{"S": "a"}, {"N": "1.0"}, {"L": [{"M": {}}]}]},
            {"L": [{"S": "a"}, {"N": "1"}, {"L": [{"M": {}}]}]},
        ),
        ({"L": [None, {"S": "a"}]}, {"L": [{"S": "a"}]}),
        ({"M": {}}, None),
        (
            {"M": {"b": {"SS": ["y", "x"]}, "a": {"NULL": True}}},
            {"M": {"b": {"SS": ["x", "y"]}, "a": {"NULL": True}}},
        ),
        ({"S": "a", "N": None}, {"S": "a"}),
        ({"S": "a", "Z": 5}, {"S": "a"}),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_values_round_trip(
    raw: Any, hash_table: str, sent: dict[str, Any], stored: dict[str, Any] | None
) -> None:
    key = {"pk": {"S": unique()}}
    expected = {**key, "a": sent if stored is None else stored}
    assert raw("PutItem", {"TableName": hash_table, "Item": {**key, "a": sent}}).status == 200
    assert raw("GetItem", {"TableName": hash_table, "Key": key}).body == {"Item": expected}
    update = {
        "TableName": hash_table,
        "Key": {"pk": {"S": unique()}},
        "UpdateExpression": "SET a = :a",
        "ExpressionAttributeValues": {":a": sent},
        "ReturnValues": "UPDATED_NEW",
    }
    assert raw("UpdateItem", update).body == {"Attributes": {"a": expected["a"]}}
    other = {"pk": {"S": unique()}}
    batch = {"RequestItems": {hash_table: [{"PutRequest": {"Item": {**other, "a": sent}}}]}}
    assert raw("BatchWriteItem", batch).status == 200
    keys = {"RequestItems": {hash_table: {"Keys": [other]}}}
    assert raw("BatchGetItem", keys).body["Responses"] == {hash_table: [{**expected, **other}]}


@pytest.mark.parametrize("text", ["1", "-1", "0", "3.5", "1E100", "-1E-100", "1e2"])
def test_numbers_are_the_same_key_however_they_are_written(client: Any, number_table: str, text: str) -> None:
    pk = {"S": unique()}
    client.put_item(TableName=number_table, Item={"pk": pk, "sk": {"N": text}})
    padded = text.replace("-", "-00") if text.startswith("-") else f"+00{text}"
    assert "Item" in client.get_item(TableName=number_table, Key={"pk": pk, "sk": {"N": padded}})


# Each bad value with the text of the newer layer, that of the older, and whether Put, Update and Delete announce it.
BAD: list[tuple[dict[str, Any], str, str, bool]] = [
    (
        {},
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        False,
    ),
    (
        {"S": "a", "N": "1"},
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
        False,
    ),
    (
        {"N": "abc"},
        "The parameter cannot be converted to a numeric value: abc",
        "The parameter cannot be converted to a numeric value: abc",
        True,
    ),
    (
        {"N": ""},
        "The parameter cannot be converted to a numeric value: ",
        "The parameter cannot be converted to a numeric value",
        True,
    ),
    (
        {"N": "1" * 39},
        "Attempting to store more than 38 significant digits in a Number",
        "Attempting to store more than 38 significant digits in a Number",
        True,
    ),
    (
        {"N": "1e126"},
        "Number overflow. Attempting to store a number with magnitude larger than supported range",
        "Number overflow. Attempting to store a number with magnitude larger than supported range",
        True,
    ),
    (
        {"N": "1e-131"},
        "Number underflow. Attempting to store a number with magnitude smaller than supported range",
        "Number underflow. Attempting to store a number with magnitude smaller than supported range",
        True,
    ),
    (
        {"N": "1e2147483647"},
        "Number overflow. Attempting to store a number with magnitude larger than supported range",
        "Number underflow. Attempting to store a number with magnitude smaller than supported range",
        True,
    ),
    (
        {"NULL": False},
        VALUES + "Null attribute value types must have the value of true",
        VALUES + "Null attribute value types must have the value of true",
        True,
    ),
    (
        {"SS": []},
        VALUES + "An string set  may not be empty",
        VALUES + "An string set  may not be empty",
        True,
    ),
    (
        {"NS": []},
        VALUES + "An number set  may not be empty",
        VALUES + "An number set  may not be empty",
        True,
    ),
    (
        {"BS": []},
        VALUES + "Binary sets should not be empty",
        VALUES + "Binary sets should not be empty",
        True,
    ),
    (
        {"SS": ["b", "a", "b"]},
        VALUES + 'Input collection ["a", "b", "b"] contains duplicates.',
        VALUES + "Input collection [b, a, b] contains duplicates.",
        True,
    ),
    (
        {"NS": ["1", "1.0"]},
        VALUES + "Input collection contains duplicates.",
        "Input collection contains duplicates",
        True,
    ),
    (
        {"BS": [b"\xff", b"\x00", b"\xff"]},
        VALUES + 'Input collection ["AA==","/w==","/w=="]of type BS contains duplicates.',
        VALUES + "Input collection [/w==, AA==, /w==]of type BS contains duplicates.",
        True,
    ),
]

bad_values = pytest.mark.parametrize(
    ("value", "newer", "older", "announced"), BAD, ids=lambda each: str(each)[:24]
)


@bad_values
@pytest.mark.parametrize("nested", [False, True])
def test_bad_values_in_single_item_writes(
    client: Any, hash_table: str, value: dict[str, Any], newer: str, older: str, announced: bool, nested: bool
) -> None:
    del older
    sent = {"L": [{"M": {"x": value}}]} if nested else value
    expected = ANNOUNCED + newer if announced else newer
    key = {"pk": {"S": "a"}}
    assert invalid(client.put_item, TableName=hash_table, Item={**key, "a": sent}) == expected
    bound = {"ExpressionAttributeValues": {":a": sent}}
    condition = {"ConditionExpression": "a = :a", **bound}
    assert invalid(client.put_item, TableName=hash_table, Item=key, **condition) == expected
    assert invalid(client.delete_item, TableName=hash_table, Key=key, **condition) == expected
    assert (
        invalid(client.update_item, TableName=hash_table, Key=key, UpdateExpression="SET a = :a", **bound)
        == expected
    )
    assert invalid(client.update_item, TableName=hash_table, Key={"pk": sent}) == expected
    assert invalid(client.delete_item, TableName=hash_table, Key={"pk": sent}) == expected


@bad_values
def test_bad_values_in_reads_of_the_newer_layer(
    client: Any, hash_table: str, value: dict[str, Any], newer: str, older: str, announced: bool
) -> None:
    del older, announced
    assert invalid(client.get_item, TableName=hash_table, Key={"pk": value}) == newer
    assert invalid(client.batch_get_item, RequestItems={hash_table: {"Keys": [{"pk": value}]}}) == newer
    query = {"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": value}}
    assert invalid(client.query, TableName=hash_table, **query) == newer


@bad_values
def test_bad_values_in_operations_of_the_older_layer(
    client: Any, hash_table: str, value: dict[str, Any], newer: str, older: str, announced: bool
) -> None:
    del newer, announced
    put = {"PutRequest": {"Item": {"pk": {"S": "a"}, "a": value}}}
    assert invalid(client.batch_write_item, RequestItems={hash_table: [put]}) == older
    wrapped = f"ExpressionAttributeValues contains invalid value: {older} for key :a"
    scan = {"FilterExpression": "a = :a", "ExpressionAttributeValues": {":a": value}}
    assert invalid(client.scan, TableName=hash_table, **scan) == wrapped


@bad_values
def test_bad_values_in_transactions(
    client: Any, hash_table: str, value: dict[str, Any], newer: str, older: str, announced: bool
) -> None:
    del newer, announced
    write = client.transact_write_items
    key = {"TableName": hash_table, "Key": {"pk": {"S": "a"}}}
    item = {"TableName": hash_table, "Item": {"pk": {"S": "a"}, "a": value}}
    assert invalid(write, TransactItems=[{"Put": item}]) == older
    assert invalid(write, TransactItems=[{"Delete": {**key, "Key": {"pk": value}}}]) == older
    wrapped = f"ExpressionAttributeValues contains invalid value: {older} for key :a"
    bound = {"ExpressionAttributeValues": {":a": value}}
    check = {**key, "ConditionExpression": "a = :a", **bound}
    assert invalid(write, TransactItems=[{"ConditionCheck": check}]) == wrapped
    update = {**key, "UpdateExpression": "SET a = :a", **bound}
    assert invalid(write, TransactItems=[{"Update": update}]) == wrapped
    get = {"Get": {"TableName": hash_table, "Key": {"pk": value}}}
    assert invalid(client.transact_get_items, TransactItems=[get]) == older


def test_the_first_bad_value_of_an_item_is_reported(client: Any, hash_table: str) -> None:
    item = {"pk": {"S": "a"}, "x": {"SS": []}, "y": {"N": "abc"}}
    assert invalid(client.put_item, TableName=hash_table, Item=item).endswith(
        "An string set  may not be empty"
    )
    item = {"pk": {"S": "a"}, "y": {"N": "abc"}, "x": {"SS": []}}
    assert invalid(client.put_item, TableName=hash_table, Item=item).endswith("numeric value: abc")


def test_one_bad_member_is_reported_before_there_being_two(client: Any, hash_table: str) -> None:
    item = {"pk": {"S": "a"}, "x": {"S": "a", "N": "abc"}}
    assert invalid(client.put_item, TableName=hash_table, Item=item).endswith("numeric value: abc")


def test_an_expression_value_may_be_one_level_deeper_than_what_is_stored(
    client: Any, hash_table: str
) -> None:
    deep: dict[str, Any] = {"S": "leaf"}
    for _ in range(32):
        deep = {"M": {"n": deep}}
    key = {"TableName": hash_table, "Key": {"pk": {"S": "deep"}}, "ExpressionAttributeValues": {":d": deep}}
    check = {"ConditionCheck": {**key, "ConditionExpression": "d = :d"}}
    update = {"Update": {**key, "UpdateExpression": "SET d = :d"}}
    for action, code in ((check, "ConditionalCheckFailed"), (update, "ValidationError")):
        with pytest.raises(client.exceptions.TransactionCanceledException) as error:
            client.transact_write_items(TransactItems=[action])
        assert [reason["Code"] for reason in error.value.response["CancellationReasons"]] == [code]
    deeper = {
        **key,
        "ExpressionAttributeValues": {":d": {"M": {"n": deep}}},
        "UpdateExpression": "SET d = :d",
    }
    message = invalid(client.transact_write_items, TransactItems=[{"Update": deeper}])
    assert message.startswith("ExpressionAttributeValues contains invalid value: Nesting Levels ")
    assert message.endswith(" for key :d")
