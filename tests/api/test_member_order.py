"""What the newer of the service's two validation layers says of a request's members, and of which together.

All answers were recorded in October 2026; the tables do not exist, because all of this comes before they are looked up.
"""

from typing import Any

import pytest

from item_tables import invalid

KEY = {"pk": {"S": "a"}}
BASES: dict[str, dict[str, Any]] = {
    "put_item": {"TableName": "no-such-table", "Item": KEY},
    "delete_item": {"TableName": "no-such-table", "Key": KEY},
    "get_item": {"TableName": "no-such-table", "Key": KEY},
    "update_item": {
        "TableName": "no-such-table",
        "Key": KEY,
        "UpdateExpression": "SET a = :a",
        "ExpressionAttributeValues": {":a": {"S": "x"}},
    },
    "query": {
        "TableName": "no-such-table",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
    },
}
LEGACY: dict[str, dict[str, Any]] = {
    "update_item": {
        "TableName": "no-such-table",
        "Key": KEY,
        "AttributeUpdates": {"a": {"Action": "PUT", "Value": {"S": "x"}}},
    },
    "query": {
        "TableName": "no-such-table",
        "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}},
    },
}
EMPTY_NAME = (
    "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
)
LIMIT = "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1"
RETURN_VALUES = (
    "Failed to satisfy constraint: Member must satisfy enum value set: "
    "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
)
OPERATOR = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
OLD_ONLY = "ReturnValues can only be ALL_OLD or NONE"
NO_FILTER = "ConditionalOperator cannot be used without Filter or Expected"
ONE_FILTER = "ConditionalOperator can only be used when Filter or Expected has two or more elements"


def outside(member: str, values: str) -> str:
    return f"Value 'X' at '{member}' failed to satisfy constraint: Member must satisfy enum value set: [{values}]"


CAPACITY = outside("returnConsumedCapacity", "INDEXES, TOTAL, NONE")
METRICS = outside("returnItemCollectionMetrics", "SIZE, NONE")
ON_FAILURE = outside("returnValuesOnConditionCheckFailure", "ALL_OLD, NONE")
SELECT = outside("select", "SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES")


def short(name: str) -> str:
    return (
        f"Value '{name}' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal "
        "to 3"
    )


def malformed(name: str) -> str:
    return (
        f"Value '{name}' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: "
        "[a-zA-Z0-9_.-]+"
    )


def mixed(old: str, new: str) -> str:
    return (
        "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
        f"{{{old}}} Expression parameters: {{{new}}}"
    )


def joined(*errors: str) -> str:
    plural = "s" if len(errors) > 1 else ""
    return f"{len(errors)} validation error{plural} detected: {'; '.join(errors)}"


NAMES_BESIDE_CAPACITY = [
    ({"TableName": ""}, joined(EMPTY_NAME)),
    ({"TableName": "", "ReturnConsumedCapacity": "X"}, joined(EMPTY_NAME)),
    ({"TableName": "a!"}, joined(short("a!"))),
    ({"TableName": "ab", "ReturnConsumedCapacity": "X"}, joined(short("ab"), CAPACITY)),
    ({"TableName": "bad!name", "ReturnConsumedCapacity": "X"}, joined(malformed("bad!name"), CAPACITY)),
]


@pytest.mark.parametrize("operation", ["put_item", "delete_item", "get_item", "query"])
@pytest.mark.parametrize(("parameters", "message"), NAMES_BESIDE_CAPACITY)
def test_one_thing_is_said_of_a_table_name_and_capacity_stands_behind_it(
    client: Any, operation: str, parameters: dict[str, Any], message: str
) -> None:
    assert invalid(getattr(client, operation), **{**BASES[operation], **parameters}) == message


