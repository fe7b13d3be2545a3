"""A shared table with leading keys, attacked by one tenant who wants another's items."""

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from hashrange.api.partiql import tokens
from permissions.callers import Guarded, allow, deny, user

MINE, THEIRS = {"owner": {"S": "alice"}, "id": {"S": "1"}}, {"owner": {"S": "bob"}, "id": {"S": "1"}}
LEADING = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}}
ITEM_ACTIONS = (
    *("GetItem", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem", "Query"),
    *("BatchGetItem", "BatchWriteItem"),
    *("PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete"),
)
TENANT = user(
    allow(*ITEM_ACTIONS, Condition=LEADING),
    deny("PartiQLSelect", Condition={"Bool": {"dynamodb:FullTableScan": "true"}}),
)


@pytest.fixture(scope="module")
def server() -> Guarded:
    server = Guarded()
    server.table()
    for key in (MINE, THEIRS):
        server.call("PutItem", TableName="orders", Item={**key, "secret": {"S": "x"}, "city": {"S": "Rome"}})
    return server


def put(key: Any) -> Any:
    return {"Put": {"TableName": "orders", "Item": key}}


def requests(key: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """Every way to an item."""
    owner = key["owner"]["S"]
    table = {"TableName": "orders"}
    on_key = {"KeyConditionExpression": "#o = :o", "ExpressionAttributeNames": {"#o": "owner"}}
    check = {"ConditionExpression": "attribute_exists(id)"}
    where = f"WHERE owner = '{owner}' AND id = '1'"
    return {
        "get": ("GetItem", {**table, "Key": key}),
        "put": ("PutItem", {**table, "Item": key}),
        "update": (
            "UpdateItem",
            {**table, "Key": key, "UpdateExpression": "SET seen = :o", **_values(owner)},
        ),
        "legacy update": (
            "UpdateItem",
            {**table, "Key": key, "AttributeUpdates": {"a": {"Value": {"S": "b"}}}},
        ),
        "query": ("Query", {**table, **on_key, **_values(owner)}),
        "legacy query": (
            "Query",
            {
                **table,
                "KeyConditions": {
                    "owner": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": owner}]},
                },
            },
        ),
        "query turned round": (
            "Query",
            {**table, **on_key, "KeyConditionExpression": "id > :z and :o = #o", **_values(owner, z="0")},
        ),
        "count": ("Query", {**table, **on_key, **_values(owner), "Select": "COUNT"}),
        "batch get": ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key]}}}),
        "batch put": ("BatchWriteItem", {"RequestItems": {"orders": [{"PutRequest": {"Item": key}}]}}),
        "transact get": ("TransactGetItems", {"TransactItems": [{"Get": {**table, "Key": key}}]}),
        "transact put": ("TransactWriteItems", {"TransactItems": [put(key)]}),
        "transact check": (
            "TransactWriteItems",
            {"TransactItems": [{"ConditionCheck": {**table, "Key": key, **check}}]},
        ),
        "transact update": (
            "TransactWriteItems",
            {"TransactItems": [{"Update": {**table, "Key": key, "UpdateExpression": "REMOVE b"}}]},
        ),
        "select": ("ExecuteStatement", {"Statement": f"SELECT * FROM orders {where}"}),
        "select by parameter": (
            "ExecuteStatement",
            {"Statement": "SELECT * FROM orders WHERE owner = ?", "Parameters": [{"S": owner}]},
        ),
        "select in": ("ExecuteStatement", {"Statement": f"SELECT * FROM orders WHERE owner IN ['{owner}']"}),
        "partiql update": ("ExecuteStatement", {"Statement": f"UPDATE orders SET b = 1 {where}"}),
        "partiql transaction": (
            "ExecuteTransaction",
            {"TransactStatements": [{"Statement": f"SELECT * FROM orders {where}"}]},
        ),
        "exists": (
            "ExecuteTransaction",
            {"TransactStatements": [{"Statement": f"EXISTS(SELECT * FROM orders {where} AND secret = 'x')"}]},
        ),
    }


def _values(owner: str, **more: str) -> dict[str, Any]:
    return {
        "ExpressionAttributeValues": {f":{name}": {"S": text} for name, text in {"o": owner, **more}.items()}
    }


WAYS = list(requests(MINE))


@pytest.mark.parametrize("way", WAYS)
def test_a_tenant_reaches_their_own_items(server: Guarded, way: str) -> None:
    server.ask(server.principal, "PutItem", TableName="orders", Item={**MINE, "secret": {"S": "x"}})
    operation, request = requests(MINE)[way]
    assert not server.denies(TENANT, operation, **request)


@pytest.mark.parametrize("way", WAYS)
def test_a_tenant_does_not_reach_the_items_of_another(server: Guarded, way: str) -> None:
    operation, request = requests(THEIRS)[way]
    assert server.denies(TENANT, operation, **request)


@pytest.mark.parametrize("way", WAYS)
def test_nobody_reaches_anything_without_a_policy(server: Guarded, way: str) -> None:
    operation, request = requests(MINE)[way]
    assert server.denies(user(), operation, **request)


@pytest.mark.parametrize("way", WAYS)
def test_whether_there_is_a_table_is_not_told(server: Guarded, way: str) -> None:
    """Neither to those who may do nothing, nor to those who may see some items only."""
    operation, request = requests(MINE)[way]
    elsewhere = _renamed(request)
    for principal in (user(), TENANT):
        assert server.denies(principal, operation, **elsewhere)


