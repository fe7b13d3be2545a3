"""UpdateItem: changes items in place, makes them where there are none, and returns what was asked for."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import invalid, refused, unique

VALUES = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "
ANNOUNCED = "1 validation error detected: "


def update(client: Any, table: str, pk: str, expression: str | None = None, **more: Any) -> dict[str, Any]:
    if expression is not None:
        more["UpdateExpression"] = expression
    return client.update_item(TableName=table, Key={"pk": {"S": pk}}, **more)


def read(client: Any, table: str, pk: str) -> dict[str, Any] | None:
    return client.get_item(TableName=table, Key={"pk": {"S": pk}}, ConsistentRead=True).get("Item")


@pytest.fixture
def pk(client: Any, hash_table: str) -> str:
    """The key of an item that is there."""
    name = unique()
    client.put_item(
        TableName=hash_table,
        Item={
            "pk": {"S": name},
            "n": {"N": "1"},
            "s": {"S": "old"},
            "m": {"M": {"x": {"N": "1"}, "y": {"N": "2"}}},
            "l": {"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}]},
            "ss": {"SS": ["a", "b"]},
        },
    )
    return name


ALL = {
    "n": {"N": "1"},
    "s": {"S": "old"},
    "m": {"M": {"x": {"N": "1"}, "y": {"N": "2"}}},
    "l": {"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}]},
    "ss": {"SS": ["a", "b"]},
}


def test_an_update_makes_an_item_where_there_is_none(client: Any, hash_table: str) -> None:
    name = unique()
    answer = update(client, hash_table, name, "SET a = :a", ExpressionAttributeValues={":a": {"S": "x"}})
    assert set(answer) == {"ResponseMetadata"}
    assert read(client, hash_table, name) == {"pk": {"S": name}, "a": {"S": "x"}}


@pytest.mark.parametrize("more", [{}, {"AttributeUpdates": {}}])
def test_an_update_of_nothing_still_makes_an_item(client: Any, hash_table: str, more: dict[str, Any]) -> None:
    name = unique()
    update(client, hash_table, name, **more)
    assert read(client, hash_table, name) == {"pk": {"S": name}}


@pytest.mark.parametrize(
    "parameters",
    [
        {"UpdateExpression": "REMOVE a"},
        {"UpdateExpression": "REMOVE a.b[1], c"},
        {"UpdateExpression": "DELETE a :a", "ExpressionAttributeValues": {":a": {"SS": ["x"]}}},
        {"AttributeUpdates": {"a": {"Action": "DELETE"}}},
        {"AttributeUpdates": {"a": {"Action": "DELETE", "Value": {"NS": ["4"]}}}},
    ],
)
def test_removing_from_nothing_makes_no_item(
    client: Any, hash_table: str, parameters: dict[str, Any]
) -> None:
    name = unique()
    answer = update(client, hash_table, name, **parameters, ReturnValues="ALL_OLD")
    assert "Attributes" not in answer
    assert read(client, hash_table, name) is None


def test_untouched_attributes_stay(client: Any, hash_table: str, pk: str) -> None:
    update(
        client, hash_table, pk, "SET n = n + :one REMOVE s", ExpressionAttributeValues={":one": {"N": "1"}}
    )
    expected = {**ALL, "pk": {"S": pk}, "n": {"N": "2"}}
    del expected["s"]
    assert read(client, hash_table, pk) == expected


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("NONE", None),
        ("ALL_OLD", {**ALL}),
        ("ALL_NEW", {**ALL, "n": {"N": "6"}, "t": {"S": "new"}}),
        ("UPDATED_OLD", {"n": {"N": "1"}}),
        ("UPDATED_NEW", {"n": {"N": "6"}, "t": {"S": "new"}}),
    ],
)
def test_return_values(
    client: Any, hash_table: str, pk: str, choice: str, expected: dict[str, Any] | None
) -> None:
    answer = update(
        client,
        hash_table,
        pk,
        "SET t = :t ADD n :five",
        ExpressionAttributeValues={":five": {"N": "5"}, ":t": {"S": "new"}},
        ReturnValues=choice,
    )
    if expected is not None and choice.startswith("ALL"):
        expected = {**expected, "pk": {"S": pk}}
    assert answer.get("Attributes") == expected


@pytest.mark.parametrize(
    ("expression", "values", "old", "new"),
    [
        (
            "SET m.x = :v",
            {":v": {"N": "9"}},
            {"m": {"M": {"x": {"N": "1"}}}},
            {"m": {"M": {"x": {"N": "9"}}}},
        ),
        ("SET m.z = :v", {":v": {"N": "9"}}, None, {"m": {"M": {"z": {"N": "9"}}}}),
        ("REMOVE m.x", None, {"m": {"M": {"x": {"N": "1"}}}}, None),
        ("REMOVE s", None, {"s": {"S": "old"}}, None),
        ("SET l[1] = :v", {":v": {"S": "B"}}, {"l": {"L": [{"S": "b"}]}}, {"l": {"L": [{"S": "B"}]}}),
        ("ADD ss :v", {":v": {"SS": ["c"]}}, {"ss": {"SS": ["a", "b"]}}, {"ss": {"SS": ["a", "b", "c"]}}),
        ("DELETE ss :v", {":v": {"SS": ["a", "z"]}}, {"ss": {"SS": ["a", "b"]}}, {"ss": {"SS": ["b"]}}),
        ("DELETE ss :v", {":v": {"SS": ["a", "b"]}}, {"ss": {"SS": ["a", "b"]}}, None),
        ("REMOVE absent", None, None, None),
    ],
)
def test_updated_old_and_new_are_the_parts_named(
    client: Any,
    hash_table: str,
    pk: str,
    expression: str,
    values: dict[str, Any] | None,
    old: dict[str, Any] | None,
    new: dict[str, Any] | None,
) -> None:
    more = {} if values is None else {"ExpressionAttributeValues": values}
    before = read(client, hash_table, pk)
    assert (
        update(client, hash_table, pk, expression, ReturnValues="UPDATED_OLD", **more).get("Attributes")
        == old
    )
    client.put_item(TableName=hash_table, Item=before)
    assert (
        update(client, hash_table, pk, expression, ReturnValues="UPDATED_NEW", **more).get("Attributes")
        == new
    )


@pytest.mark.parametrize("choice", ["ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"])
def test_on_a_new_item_old_values_are_none_and_new_ones_all(
    client: Any, hash_table: str, choice: str
) -> None:
    name = unique()
    values = {":a": {"S": "x"}}
    answer = update(
        client, hash_table, name, "SET a = :a", ExpressionAttributeValues=values, ReturnValues=choice
    )
    new = {"a": {"S": "x"}}
    expected = {"ALL_NEW": {**new, "pk": {"S": name}}, "UPDATED_NEW": new}.get(choice)
    assert answer.get("Attributes") == expected


def test_conditions_and_what_they_return(client: Any, hash_table: str, pk: str) -> None:
    request: dict[str, Any] = {
        "TableName": hash_table,
        "Key": {"pk": {"S": pk}},
        "UpdateExpression": "SET s = :s",
        "ConditionExpression": "n = :n",
        "ExpressionAttributeValues": {":s": {"S": "new"}, ":n": {"N": "2"}},
    }
    assert refused(client.update_item, **request) == (
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )
    with pytest.raises(ClientError) as caught:
        client.update_item(**request, ReturnValuesOnConditionCheckFailure="ALL_OLD", ReturnValues="ALL_NEW")
    assert caught.value.response["Item"] == {**ALL, "pk": {"S": pk}}
    assert read(client, hash_table, pk) == {**ALL, "pk": {"S": pk}}
    request["ExpressionAttributeValues"][":n"] = {"N": "1.000"}
    client.update_item(**request)
    assert read(client, hash_table, pk) == {**ALL, "pk": {"S": pk}, "s": {"S": "new"}}


def test_a_condition_alone_is_an_update(client: Any, hash_table: str) -> None:
    name = unique()
    update(client, hash_table, name, ConditionExpression="attribute_not_exists(pk)")
    assert read(client, hash_table, name) == {"pk": {"S": name}}


@pytest.mark.parametrize(
    ("expression", "values", "message"),
    [
        (
            "SET pk = :v",
            {":v": {"S": "x"}},
            VALUES + "Cannot update attribute pk. This attribute is part of the key",
        ),
        ("REMOVE pk", None, VALUES + "Cannot update attribute pk. This attribute is part of the key"),
        (
            "SET s.x = :v",
            {":v": {"S": "x"}},
            "The document path provided in the update expression is invalid for update",
        ),
        (
            "SET absent.x = :v",
            {":v": {"S": "x"}},
            "The document path provided in the update expression is invalid for update",
        ),
        (
            "SET a = absent",
            None,
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "SET n = absent + :v",
            {":v": {"N": "1"}},
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "SET n = s + :v",
            {":v": {"N": "1"}},
            "An operand in the update expression has an incorrect data type",
        ),
        ("ADD s :v", {":v": {"N": "1"}}, "An operand in the update expression has an incorrect data type"),
        (
            "DELETE n :v",
            {":v": {"SS": ["a"]}},
            "An operand in the update expression has an incorrect data type",
        ),
        (
            "SET n = n + :v",
            {":v": {"N": "1E125"}},
            "Number overflow. Attempting to store a number with magnitude larger than supported range",
        ),
    ],
)
def test_what_the_stored_item_rules_out_is_not_announced(
    client: Any, hash_table: str, pk: str, expression: str, values: dict[str, Any] | None, message: str
) -> None:
    more = {} if values is None else {"ExpressionAttributeValues": values}
    assert invalid(update, client=client, table=hash_table, pk=pk, expression=expression, **more) == message
    assert read(client, hash_table, pk) == {**ALL, "pk": {"S": pk}}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"UpdateExpression": ""}, "Invalid UpdateExpression: The expression can not be empty;"),
        (
            {"UpdateExpression": "INVALID SYNTAX"},
            'Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"',
        ),
        (
            {"UpdateExpression": "SET a = :v"},
            (
                "Invalid UpdateExpression: An expression attribute value used in expression is not defined; "
                "attribute value: :v"
            ),
        ),
        (
            {"UpdateExpression": "SET a = :v, a.b = :v", "ExpressionAttributeValues": {":v": {"S": "x"}}},
            (
                "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of "
                "these paths; path one: [a], path two: [a, b]"
            ),
        ),
        (
            {"UpdateExpression": "SET a = :v SET b = :v", "ExpressionAttributeValues": {":v": {"S": "x"}}},
            'Invalid UpdateExpression: The "SET" section can only be used once in an update expression;',
        ),
        (
            {"UpdateExpression": "REMOVE a", "ExpressionAttributeValues": {":v": {"S": "x"}}},
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
        ),
        (
            {"UpdateExpression": "REMOVE a", "ExpressionAttributeNames": {"#v": "x"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#v}",
        ),
        (
            {"ExpressionAttributeValues": {":v": {"S": "x"}}},
            "ExpressionAttributeValues can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeNames": {"#v": "x"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"UpdateExpression": "REMOVE a", "AttributeUpdates": {}, "Expected": {}},
            (
                "Can not use both expression and non-expression parameters in the same request: Non-expression "
                "parameters: {AttributeUpdates, Expected} Expression parameters: {UpdateExpression}"
            ),
        ),
        (
            {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {":v": {"NS": []}}},
            VALUES + "An number set  may not be empty",
        ),
        (
            {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {":v": {"NULL": False}}},
            VALUES + "Null attribute value types must have the value of true",
        ),
    ],
)
def test_request_errors_are_announced(
    client: Any, hash_table: str, parameters: dict[str, Any], message: str
) -> None:
    found = invalid(client.update_item, TableName=hash_table, Key={"pk": {"S": "a"}}, **parameters)
    assert found == ANNOUNCED + message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"N": "1"}, VALUES + "Type mismatch for Index Key g Expected: S Actual: N IndexName: global-all"),
        (
            {"S": ""},
            NOT_VALID
            + "The update expression attempted to update a secondary index key to a value that is not "
            "supported. The AttributeValue for a key attribute cannot contain an empty string value.",
        ),
    ],
)
def test_index_keys_must_fit_the_index(
    client: Any, indexed_table: str, value: dict[str, Any], message: str
) -> None:
    found = invalid(
        client.update_item,
        TableName=indexed_table,
        Key={"pk": {"S": unique()}, "sk": {"S": "b"}},
        UpdateExpression="SET g = :g",
        ExpressionAttributeValues={":g": value},
    )
    assert found == message


def test_a_path_into_a_key_is_refused(client: Any, indexed_table: str) -> None:
    rule = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
    request = {"TableName": indexed_table, "Key": {"pk": {"S": "a"}, "sk": {"S": "b"}}}
    values = {"ExpressionAttributeValues": {":v": {"S": "x"}}}
    assert (
        invalid(client.update_item, **request, UpdateExpression="SET g.x = :v", **values)
        == rule + "IndexKey: g"
    )
    assert invalid(client.update_item, **request, UpdateExpression="SET a = pk.x") == rule + "Key: pk"
    cannot = VALUES + "Cannot update attribute pk. This attribute is part of the key"
    assert invalid(client.update_item, **request, UpdateExpression="SET pk.x = :v", **values) == cannot


def test_an_unknown_table_is_not_found(client: Any) -> None:
    found = refused(client.update_item, TableName="no-such-table", Key={"pk": {"S": "a"}})
    assert found == ("ResourceNotFoundException", "Requested resource not found")