@pytest.mark.parametrize("operation", ["put_item", "delete_item"])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"TableName": "ab", "ReturnValues": "X"}, joined(short("ab"), RETURN_VALUES)),
        ({"ReturnValuesOnConditionCheckFailure": "X"}, joined(ON_FAILURE)),
        (
            {"ReturnValuesOnConditionCheckFailure": "X", "ReturnConsumedCapacity": "X"},
            joined(CAPACITY, ON_FAILURE),
        ),
        (
            {"ReturnValuesOnConditionCheckFailure": "X", "ReturnItemCollectionMetrics": "X"},
            joined(METRICS, ON_FAILURE),
        ),
        (
            {"ReturnValuesOnConditionCheckFailure": "X", "ReturnValues": "X"},
            joined(RETURN_VALUES, ON_FAILURE),
        ),
        (
            {
                "ConditionalOperator": "X",
                "ReturnValues": "X",
                "ReturnConsumedCapacity": "X",
                "ReturnItemCollectionMetrics": "X",
            },
            joined(CAPACITY, RETURN_VALUES, METRICS),
        ),
        ({"ConditionalOperator": "X"}, joined(NO_FILTER)),
        ({"ConditionalOperator": "AND"}, joined(NO_FILTER)),
        ({"ConditionalOperator": "X", "Expected": {"a": {"Exists": False}}}, joined(ONE_FILTER)),
        (
            {"ConditionalOperator": "X", "Expected": {"a": {"Exists": False}, "b": {"Exists": False}}},
            joined(OPERATOR),
        ),
        (
            {"ConditionalOperator": "X", "ConditionExpression": "attribute_exists(a)"},
            joined(mixed("ConditionalOperator", "ConditionExpression")),
        ),
        (
            {
                "ConditionalOperator": "AND",
                "ConditionExpression": "attribute_exists(a)",
                "Expected": {"a": {"Exists": False}, "b": {"Exists": False}},
            },
            joined(mixed("Expected, ConditionalOperator", "ConditionExpression")),
        ),
    ],
)
def test_put_item_and_delete_item(
    client: Any, operation: str, parameters: dict[str, Any], message: str
) -> None:
    assert invalid(getattr(client, operation), **{**BASES[operation], **parameters}) == message


@pytest.mark.parametrize("returned", ["ALL_NEW", "UPDATED_NEW", "UPDATED_OLD"])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, joined(OLD_ONLY)),
        ({"TableName": "ab"}, joined(short("ab"), OLD_ONLY)),
        ({"ReturnConsumedCapacity": "X"}, joined(CAPACITY, OLD_ONLY)),
        ({"ConditionExpression": "a = = b"}, joined(OLD_ONLY)),
        ({"ExpressionAttributeValues": {":v": {"S": "x"}}}, joined(OLD_ONLY)),
        ({"ConditionExpression": "attribute_exists(a)", "Expected": {}}, joined(OLD_ONLY)),
    ],
)
def test_delete_item_has_old_values_only(
    client: Any, returned: str, parameters: dict[str, Any], message: str
) -> None:
    request = {**BASES["delete_item"], **parameters, "ReturnValues": returned}
    assert invalid(client.delete_item, **request) == message


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"TableName": ""}, joined(EMPTY_NAME)),
        ({"TableName": "ab", "ReturnConsumedCapacity": "X"}, joined(short("ab"))),
        ({"TableName": "bad!name", "ReturnConsumedCapacity": "X"}, joined(malformed("bad!name"))),
        ({"TableName": "a!", "ReturnConsumedCapacity": "X"}, joined(malformed("a!"), short("a!"))),
        ({"ReturnConsumedCapacity": "X"}, CAPACITY),
        ({"ReturnItemCollectionMetrics": "X"}, joined(METRICS)),
        ({"ReturnConsumedCapacity": "X", "ReturnItemCollectionMetrics": "X"}, joined(METRICS)),
        ({"ReturnValuesOnConditionCheckFailure": "X"}, ON_FAILURE),
        ({"ReturnValuesOnConditionCheckFailure": "X", "ReturnItemCollectionMetrics": "X"}, ON_FAILURE),
        ({"ReturnValuesOnConditionCheckFailure": "X", "ReturnConsumedCapacity": "X"}, ON_FAILURE),
        ({"ReturnValuesOnConditionCheckFailure": "X", "ReturnValues": "X"}, joined(RETURN_VALUES)),
        ({"ReturnValues": "X", "ReturnConsumedCapacity": "X"}, joined(RETURN_VALUES)),
        ({"ConditionalOperator": "X"}, joined(mixed("ConditionalOperator", "UpdateExpression"))),
        ({"ConditionalOperator": "X", "ReturnConsumedCapacity": "X"}, CAPACITY),
        (
            {"UpdateExpression": "", "ConditionExpression": "", "ExpressionAttributeValues": None},
            joined("Invalid ConditionExpression: The expression can not be empty;"),
        ),
    ],
)
def test_update_item(client: Any, parameters: dict[str, Any], message: str) -> None:
    request = {**BASES["update_item"], **parameters}
    request = {name: value for name, value in request.items() if value is not None}
    assert invalid(client.update_item, **request) == message


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ConditionalOperator": "X"}, joined(NO_FILTER)),
        ({"ConditionalOperator": "X", "Expected": {"a": {"Exists": False}}}, joined(ONE_FILTER)),
        (
            {"ConditionalOperator": "X", "Expected": {"a": {"Exists": False}, "b": {"Exists": False}}},
            joined(OPERATOR),
        ),
    ],
)
def test_update_item_with_legacy_parameters(client: Any, parameters: dict[str, Any], message: str) -> None:
    assert invalid(client.update_item, **LEGACY["update_item"], **parameters) == message


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"TableName": "ab", "Select": "X"}, joined(short("ab"))),
        ({"ReturnConsumedCapacity": "X", "Select": "X"}, joined(CAPACITY)),
        ({"Select": "X"}, joined(SELECT)),
        ({"Select": "X", "Limit": 0}, joined(LIMIT)),
        ({"ReturnConsumedCapacity": "X", "Limit": 0}, joined(LIMIT)),
        ({"TableName": "", "Limit": 0}, joined(LIMIT, EMPTY_NAME)),
        ({"TableName": "", "Limit": 0, "ReturnConsumedCapacity": "X"}, joined(LIMIT, EMPTY_NAME)),
        ({"ConditionalOperator": "X"}, mixed("ConditionalOperator", "KeyConditionExpression")),
        (
            {"ConditionalOperator": "X", "Select": "X"},
            mixed("ConditionalOperator", "KeyConditionExpression"),
        ),
        ({"ConditionalOperator": "X", "Limit": 0}, joined(LIMIT)),
        ({"ConditionalOperator": "X", "ReturnConsumedCapacity": "X"}, joined(CAPACITY)),
    ],
)
def test_query(client: Any, parameters: dict[str, Any], message: str) -> None:
    assert invalid(client.query, **{**BASES["query"], **parameters}) == message


