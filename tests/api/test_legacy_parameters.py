"""The parameters that expressions replaced: Expected, AttributeUpdates, KeyConditions, QueryFilter, ScanFilter."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import Item, all_items, invalid, make_table, unique

VALUES = "One or more parameter values were invalid: "
ANNOUNCED = "1 validation error detected: "
STORED: Item = {
    "s": {"S": "hello"},
    "n": {"N": "5"},
    "b": {"B": b"bytes"},
    "ss": {"SS": ["a", "b"]},
    "l": {"L": [{"S": "x"}, {"N": "1"}]},
    "t": {"BOOL": True},
}

# Each condition on STORED with whether it holds.
CONDITIONS: list[tuple[str, str, list[dict[str, Any]], bool]] = [
    ("s", "EQ", [{"S": "hello"}], True),
    ("s", "EQ", [{"S": "other"}], False),
    ("ss", "EQ", [{"SS": ["b", "a"]}], True),
    ("l", "EQ", [{"L": [{"S": "x"}, {"N": "1.0"}]}], True),
    ("absent", "EQ", [{"S": "hello"}], False),
    ("s", "NE", [{"S": "other"}], True),
    ("s", "NE", [{"S": "hello"}], False),
    ("absent", "NE", [{"S": "other"}], True),
    ("n", "LT", [{"N": "6"}], True),
    ("n", "LT", [{"N": "5"}], False),
    ("n", "LT", [{"S": "z"}], False),
    ("n", "LE", [{"N": "5"}], True),
    ("n", "GT", [{"N": "4"}], True),
    ("n", "GE", [{"N": "5.1"}], False),
    ("s", "GE", [{"S": "hello"}], True),
    ("n", "BETWEEN", [{"N": "5"}, {"N": "6"}], True),
    ("n", "BETWEEN", [{"N": "6"}, {"N": "7"}], False),
    ("n", "IN", [{"N": "1"}, {"N": "5"}], True),
    ("n", "IN", [{"N": "1"}], False),
    ("s", "BEGINS_WITH", [{"S": "he"}], True),
    ("s", "BEGINS_WITH", [{"S": "lo"}], False),
    ("b", "BEGINS_WITH", [{"B": b"by"}], True),
    ("s", "CONTAINS", [{"S": "ell"}], True),
    ("ss", "CONTAINS", [{"S": "a"}], True),
    ("ss", "CONTAINS", [{"S": "c"}], False),
    ("l", "CONTAINS", [{"N": "1"}], True),
    ("s", "NOT_CONTAINS", [{"S": "xyz"}], True),
    ("s", "NOT_CONTAINS", [{"S": "ell"}], False),
    ("absent", "NOT_CONTAINS", [{"S": "ell"}], False),
    ("absent", "NULL", [], True),
    ("s", "NULL", [], False),
    ("s", "NOT_NULL", [], True),
    ("absent", "NOT_NULL", [], False),
]
conditions = pytest.mark.parametrize(("name", "operator", "values", "holds"), CONDITIONS, ids=str)


@pytest.fixture(scope="module")
def table(client: Any) -> str:
    """A table with one item, whose key is `a` and `b`."""
    name = make_table(client, "pk", "sk")
    client.put_item(TableName=name, Item={"pk": {"S": "a"}, "sk": {"S": "b"}, **STORED})
    return name


@conditions
def test_scan_filter(
    client: Any, table: str, name: str, operator: str, values: list[dict[str, Any]], holds: bool
) -> None:
    condition = {"ComparisonOperator": operator} | ({"AttributeValueList": values} if values else {})
    found = client.scan(TableName=table, ScanFilter={name: condition})
    assert (found["Count"], found["ScannedCount"]) == (int(holds), 1)


@conditions
def test_query_filter(
    client: Any, table: str, name: str, operator: str, values: list[dict[str, Any]], holds: bool
) -> None:
    condition = {"ComparisonOperator": operator} | ({"AttributeValueList": values} if values else {})
    found = client.query(
        TableName=table,
        KeyConditions={"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}},
        QueryFilter={name: condition},
    )
    assert (found["Count"], found["ScannedCount"]) == (int(holds), 1)


@conditions
def test_expected(
    client: Any, table: str, name: str, operator: str, values: list[dict[str, Any]], holds: bool
) -> None:
    condition = {"ComparisonOperator": operator} | ({"AttributeValueList": values} if values else {})
    request = {
        "TableName": table,
        "Item": {"pk": {"S": "a"}, "sk": {"S": "b"}, **STORED},
        "Expected": {name: condition},
    }
    if holds:
        client.put_item(**request)
    else:
        with pytest.raises(ClientError, match="The conditional request failed"):
            client.put_item(**request)


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ({"s": {"Value": {"S": "hello"}}}, True),
        ({"s": {"Value": {"S": "other"}}}, False),
        ({"s": {"Value": {"S": "hello"}, "Exists": True}}, True),
        ({"absent": {"Exists": False}}, True),
        ({"s": {"Exists": False}}, False),
        ({"n": {"ComparisonOperator": "GT", "Value": {"N": "4"}}}, True),
        ({"s": {"Exists": False}, "absent": {"Exists": False}}, False),
        ({}, True),
    ],
)
@pytest.mark.parametrize("operation", ["put_item", "update_item", "delete_item"])
def test_the_oldest_form_of_expected(
    client: Any, hash_table: str, operation: str, expected: dict[str, Any], holds: bool
) -> None:
    key = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item={**key, **STORED})
    request = {"TableName": hash_table, "Expected": expected}
    request["Item" if operation == "put_item" else "Key"] = key
    if holds:
        getattr(client, operation)(**request)
    else:
        with pytest.raises(ClientError, match="The conditional request failed"):
            getattr(client, operation)(**request)


@pytest.mark.parametrize(("operator", "holds"), [("AND", False), ("OR", True), (None, False)])
def test_conditional_operator(client: Any, table: str, operator: str | None, holds: bool) -> None:
    asked = {
        "s": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "hello"}]},
        "n": {"ComparisonOperator": "LT", "AttributeValueList": [{"N": "1"}]},
    }
    more = {} if operator is None else {"ConditionalOperator": operator}
    assert client.scan(TableName=table, ScanFilter=asked, **more)["Count"] == int(holds)
    query = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}}
    assert client.query(TableName=table, KeyConditions=query, QueryFilter=asked, **more)["Count"] == int(
        holds
    )
    request = {"TableName": table, "Item": {"pk": {"S": "a"}, "sk": {"S": "b"}, **STORED}, "Expected": asked}
    if holds:
        client.put_item(**request, **more)
    else:
        with pytest.raises(ClientError, match="The conditional request failed"):
            client.put_item(**request, **more)


@pytest.mark.parametrize(
    ("before", "updates", "after"),
    [
        ({}, {"a": {"Value": {"S": "x"}}}, {"a": {"S": "x"}}),
        ({"a": {"S": "old"}}, {"a": {"Action": "PUT", "Value": {"N": "1"}}}, {"a": {"N": "1"}}),
        ({"a": {"S": "old"}}, {"a": {"Action": "DELETE"}}, {}),
        ({"a": {"N": "1"}}, {"a": {"Action": "ADD", "Value": {"N": "2.5"}}}, {"a": {"N": "3.5"}}),
        ({}, {"a": {"Action": "ADD", "Value": {"N": "2"}}}, {"a": {"N": "2"}}),
        (
            {"a": {"SS": ["a"]}},
            {"a": {"Action": "ADD", "Value": {"SS": ["b", "a"]}}},
            {"a": {"SS": ["a", "b"]}},
        ),
        (
            {"a": {"NS": ["1", "2", "3"]}},
            {"a": {"Action": "DELETE", "Value": {"NS": ["2", "9"]}}},
            {"a": {"NS": ["1", "3"]}},
        ),
        ({"a": {"NS": ["1"]}}, {"a": {"Action": "DELETE", "Value": {"NS": ["1"]}}}, {}),
        (
            {"a": {"L": [{"N": "1"}]}},
            {"a": {"Action": "ADD", "Value": {"L": [{"N": "2"}]}}},
            {"a": {"L": [{"N": "1"}, {"N": "2"}]}},
        ),
        ({"a": {"S": "x"}, "b": {"S": "y"}}, {"a": {"Action": "DELETE"}, "c": {"Value": {"S": "z"}}}, None),
    ],
)
def test_attribute_updates(
    client: Any, hash_table: str, before: Item, updates: dict[str, Any], after: Item | None
) -> None:
    key = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item={**key, **before})
    answer = client.update_item(
        TableName=hash_table, Key=key, AttributeUpdates=updates, ReturnValues="ALL_NEW"
    )
    expected = {"b": {"S": "y"}, "c": {"S": "z"}} if after is None else after
    assert answer["Attributes"] == {**key, **expected}


@pytest.mark.parametrize(("choice", "expected"), [("UPDATED_OLD", {"n": {"N": "1"}}), ("UPDATED_NEW", None)])
def test_attribute_updates_return_whole_attributes(
    client: Any, hash_table: str, choice: str, expected: Item | None
) -> None:
    key = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item={**key, "n": {"N": "1"}, "s": {"S": "x"}})
    updates = {"n": {"Action": "ADD", "Value": {"N": "1"}}, "new": {"Value": {"S": "y"}}}
    answer = client.update_item(TableName=hash_table, Key=key, AttributeUpdates=updates, ReturnValues=choice)
    assert answer["Attributes"] == (expected or {"n": {"N": "2"}, "new": {"S": "y"}})


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        ({"a": {}}, VALUES + "Only DELETE action is allowed when no attribute value is specified"),
        (
            {"a": {"Action": "ADD"}},
            VALUES + "Only DELETE action is allowed when no attribute value is specified",
        ),
        (
            {"a": {"Action": "DELETE", "Value": {"N": "1"}}},
            VALUES + "DELETE action with value is not supported for the type N",
        ),
        (
            {"a": {"Action": "ADD", "Value": {"S": "x"}}},
            VALUES + "ADD action is not supported for the type S",
        ),
        (
            {"pk": {"Value": {"S": "x"}}},
            VALUES + "Cannot update attribute pk. This attribute is part of the key",
        ),
        ({"s": {"Action": "ADD", "Value": {"N": "1"}}}, "Type mismatch for attribute to update"),
        ({"s": {"Action": "DELETE", "Value": {"SS": ["1"]}}}, "Type mismatch for attribute to update"),
    ],
)
def test_attribute_updates_that_are_refused(
    client: Any, hash_table: str, updates: dict[str, Any], message: str
) -> None:
    key = {"pk": {"S": unique()}}
    client.put_item(TableName=hash_table, Item={**key, **STORED})
    found = invalid(client.update_item, TableName=hash_table, Key=key, AttributeUpdates=updates)
    assert found.removeprefix(ANNOUNCED) == message


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (
            {"a": {"Value": {"S": "a"}, "AttributeValueList": [{"S": "a"}]}},
            "Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            {"a": {"Exists": True, "ComparisonOperator": "NULL"}},
            "Exists and ComparisonOperator cannot be used together for Attribute: a",
        ),
        (
            {"a": {"ComparisonOperator": "EQ"}},
            "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a",
        ),
        (
            {"a": {"AttributeValueList": [{"S": "a"}]}},
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
        ),
        ({"a": {}}, "Value must be provided when Exists is null for Attribute: a"),
        ({"a": {"Exists": True}}, "Value must be provided when Exists is true for Attribute: a"),
        (
            {"a": {"Exists": False, "Value": {"S": "a"}}},
            "Value cannot be used when Exists is false for Attribute: a",
        ),
        (
            {"a": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"S": "a"}]}},
            "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
        ),
        (
            {"a": {"ComparisonOperator": "IN", "AttributeValueList": [{"S": "a"}, {"N": "1"}]}},
            "AttributeValues inside AttributeValueList must be of same type",
        ),
        (
            {"a": {"ComparisonOperator": "LT", "AttributeValueList": [{"BOOL": True}]}},
            "ComparisonOperator LT is not valid for BOOL AttributeValue type",
        ),
    ],
)
def test_expectations_that_are_refused(
    client: Any, hash_table: str, expected: dict[str, Any], message: str
) -> None:
    found = invalid(client.put_item, TableName=hash_table, Item={"pk": {"S": "a"}}, Expected=expected)
    assert found == ANNOUNCED + VALUES + message


def test_a_reversed_range_is_refused(client: Any, table: str) -> None:
    reversed_range = {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "2"}, {"N": "1"}]}
    assert invalid(client.scan, TableName=table, ScanFilter={"n": reversed_range}) == (
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
    )


def test_a_conditional_operator_needs_two_conditions(client: Any, table: str) -> None:
    one = {"s": {"ComparisonOperator": "NULL"}}
    assert invalid(client.scan, TableName=table, ConditionalOperator="OR") == (
        "ConditionalOperator cannot be used without Filter or Expected"
    )
    assert invalid(client.scan, TableName=table, ScanFilter=one, ConditionalOperator="OR") == (
        "ConditionalOperator can only be used when Filter or Expected has two or more elements"
    )


def key_condition(operator: str, *values: dict[str, Any]) -> dict[str, Any]:
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


@pytest.fixture(scope="module")
def letters(client: Any, range_table: str) -> str:
    pk = unique()
    for letter in "abcde":
        client.put_item(TableName=range_table, Item={"pk": {"S": pk}, "sk": {"S": letter}})
    return pk


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (None, "abcde"),
        (key_condition("EQ", {"S": "c"}), "c"),
        (key_condition("LT", {"S": "c"}), "ab"),
        (key_condition("LE", {"S": "c"}), "abc"),
        (key_condition("GT", {"S": "c"}), "de"),
        (key_condition("GE", {"S": "c"}), "cde"),
        (key_condition("BETWEEN", {"S": "b"}, {"S": "d"}), "bcd"),
        (key_condition("BEGINS_WITH", {"S": "e"}), "e"),
    ],
)
def test_key_conditions(
    client: Any, range_table: str, letters: str, condition: dict[str, Any] | None, expected: str
) -> None:
    asked = {"pk": key_condition("EQ", {"S": letters})} | ({"sk": condition} if condition else {})
    found = all_items(client.query, TableName=range_table, KeyConditions=asked, Limit=2)
    assert "".join(item["sk"]["S"] for item in found) == expected
    found = client.query(
        TableName=range_table, KeyConditions=asked, AttributesToGet=["sk"], ScanIndexForward=False
    )["Items"]
    assert found == [{"sk": {"S": letter}} for letter in expected[::-1]]


def test_key_conditions_may_stand_beside_a_filter_expression(
    client: Any, range_table: str, letters: str
) -> None:
    found = client.query(
        TableName=range_table,
        KeyConditions={"pk": key_condition("EQ", {"S": letters})},
        FilterExpression="attribute_exists(x)",
    )
    assert (found["Count"], found["ScannedCount"]) == (0, 5)


A, B = {"S": "a"}, {"S": "b"}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "Conditions can be of length 1 or 2 only"),
        (
            {name: key_condition("EQ", A) for name in ("pk", "sk", "x")},
            "Conditions can be of length 1 or 2 only",
        ),
        ({"sk": key_condition("EQ", A)}, "Query condition missed key schema element: pk"),
        (
            {"pk": key_condition("EQ", A), "x": key_condition("EQ", A)},
            "Query condition missed key schema element: sk",
        ),
        ({"pk": key_condition("LT", A)}, "Query key condition not supported"),
        (
            {"pk": key_condition("EQ", A), "sk": key_condition("NE", A)},
            "Attempted conditional constraint is not an indexable operation",
        ),
        (
            {"pk": key_condition("EQ", A), "sk": key_condition("CONTAINS", A)},
            "Attempted conditional constraint is not an indexable operation",
        ),
        (
            {"pk": key_condition("EQ", {"N": "1"})},
            VALUES + "Condition parameter type does not match schema type",
        ),
        (
            {"pk": key_condition("EQ", A, B)},
            VALUES + "Invalid number of argument(s) for the EQ ComparisonOperator",
        ),
        (
            {"pk": key_condition("EQ", A), "sk": key_condition("LT", {"BOOL": True})},
            VALUES + "ComparisonOperator LT is not valid for BOOL AttributeValue type",
        ),
    ],
)
def test_key_conditions_that_are_refused(
    client: Any, range_table: str, asked: dict[str, Any], message: str
) -> None:
    assert invalid(client.query, TableName=range_table, KeyConditions=asked) == message


def test_a_query_filter_may_not_name_keys(client: Any, range_table: str) -> None:
    message = invalid(
        client.query,
        TableName=range_table,
        KeyConditions={"pk": key_condition("EQ", A)},
        QueryFilter={"sk": key_condition("EQ", A)},
    )
    assert message == "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk"


def test_operators_are_a_closed_set(client: Any, range_table: str) -> None:
    message = invalid(client.query, TableName=range_table, KeyConditions={"pk": key_condition("X", A)})
    assert message == (
        "1 validation error detected: Value 'X' at 'keyConditions.pk.member.comparisonOperator' failed to satisfy "
        "constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, "
        "LE, BEGINS_WITH, GE, CONTAINS]"
    )


def test_attributes_to_get_names_1_to_255_attributes(client: Any, hash_table: str) -> None:
    message = invalid(client.get_item, TableName=hash_table, Key={"pk": A}, AttributesToGet=[])
    assert message == (
        "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy constraint: Member must have "
        "length greater than or equal to 1"
    )
    names = [f"a{number}" for number in range(256)]
    client.get_item(TableName=hash_table, Key={"pk": A}, AttributesToGet=names[:255])
    message = invalid(client.get_item, TableName=hash_table, Key={"pk": A}, AttributesToGet=names)
    assert message.endswith("Member must have length less than or equal to 255")


BAD_NAMES = pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "Empty attribute name"),
        ("a" * 65_536, "Attribute name is too large, must be less than 65536 bytes"),
        ("é" * 32_768, "Attribute name is too large, must be less than 65536 bytes"),
    ],
    ids=["empty", "long", "long in bytes"],
)
ABSENT = {"ComparisonOperator": "NULL"}


@BAD_NAMES
def test_an_item_cannot_get_a_bad_name(client: Any, hash_table: str, name: str, message: str) -> None:
    key = {"pk": {"S": unique()}}
    for update in ({"Value": {"S": "x"}}, {"Action": "ADD", "Value": {"N": "1"}}, {"Action": "DELETE"}):
        request = {"TableName": hash_table, "Key": key, "AttributeUpdates": {name: update}}
        assert invalid(client.update_item, **request) == ANNOUNCED + message
    assert "Item" not in client.get_item(TableName=hash_table, Key=key)


@BAD_NAMES
def test_legacy_conditions_cannot_have_a_bad_name(
    client: Any, hash_table: str, name: str, message: str
) -> None:
    key = {"pk": {"S": unique()}}
    for conditions in ({name: {"Exists": False}}, {"a": {"Exists": False}, name: {"Value": {"S": "x"}}}):
        expected = {"TableName": hash_table, "Expected": conditions}
        assert invalid(client.put_item, Item=key, **expected) == ANNOUNCED + message
        assert invalid(client.delete_item, Key=key, **expected) == ANNOUNCED + message
        assert invalid(client.update_item, Key=key, **expected) == ANNOUNCED + message
    assert invalid(client.scan, TableName=hash_table, ScanFilter={name: ABSENT}) == message
    keys = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [key["pk"]]}}
    query = {"TableName": hash_table, "KeyConditions": keys}
    assert invalid(client.query, **query, QueryFilter={name: ABSENT}) == message
    assert invalid(client.query, TableName=hash_table, KeyConditions={**keys, name: ABSENT}) == message


@BAD_NAMES
def test_a_bad_name_cannot_be_asked_for(client: Any, hash_table: str, name: str, message: str) -> None:
    key = {"pk": {"S": "a"}}
    names = {"TableName": hash_table, "AttributesToGet": ["pk", name]}
    assert invalid(client.get_item, Key=key, **names) == message
    assert invalid(client.scan, **names) == message
    keys = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [key["pk"]]}}
    assert invalid(client.query, KeyConditions=keys, **names) == message
    part = {"Keys": [key], "AttributesToGet": [name]}
    assert invalid(client.batch_get_item, RequestItems={hash_table: part}) == message


def test_a_name_of_the_greatest_length_is_taken(client: Any, hash_table: str) -> None:
    key, name = {"pk": {"S": unique()}}, "a" * 65_535
    client.update_item(TableName=hash_table, Key=key, AttributeUpdates={name: {"Value": {"S": "x"}}})
    answer = client.get_item(TableName=hash_table, Key=key, AttributesToGet=[name])
    assert answer["Item"] == {name: {"S": "x"}}
