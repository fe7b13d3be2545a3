"""Columns that a caller may not see or touch: whatever names them, and whatever would return them."""

from typing import Any

import pytest

from permissions.callers import Guarded, allow, deny, user

KEY = {"owner": {"S": "alice"}, "id": {"S": "1"}}
SECRET = {"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["secret"]}}
WITHOUT_SECRET = user(allow("*"), deny("*", Condition=SECRET))
TABLE = {"TableName": "orders"}
ON_KEY = {
    "KeyConditionExpression": "#o = :o",
    "ExpressionAttributeNames": {"#o": "owner"},
    "ExpressionAttributeValues": {":o": {"S": "alice"}},
}
X = {":x": {"S": "x"}}
WHERE = "WHERE owner = 'alice' AND id = '1'"


@pytest.fixture(scope="module")
def server() -> Guarded:
    server = Guarded()
    server.table()
    return server


def conditioned(text: str, **names: str) -> dict[str, Any]:
    values = {"ExpressionAttributeValues": X} if ":x" in text else {}
    named = {"ExpressionAttributeNames": {f"#{key}": name for key, name in names.items()}} if names else {}
    return {"ConditionExpression": text, **values, **named}


def expected() -> dict[str, Any]:
    return {"Expected": {"secret": {"Exists": False}}}


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {**TABLE, "Key": KEY, "ProjectionExpression": "id, secret"}),
        ("GetItem", {**TABLE, "Key": KEY, "ProjectionExpression": "secret.deep[0]"}),
        ("GetItem", {**TABLE, "Key": KEY, "AttributesToGet": ["secret"]}),
        (
            "GetItem",
            {**TABLE, "Key": KEY, "ProjectionExpression": "#s", "ExpressionAttributeNames": {"#s": "secret"}},
        ),
        ("PutItem", {**TABLE, "Item": {**KEY, "secret": {"S": "x"}}}),
        ("PutItem", {**TABLE, "Item": KEY, **conditioned("attribute_not_exists(secret)")}),
        ("PutItem", {**TABLE, "Item": KEY, **conditioned("size(#s) < :x OR id = :x", s="secret")}),
        ("PutItem", {**TABLE, "Item": KEY, **expected()}),
        ("DeleteItem", {**TABLE, "Key": KEY, **conditioned("NOT (secret BETWEEN :x AND :x)")}),
        ("UpdateItem", {**TABLE, "Key": KEY, "UpdateExpression": "REMOVE secret"}),
        ("UpdateItem", {**TABLE, "Key": KEY, "UpdateExpression": "SET copied = secret"}),
        (
            "UpdateItem",
            {
                **TABLE,
                "Key": KEY,
                "UpdateExpression": "SET copied = if_not_exists(a, secret)",
            },
        ),
        ("UpdateItem", {**TABLE, "Key": KEY, "AttributeUpdates": {"secret": {"Action": "DELETE"}}}),
        ("Query", {**TABLE, **ON_KEY, "FilterExpression": "begins_with(secret, :o)"}),
        ("Query", {**TABLE, **ON_KEY, "ProjectionExpression": "secret"}),
        ("Scan", {**TABLE, "FilterExpression": "secret = :x", "ExpressionAttributeValues": X}),
        ("Scan", {**TABLE, "Select": "COUNT", "ScanFilter": {"secret": {"ComparisonOperator": "NOT_NULL"}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY], "ProjectionExpression": "secret"}}}),
        (
            "BatchWriteItem",
            {"RequestItems": {"orders": [{"PutRequest": {"Item": {**KEY, "secret": {"S": "x"}}}}]}},
        ),
        (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"ConditionCheck": {**TABLE, "Key": KEY, **conditioned("attribute_exists(secret)")}}
                ]
            },
        ),
        (
            "TransactGetItems",
            {"TransactItems": [{"Get": {**TABLE, "Key": KEY, "ProjectionExpression": "secret"}}]},
        ),
        ("ExecuteStatement", {"Statement": f"SELECT secret FROM orders {WHERE}"}),
        ("ExecuteStatement", {"Statement": f"SELECT id FROM orders {WHERE} AND secret = 'x'"}),
        ("ExecuteStatement", {"Statement": f'SELECT id FROM orders {WHERE} AND "secret".a IS MISSING'}),
        ("ExecuteStatement", {"Statement": f"UPDATE orders SET copied = secret {WHERE}"}),
        ("ExecuteStatement", {"Statement": f"UPDATE orders REMOVE secret {WHERE}"}),
        ("ExecuteStatement", {"Statement": f"DELETE FROM orders {WHERE} AND secret = 'x'"}),
        (
            "ExecuteStatement",
            {"Statement": "INSERT INTO orders VALUE {'owner': 'a', 'id': '1', 'secret': 1}"},
        ),
    ],
)
def test_what_names_a_forbidden_column_is_denied(server: Guarded, operation: str, request_: Any) -> None:
    assert server.denies(WITHOUT_SECRET, operation, **request_)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {**TABLE, "Key": KEY, "ProjectionExpression": "id, secrets, a.secret"}),
        ("PutItem", {**TABLE, "Item": {**KEY, "note": {"S": "secret"}}}),
        (
            "PutItem",
            {**TABLE, "Item": KEY, **conditioned("attribute_not_exists(#secret)", secret="other")},
        ),
        ("ExecuteStatement", {"Statement": f"SELECT id FROM orders {WHERE} AND note = 'secret'"}),
    ],
)
def test_what_only_looks_like_the_name_of_a_column_is_allowed(
    server: Guarded, operation: str, request_: Any
) -> None:
    assert not server.denies(WITHOUT_SECRET, operation, **request_)


