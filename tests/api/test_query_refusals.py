"""Query: what it refuses, and how it says so."""

from typing import Any

import pytest

from item_tables import invalid, refused

VALUES = "One or more parameter values were invalid: "
ANNOUNCED = "1 validation error detected: "


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "v"},
            ANNOUNCED + "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "v"},
            ANNOUNCED + "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES", "ProjectionExpression": "v"},
            ANNOUNCED
            + "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES",
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            ANNOUNCED
            + "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            ANNOUNCED + "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
        (
            {"Select": "X"},
            ANNOUNCED
            + "Value 'X' at 'select' failed to satisfy constraint: Member must satisfy enum value set: "
            "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
        ),
        (
            {"Limit": 0},
            ANNOUNCED
            + "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
        ),
        ({"IndexName": "idx"}, "The table does not have the specified index: idx"),
        (
            {"FilterExpression": "sk = :p"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
        ),
        (
            {"FilterExpression": "pk = :p"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: pk",
        ),
        ({"FilterExpression": ""}, "Invalid FilterExpression: The expression can not be empty;"),
        (
            {"FilterExpression": "#missing = :p"},
            (
                "Invalid FilterExpression: An expression attribute name used in the document path is not defined; "
                "attribute name: #missing"
            ),
        ),
        (
            {"FilterExpression": "((v = :p))"},
            "Invalid FilterExpression: The expression has redundant parentheses;",
        ),
        (
            {"ProjectionExpression": "v", "ExpressionAttributeNames": {"#u": "u"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
        ),
        (
            {"QueryFilter": {"v": {"ComparisonOperator": "NULL"}}},
            (
                "Can not use both expression and non-expression parameters in the same request: Non-expression "
                "parameters: {QueryFilter} Expression parameters: {KeyConditionExpression}"
            ),
        ),
        (
            {
                "AttributesToGet": ["v"],
                "ConditionalOperator": "AND",
                "FilterExpression": "v = :p",
                "ProjectionExpression": "v",
                "KeyConditions": {},
            },
            (
                "Can not use both expression and non-expression parameters in the same request: Non-expression "
                "parameters: {AttributesToGet, ConditionalOperator, KeyConditions} Expression parameters: "
                "{ProjectionExpression, FilterExpression, KeyConditionExpression}"
            ),
        ),
    ],
)
def test_refusals(client: Any, range_table: str, parameters: dict[str, Any], message: str) -> None:
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
    }
    assert invalid(client.query, **request, **parameters) == message


P, S, N = {"S": "p"}, {"S": "s"}, {"N": "1"}
TYPE = VALUES + "Condition parameter type does not match schema type"


@pytest.mark.parametrize(
    ("condition", "values", "message"),
    [
        ("sk = :s", {":s": S}, "Query condition missed key schema element: pk"),
        ("v = :s", {":s": S}, "Query condition missed key schema element: pk"),
        ("pk = :p AND v = :s", {":p": P, ":s": S}, "Query condition missed key schema element: sk"),
        (
            "pk = :p AND sk = :s AND v = :s",
            {":p": P, ":s": S},
            "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
        ),
        ("pk < :p", {":p": P}, "Query key condition not supported"),
        ("pk = :p", {":p": N}, TYPE),
        ("pk = :p AND sk > :s", {":p": P, ":s": N}, TYPE),
        ("pk = :p AND sk BETWEEN :s AND :t", {":p": P, ":s": N, ":t": {"N": "2"}}, TYPE),
        ("", {":p": P}, "Invalid KeyConditionExpression: The expression can not be empty;"),
        (
            "pk = :p AND sk BETWEEN :s AND :t",
            {":p": P, ":s": {"S": "b"}, ":t": {"S": "a"}},
            (
                "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or "
                "equal to lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: "
                "AttributeValue: {S:a}"
            ),
        ),
        (
            "pk = :p AND begins_with(sk, :s)",
            {":p": P, ":s": N},
            (
                "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or "
                "function: begins_with, operand type: N"
            ),
        ),
        (
            "pk = :p AND sk < :s",
            {":p": P, ":s": {"BOOL": True}},
            (
                "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or "
                "function: <, operand type: BOOL"
            ),
        ),
        (
            "pk = :p AND sk = :s",
            {":p": P, ":s": {"S": ""}},
            (
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                "empty string value. Key: sk"
            ),
        ),
    ],
)
def test_key_conditions_that_are_refused(
    client: Any, range_table: str, condition: str, values: dict[str, Any], message: str
) -> None:
    request = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
    assert invalid(client.query, TableName=range_table, **request) == message


@pytest.mark.parametrize(
    ("condition", "detail"),
    [
        ("pk = :p OR sk = :s", "Invalid operator used in KeyConditionExpression: OR"),
        ("NOT pk = :p AND sk = :s", "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk = :p AND sk IN (:s)", "Invalid operator used in KeyConditionExpression: IN"),
        ("pk = :p AND sk <> :s", "Invalid operator used in KeyConditionExpression: <>"),
        ("pk = :p AND contains(sk, :s)", "Invalid operator used in KeyConditionExpression: contains"),
        (
            "pk = :p AND attribute_exists(sk)",
            "Invalid operator used in KeyConditionExpression: attribute_exists",
        ),
        ("pk = :p AND sk.x = :s", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("pk = :p AND pk = :s", "KeyConditionExpressions must only contain one condition per key"),
        ("pk = :p AND size(sk) = :s", "KeyConditionExpressions cannot contain nested operations"),
        (
            "pk = :p AND sk = v",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
    ],
)
def test_what_no_key_condition_may_have(client: Any, range_table: str, condition: str, detail: str) -> None:
    values = {name: value for name, value in {":p": P, ":s": S}.items() if name in condition}
    request = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
    message = invalid(client.query, TableName=range_table, **request)
    # Some of them the service begins with the parameter's name, some not.
    assert message.removeprefix("Invalid KeyConditionExpression: ") == detail


def test_a_second_condition_on_a_hash_only_table(client: Any, hash_table: str) -> None:
    request = {"KeyConditionExpression": "pk = :p AND sk = :p", "ExpressionAttributeValues": {":p": P}}
    assert invalid(client.query, TableName=hash_table, **request) == (
        "The number of query conditions (2) exceeds the number of key attributes defined in the schema (1)"
    )


def test_a_query_needs_a_condition(client: Any, range_table: str) -> None:
    assert invalid(client.query, TableName=range_table) == (
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
    )
    message = invalid(client.query, TableName=range_table, ExpressionAttributeValues={":p": P})
    assert message == (
        "ExpressionAttributeValues can only be specified when using expressions: FilterExpression and "
        "KeyConditionExpression are null"
    )


START = "The provided starting key is invalid"


@pytest.mark.parametrize(
    ("start", "condition", "message"),
    [
        ({}, None, START),
        ({"pk": {"S": "a"}}, None, START),
        ({"pk": {"S": "a"}, "sk": {"S": "b"}, "x": {"S": "c"}}, None, START),
        ({"pk": {"S": "a"}, "x": {"S": "c"}}, None, START),
        (
            {"pk": {"S": "a"}, "sk": {"N": "1"}},
            None,
            "The provided key element does not match the schema",
        ),
        (
            {"pk": {"S": "b"}, "sk": {"S": "b"}},
            None,
            "The provided starting key is outside query boundaries based on provided conditions",
        ),
        (
            {"pk": {"S": "a"}, "sk": {"S": "b"}},
            "sk > :s",
            "The provided starting key does not match the range key predicate",
        ),
        (
            {"pk": {"S": "b"}, "sk": {"S": "b"}},
            "sk > :s",
            "The provided starting key does not match the range key predicate",
        ),
        (
            {"pk": {"S": "b"}, "sk": {"S": "n"}},
            "sk > :s",
            "The query can return at most one row and cannot be restarted",
        ),
        (
            {"pk": {}, "sk": {"S": "n"}},
            None,
            START + ": Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
        ({"pk": {"SS": []}, "sk": {"S": "n"}}, None, f"{VALUES}An string set  may not be empty"),
        (
            {"pk": {"NULL": False}, "sk": {"S": "n"}},
            None,
            f"{VALUES}Null attribute value types must have the value of true",
        ),
        ({"pk": {"S": "a"}, "": {"S": "n"}}, None, "Empty attribute name"),
        (
            {"pk": {"N": "x"}, "sk": {"S": "n"}},
            None,
            "The parameter cannot be converted to a numeric value: x",
        ),
    ],
)
def test_bad_start_keys(
    client: Any, range_table: str, start: dict[str, Any], condition: str | None, message: str
) -> None:
    values = {":p": {"S": "a"}} | ({":s": {"S": "m"}} if condition else {})
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p" + (f" AND {condition}" if condition else ""),
        "ExpressionAttributeValues": values,
    }
    assert invalid(client.query, **request, ExclusiveStartKey=start) == message


def test_a_path_into_a_key_is_refused(client: Any, range_table: str) -> None:
    rule = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": P},
    }
    assert invalid(client.query, **request, ProjectionExpression="sk.x") == rule + "Key: sk"
    assert invalid(client.query, **request, FilterExpression="pk[0] = :p") == rule + "Key: pk"


def test_an_unknown_table_is_not_found(client: Any) -> None:
    request = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": P}}
    found = refused(client.query, TableName="no-such-table", **request)
    assert found == ("ResourceNotFoundException", "Requested resource not found")