TWO_FILTERS = {"b": {"ComparisonOperator": "NULL"}, "c": {"ComparisonOperator": "NULL"}}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ConditionalOperator": "X"}, NO_FILTER),
        ({"ConditionalOperator": "X", "QueryFilter": {"b": {"ComparisonOperator": "NULL"}}}, ONE_FILTER),
        ({"ConditionalOperator": "X", "QueryFilter": TWO_FILTERS}, OPERATOR),
        ({"ConditionalOperator": "X", "QueryFilter": TWO_FILTERS, "Select": "X"}, OPERATOR),
    ],
)
def test_query_with_legacy_parameters(client: Any, parameters: dict[str, Any], message: str) -> None:
    assert invalid(client.query, **LEGACY["query"], **parameters) == message


@pytest.mark.parametrize(
    ("limit", "shown"), [(0.5, "0"), (-0.5, "0"), (-(2**31) - 1, "-2147483648"), (-(2**63), "-2147483648")]
)
def test_a_limit_that_is_no_32_bit_number_is_read_by_the_older_layer(
    raw: Any, limit: float, shown: str
) -> None:
    rule = "Member must have value greater than or equal to 1"
    error = f"Value '{shown}' at 'limit' failed to satisfy constraint: {rule}"
    answer = raw("Query", {**BASES["query"], "Limit": limit})
    assert answer.body["message"] == joined(error)
    answer = raw("Query", {**BASES["query"], "Limit": limit, "ReturnConsumedCapacity": "X"})
    assert answer.body["message"] == joined(CAPACITY, error)


@pytest.mark.parametrize("limit", [2**31, 2**32, 2**64, 1e300])
def test_a_limit_beyond_32_bits_is_no_limit(raw: Any, hash_table: str, limit: float) -> None:
    answer = raw("Query", {**BASES["query"], "TableName": hash_table, "Limit": limit})
    assert (answer.status, answer.body["Count"]) == (200, 0)


@pytest.mark.parametrize("operation", ["put_item", "update_item", "delete_item"])
@pytest.mark.parametrize(
    ("expectation", "message"),
    [
        (
            {"Value": {}},
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
        (
            {"ComparisonOperator": "X", "AttributeValueList": [{"S": "x"}]},
            joined("One or more parameter values were invalid: Invalid comparison operator"),
        ),
        (
            {"ComparisonOperator": "EQ", "AttributeValueList": []},
            joined(
                "One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator"
            ),
        ),
    ],
)
def test_malformed_expectations(
    client: Any, operation: str, expectation: dict[str, Any], message: str
) -> None:
    base = LEGACY.get(operation, BASES[operation])
    assert invalid(getattr(client, operation), **base, Expected={"a": expectation}) == message