COLUMNS = user(
    allow(
        *("GetItem", "Query", "BatchGetItem", "UpdateItem", "PartiQLSelect", "PartiQLUpdate"),
        Condition={
            "ForAllValues:StringEquals": {"dynamodb:Attributes": ["owner", "id", "city"]},
            "StringEqualsIfExists": {
                "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
                "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
            },
        },
    )
)
EXISTS = f"EXISTS(SELECT id FROM orders {WHERE} AND city IS MISSING)"
UPDATE = {
    **TABLE,
    "Key": KEY,
    "UpdateExpression": "SET city = :x",
    "ExpressionAttributeValues": X,
}


@pytest.mark.parametrize(
    ("operation", "request_", "denied"),
    [
        ("GetItem", {**TABLE, "Key": KEY}, True),
        ("GetItem", {**TABLE, "Key": KEY, "ProjectionExpression": "city"}, False),
        ("GetItem", {**TABLE, "Key": KEY, "ProjectionExpression": "secret"}, True),
        ("Query", {**TABLE, **ON_KEY}, True),
        ("Query", {**TABLE, **ON_KEY, "Select": "ALL_ATTRIBUTES"}, True),
        ("Query", {**TABLE, **ON_KEY, "Select": "COUNT"}, True),
        ("Query", {**TABLE, **ON_KEY, "ProjectionExpression": "city"}, False),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY]}}}, True),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY], "AttributesToGet": ["id"]}}}, False),
        ("UpdateItem", UPDATE, False),
        ("UpdateItem", {**UPDATE, "ReturnValues": "UPDATED_NEW"}, False),
        ("UpdateItem", {**UPDATE, "ReturnValues": "ALL_NEW"}, True),
        # A condition that fails would return the whole item.
        ("UpdateItem", {**UPDATE, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}, True),
        ("ExecuteStatement", {"Statement": f"SELECT * FROM orders {WHERE}"}, True),
        ("ExecuteStatement", {"Statement": f"SELECT city FROM orders {WHERE}"}, False),
        ("ExecuteStatement", {"Statement": f"UPDATE orders SET city = 'x' {WHERE}"}, False),
        (
            "ExecuteStatement",
            {"Statement": f"UPDATE orders SET city = 'x' {WHERE} RETURNING ALL OLD *"},
            True,
        ),
        (
            "ExecuteStatement",
            {
                "Statement": f"UPDATE orders SET city = 'x' {WHERE}",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            },
            True,
        ),
        ("ExecuteTransaction", {"TransactStatements": [{"Statement": EXISTS}]}, False),
        (
            "ExecuteTransaction",
            {"TransactStatements": [{"Statement": EXISTS, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}]},
            True,
        ),
    ],
)
def test_a_list_of_columns_is_kept(server: Guarded, operation: str, request_: Any, denied: bool) -> None:
    server.call("PutItem", TableName="orders", Item={**KEY, "secret": {"S": "x"}})
    assert server.denies(COLUMNS, operation, **request_) is denied


@pytest.mark.parametrize("text", ["SET", "SET a = ", "SET a = :missing", "SET #n = :x", "((", ""])
def test_what_cannot_be_read_is_denied_where_it_matters(server: Guarded, text: str) -> None:
    request = {**UPDATE, "UpdateExpression": text}
    assert server.denies(WITHOUT_SECRET, "UpdateItem", **request)
    error = server.error(user(allow("UpdateItem")), "UpdateItem", **request)
    assert error is not None
    assert error.code == "ValidationException"