def _renamed(value: Any) -> Any:
    match value:
        case dict():
            return {_renamed(key): _renamed(content) for key, content in value.items()}
        case list():
            return [_renamed(content) for content in value]
        case str():
            return value.replace("orders", "absent")
        case _:
            return value


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("Scan", {"TableName": "orders"}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [MINE, THEIRS]}}}),
        (
            "BatchWriteItem",
            {
                "RequestItems": {
                    "orders": [{"PutRequest": {"Item": MINE}}, {"DeleteRequest": {"Key": THEIRS}}]
                }
            },
        ),
        ("TransactWriteItems", {"TransactItems": [put(MINE), put(THEIRS)]}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM orders"}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM orders WHERE owner = 'alice' OR owner = 'bob'"}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM orders WHERE owner IN ['alice', 'bob']"}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM orders WHERE NOT owner = 'alice'"}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM orders WHERE owner = 'alice' OR id = '1'"}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM orders WHERE begins_with(owner, 'b')"}),
        (
            "Query",
            {
                "TableName": "orders",
                "IndexName": "by-city",
                "KeyConditionExpression": "city = :c",
                "ExpressionAttributeValues": {":c": {"S": "Rome"}},
            },
        ),
        (
            "ExecuteTransaction",
            {
                "TransactStatements": [
                    {"Statement": "INSERT INTO orders VALUE {'owner': 'alice', 'id': '7'}"},
                    {"Statement": "INSERT INTO orders VALUE {'owner': 'bob', 'id': '7'}"},
                ]
            },
        ),
    ],
)
def test_one_forbidden_part_denies_the_whole(server: Guarded, operation: str, request_: Any) -> None:
    assert server.denies(TENANT, operation, **request_)
    assert server.call("GetItem", TableName="orders", Key=THEIRS)["Item"]["secret"] == {"S": "x"}


def test_a_denied_statement_of_a_batch_fails_alone(server: Guarded) -> None:
    select = "SELECT id FROM orders WHERE owner = '{}' AND id = '1'"
    statements = [{"Statement": select.format(owner)} for owner in ("alice", "bob")]
    mine, theirs = server.ask(TENANT, "BatchExecuteStatement", Statements=statements)["Responses"]
    assert mine["Item"] == {"id": {"S": "1"}}
    assert theirs["Error"]["Code"] == "AccessDenied"
    assert "dynamodb:PartiQLSelect" in theirs["Error"]["Message"]


def test_nothing_is_written_by_a_denied_statement_of_a_batch(server: Guarded) -> None:
    update = "UPDATE orders SET secret = 'stolen' WHERE owner = '{}' AND id = '1'"
    statements = [{"Statement": update.format(owner)} for owner in ("bob", "alice")]
    theirs, mine = server.ask(TENANT, "BatchExecuteStatement", Statements=statements)["Responses"]
    assert theirs["Error"]["Code"] == "AccessDenied"
    assert "Error" not in mine
    assert server.call("GetItem", TableName="orders", Key=THEIRS)["Item"]["secret"] == {"S": "x"}


@pytest.mark.parametrize("order", ["", " ORDER BY id DESC"])
@pytest.mark.parametrize("after", [b"", b"\x00", b"\xff" * 64])
def test_a_forged_token_leads_into_no_other_partition(server: Guarded, order: str, after: bytes) -> None:
    """Tokens are not sealed, so a client can say where to go on."""
    text = "SELECT * FROM orders WHERE owner = 'alice'" + order
    bound = tokens.binding(SimpleNamespace(statement=text, parameters=None))
    token = tokens.encode(tokens.Resume(0, after), bound)
    items = server.ask(TENANT, "ExecuteStatement", Statement=text, NextToken=token)["Items"]
    assert {item["owner"]["S"] for item in items} <= {"alice"}


def test_numbers_are_compared_by_what_they_are_worth() -> None:
    server = Guarded()
    server.call(
        "CreateTable",
        TableName="counted",
        KeySchema=[{"AttributeName": "n", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        BillingMode="PAY_PER_REQUEST",
    )
    server.clock.advance(10)
    one = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["1"]}}
    principal = user(allow("GetItem", Condition=one))
    for text in ("1", "1.0", "1E0", "01"):
        assert not server.denies(principal, "GetItem", TableName="counted", Key={"n": {"N": text}})
    assert server.denies(principal, "GetItem", TableName="counted", Key={"n": {"N": "10"}})
    never = user(allow("GetItem"), deny("GetItem", Condition={"ForAnyValue:StringEquals": one.popitem()[1]}))
    for text in ("1", "1.0", "1E0"):
        assert server.denies(never, "GetItem", TableName="counted", Key={"n": {"N": text}})


def test_a_name_with_a_star_is_no_wildcard(server: Guarded) -> None:
    star = dataclasses.replace(TENANT, name="*")
    assert server.denies(star, "GetItem", TableName="orders", Key=THEIRS)


@pytest.mark.parametrize("key", [{"owner": {"N": "1"}, "id": {"S": "1"}}, {"id": {"S": "1"}}, {}])
def test_a_key_of_another_shape_is_denied(server: Guarded, key: Any) -> None:
    assert server.denies(TENANT, "GetItem", TableName="orders", Key=key)
