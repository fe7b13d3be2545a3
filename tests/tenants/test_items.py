"""A shared table: each tenant does everything with their own items, and nothing with those of the other."""

import json
from typing import Any

import pytest

from tenants.shared_house import CANARY, ROLE, TABLE, TABLES, House, item_of, key_of
from tenants.signed_callers import Reply

DENIED = "AccessDeniedException"
CALLERS = ["alice", "alice's session"]
Request = tuple[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def items(house: House) -> None:
    for owner in ("alice", "bob"):
        house.must("PutItem", TableName=TABLE, Item=item_of(owner))


def ways(owner: str, table: str = TABLE) -> dict[str, Request]:
    """Every way to items of a tenant."""
    return {
        **_reads(owner, table),
        **_writes(owner, table),
        **_many(owner, table),
        **_statements(owner, table),
        **_transactions(owner, table),
    }


def _texts(**texts: str) -> dict[str, Any]:
    return {"ExpressionAttributeValues": {f":{name}": {"S": text} for name, text in texts.items()}}


def _reads(owner: str, table: str) -> dict[str, Request]:
    key = {"TableName": table, "Key": key_of(owner)}
    query = {"TableName": table, "KeyConditionExpression": "tenant = :t", **_texts(t=owner)}
    equal = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": owner}]}
    named = {"#s": "secret"}
    return {
        "get": ("GetItem", key),
        "get consistently": ("GetItem", {**key, "ConsistentRead": True}),
        "get a projection": (
            "GetItem",
            {**key, "ProjectionExpression": "#s", "ExpressionAttributeNames": named},
        ),
        "get the old way": ("GetItem", {**key, "AttributesToGet": ["secret"]}),
        "query": ("Query", query),
        "query the old way": ("Query", {"TableName": table, "KeyConditions": {"tenant": equal}}),
        "query the wrong way round": ("Query", {**query, "KeyConditionExpression": ":t = tenant"}),
        "query in brackets": ("Query", {**query, "KeyConditionExpression": "(tenant = :t)"}),
        "query by a name": (
            "Query",
            {**query, "KeyConditionExpression": "#n = :t", "ExpressionAttributeNames": {"#n": "tenant"}},
        ),
        "query a range": (
            "Query",
            {**query, "KeyConditionExpression": "id > :i AND tenant = :t", **_texts(t=owner, i="0")},
        ),
        "query a prefix": (
            "Query",
            {
                **query,
                "KeyConditionExpression": "tenant = :t AND begins_with(id, :i)",
                **_texts(t=owner, i="1"),
            },
        ),
        "query with a filter": (
            "Query",
            {**query, "FilterExpression": "begins_with(secret, :s)", **_texts(t=owner, s="s")},
        ),
        "query with an old filter": (
            "Query",
            {
                "TableName": table,
                "KeyConditions": {"tenant": equal},
                "QueryFilter": {"secret": {"ComparisonOperator": "NOT_NULL"}},
            },
        ),
        "count": ("Query", {**query, "Select": "COUNT"}),
        "query a local index": ("Query", {**query, "IndexName": "by-rank"}),
        "query a global index": ("Query", {**query, "IndexName": "by-tenant-city"}),
        "query backwards": ("Query", {**query, "ScanIndexForward": False, "Limit": 1}),
    }


def _writes(owner: str, table: str) -> dict[str, Request]:
    key = {"TableName": table, "Key": key_of(owner)}
    item = {"TableName": table, "Item": item_of(owner)}
    value = {"Value": {"S": "b"}, "Action": "PUT"}
    return {
        "put": ("PutItem", item),
        "put for the old item": ("PutItem", {**item, "ReturnValues": "ALL_OLD"}),
        "put with metrics": ("PutItem", {**item, "ReturnItemCollectionMetrics": "SIZE"}),
        "put on a condition of old": (
            "PutItem",
            {**item, "Expected": {"tenant": {"ComparisonOperator": "NOT_NULL"}}},
        ),
        "update": ("UpdateItem", {**key, "UpdateExpression": "SET a = id", "ReturnValues": "ALL_NEW"}),
        "update the old way": (
            "UpdateItem",
            {**key, "AttributeUpdates": {"a": value}, "ReturnValues": "ALL_OLD"},
        ),
        "update nothing": ("UpdateItem", {**key, "ReturnValues": "ALL_NEW"}),
        "delete": ("DeleteItem", {**key, "ReturnValues": "ALL_OLD"}),
    }


def _many(owner: str, table: str) -> dict[str, Request]:
    key = key_of(owner)
    return {
        "batch get": ("BatchGetItem", {"RequestItems": {table: {"Keys": [key]}}}),
        "batch get the old way": (
            "BatchGetItem",
            {"RequestItems": {table: {"Keys": [key], "AttributesToGet": ["secret"]}}},
        ),
        "batch put": (
            "BatchWriteItem",
            {"RequestItems": {table: [{"PutRequest": {"Item": item_of(owner)}}]}},
        ),
        "batch delete": ("BatchWriteItem", {"RequestItems": {table: [{"DeleteRequest": {"Key": key}}]}}),
        "transact get": ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": table, "Key": key}}]}),
        **{
            f"transact {name.lower()}": ("TransactWriteItems", {"TransactItems": [{name: member}]})
            for name, member in _members(owner, table).items()
        },
    }


def _members(owner: str, table: str) -> dict[str, dict[str, Any]]:
    key = {"TableName": table, "Key": key_of(owner)}
    return {
        "Put": {"TableName": table, "Item": item_of(owner)},
        "Update": {**key, "UpdateExpression": "SET a = id"},
        "Delete": key,
        "ConditionCheck": {**key, "ConditionExpression": "attribute_exists(secret)"},
    }


def _statements(owner: str, table: str) -> dict[str, Request]:
    number = key_of(owner)["id"]["S"]
    quoted = f'"{table}"'
    where = f"WHERE tenant = '{owner}' AND id = '{number}'"
    texts = {
        "select": f"SELECT * FROM {quoted} {where}",
        "select a partition": f"SELECT secret FROM {quoted} WHERE tenant = '{owner}'",
        "select by a quoted name": f"SELECT * FROM {quoted} WHERE \"tenant\" = '{owner}'",
        "select turned round": f"SELECT * FROM {quoted} WHERE '{owner}' = tenant",
        "select in a list": f"SELECT * FROM {quoted} WHERE tenant IN ['{owner}']",
        "select in brackets": f"SELECT * FROM {quoted} WHERE tenant IN ('{owner}')",
        "select with or": f"SELECT * FROM {quoted} {where} OR tenant = '{owner}' AND id = 'none'",
        "select a prefix": f"SELECT * FROM {quoted} WHERE tenant = '{owner}' AND begins_with(id, '1')",
        "select in order": f"SELECT * FROM {quoted} WHERE tenant = '{owner}' ORDER BY id DESC",
        "select by a local index": f"SELECT * FROM {quoted}.\"by-rank\" WHERE tenant = '{owner}'",
        "select by a global index": f"SELECT * FROM {quoted}.\"by-tenant-city\" WHERE tenant = '{owner}'",
        "update by PartiQL": f"UPDATE {quoted} SET a = 1 {where} RETURNING ALL OLD *",
        "delete by PartiQL": f"DELETE FROM {quoted} {where} RETURNING ALL OLD *",
        "insert": f"INSERT INTO {quoted} VALUE {{'tenant': '{owner}', 'id': '{number}-new'}}",
    }
    by_parameter = {
        "Statement": f"SELECT * FROM {quoted} WHERE tenant = ? AND id = ?",
        "Parameters": [{"S": owner}, {"S": number}],
    }
    inserted = {"Statement": f"INSERT INTO {quoted} VALUE {{'tenant': ?, 'id': '2'}}"}
    return {
        **{name: ("ExecuteStatement", {"Statement": text}) for name, text in texts.items()},
        "select by parameters": ("ExecuteStatement", by_parameter),
        "insert by a parameter": ("ExecuteStatement", {**inserted, "Parameters": [{"S": owner}]}),
    }


def _transactions(owner: str, table: str) -> dict[str, Request]:
    number = key_of(owner)["id"]["S"]
    where = f"WHERE tenant = '{owner}' AND id = '{number}'"
    exists = f'EXISTS(SELECT * FROM "{table}" {where} AND attribute_type("secret", \'S\'))'
    own = f"INSERT INTO \"{table}\" VALUE {{'tenant': '{owner}', 'id': 'exists'}}"
    return {
        "select in a transaction": (
            "ExecuteTransaction",
            {"TransactStatements": [{"Statement": f'SELECT * FROM "{table}" {where}'}]},
        ),
        "update in a transaction": (
            "ExecuteTransaction",
            {"TransactStatements": [{"Statement": f'UPDATE "{table}" SET a = 1 {where}'}]},
        ),
        "exists": ("ExecuteTransaction", {"TransactStatements": [{"Statement": exists}, {"Statement": own}]}),
    }


WAYS = list(ways("alice"))


def assert_denied(reply: Reply) -> None:
    assert (reply.status, reply.error) == (400, DENIED), reply.raw
    assert CANARY.encode() not in reply.raw


@pytest.fixture(params=CALLERS)
def caller(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.mark.parametrize("way", WAYS)
def test_a_tenant_reaches_their_own_items(house: House, caller: str, way: str) -> None:
    for leftover in ("2", "1-new", "exists"):
        house.must("DeleteItem", TableName=TABLE, Key=key_of("alice", leftover))
    reply = house.people[caller].ask(*ways("alice")[way])
    assert reply.status == 200, reply.raw
    assert CANARY.encode() not in reply.raw


@pytest.mark.parametrize("table", [TABLE, f"{TABLES}/{TABLE}"])
def test_a_tenant_reaches_nothing_of_the_other(house: House, caller: str, table: str) -> None:
    before = _count(house, "bob")
    for way, (operation, request) in ways("bob", table).items():
        if operation in {"ExecuteStatement", "ExecuteTransaction"} and table != TABLE:
            continue  # PartiQL takes no ARNs
        reply = house.people[caller].ask(operation, request)
        assert (way, reply.status, reply.error) == (way, 400, DENIED), reply.raw
        # What the caller has sent themselves may be in the answer; what is stored, may not.
        assert f'"{CANARY}"'.encode() not in reply.raw
    assert house.must("GetItem", TableName=TABLE, Key=key_of("bob"))["Item"] == item_of("bob")
    assert _count(house, "bob") == before


def _count(house: House, tenant: str) -> int:
    listed = house.must(
        "Query", TableName=TABLE, KeyConditionExpression="tenant = :t", **_texts(t=tenant), Select="COUNT"
    )
    count: int = listed["Count"]
    return count


def test_a_table_that_is_not_there_is_denied_like_one_of_others(house: House, caller: str) -> None:
    for way, (operation, request) in ways("alice", "absent").items():
        reply = house.people[caller].ask(operation, request)
        assert (way, reply.error) == (way, DENIED), reply.raw


def test_nobody_else_reaches_anything(house: House) -> None:
    """Without the tag a variable has no value, and so matches nothing."""
    untagged = house.people["broker"].assume(ROLE, "untagged")
    for operation, request in ways("alice").values():
        assert untagged.ask(operation, request).error == DENIED


def _mixed() -> dict[str, Request]:
    mine, theirs = key_of("alice"), key_of("bob")
    get = [{"Get": {"TableName": TABLE, "Key": key}} for key in (mine, theirs)]
    members = {name: _members("bob", TABLE)[name] for name in ("Put", "Update", "Delete", "ConditionCheck")}
    put = {"Put": {"TableName": TABLE, "Item": item_of("alice", "9")}}
    requests: dict[str, Request] = {
        "batch get": ("BatchGetItem", {"RequestItems": {TABLE: {"Keys": [mine, theirs]}}}),
        "batch get under two names": (
            "BatchGetItem",
            {"RequestItems": {TABLE: {"Keys": [mine]}, f"{TABLES}/{TABLE}": {"Keys": [theirs]}}},
        ),
        "batch write": (
            "BatchWriteItem",
            {"RequestItems": {TABLE: [{"PutRequest": put["Put"]}, {"DeleteRequest": {"Key": theirs}}]}},
        ),
        "transact get": ("TransactGetItems", {"TransactItems": get}),
        "a hundred gets": ("TransactGetItems", {"TransactItems": _with_one_foreign_get()}),
    }
    for name, member in members.items():
        requests[f"transact {name}"] = ("TransactWriteItems", {"TransactItems": [put, {name: member}]})
    failing = {**members["ConditionCheck"], "ConditionExpression": "attribute_not_exists(id)"}
    failing["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    requests["a check that fails"] = (
        "TransactWriteItems",
        {"TransactItems": [put, {"ConditionCheck": failing}]},
    )
    return requests


def _with_one_foreign_get() -> list[dict[str, Any]]:
    keys = [key_of("alice", str(number)) for number in range(100)]
    keys[61] = key_of("bob")
    return [{"Get": {"TableName": TABLE, "Key": key}} for key in keys]


@pytest.mark.parametrize("way", list(_mixed()))
def test_one_foreign_key_among_own_ones_denies_all_of_them(house: House, caller: str, way: str) -> None:
    assert_denied(house.people[caller].ask(*_mixed()[way]))
    assert "Item" not in house.must("GetItem", TableName=TABLE, Key=key_of("alice", "9"))
    assert house.must("GetItem", TableName=TABLE, Key=key_of("bob"))["Item"] == item_of("bob")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM orders",
        "SELECT * FROM orders WHERE tenant = 'alice' OR tenant = 'bob'",
        "SELECT * FROM orders WHERE tenant IN ['alice', 'bob']",
        "SELECT * FROM orders WHERE tenant = 'alice' OR id > '0'",
        "SELECT * FROM orders WHERE NOT tenant = 'alice'",
        "SELECT * FROM orders WHERE tenant <> 'alice'",
        "SELECT * FROM orders WHERE tenant >= 'alice'",
        "SELECT * FROM orders WHERE tenant BETWEEN 'alice' AND 'bob'",
        "SELECT * FROM orders WHERE begins_with(tenant, 'b')",
        "SELECT * FROM orders WHERE begins_with(tenant, '')",
        "SELECT * FROM orders WHERE contains(tenant, 'o')",
        "SELECT * FROM orders WHERE id > '0'",
        "SELECT * FROM orders WHERE tenant = tenant",
        "SELECT * FROM orders WHERE tenant = 'alice' AND id = '1' OR secret > ''",
        "SELECT * FROM orders WHERE (tenant = 'alice' OR tenant = 'bob') AND id > '0'",
        'SELECT * FROM "orders"."by-city" WHERE city = \'Rome\'',
        'SELECT * FROM "orders"."by-city" WHERE tenant = \'alice\'',
        'SELECT * FROM "orders"."by-tenant-city"',
        'SELECT * FROM "orders"."by-rank" WHERE rank = 7',
        "SELECT tenant, id FROM orders WHERE secret > ''",
        "select * from orders where TENANT = 'alice'",  # another attribute: names have a case
        "SELECT * FROM ORDERS WHERE tenant = 'alice'",  # another table
    ],
)
def test_a_select_of_more_than_the_own_partition_is_denied(house: House, caller: str, statement: str) -> None:
    person = house.people[caller]
    assert_denied(person.ask("ExecuteStatement", {"Statement": statement}))
    assert_denied(
        person.ask("ExecuteStatement", {"Statement": statement, "ConsistentRead": True, "Limit": 1})
    )
    (answer,) = person.ask("BatchExecuteStatement", {"Statements": [{"Statement": statement}]}).body[
        "Responses"
    ]
    assert answer["Error"]["Code"] == "AccessDenied"
    assert "Item" not in answer


def test_a_batch_of_statements_does_all_but_the_foreign_one(house: House, caller: str) -> None:
    texts = [
        f"INSERT INTO orders VALUE {{'tenant': 'alice', 'id': 'batch-{len(caller)}-{n}'}}" for n in range(25)
    ]
    texts[13] = "INSERT INTO orders VALUE {'tenant': 'bob', 'id': 'batch'}"
    answers = house.people[caller].ask(
        "BatchExecuteStatement", {"Statements": [{"Statement": text} for text in texts]}
    )
    codes = [answer.get("Error", {}).get("Code") for answer in answers.body["Responses"]]
    assert codes == [None] * 13 + ["AccessDenied"] + [None] * 11
    key = {"tenant": {"S": "bob"}, "id": {"S": "batch"}}
    assert "Item" not in house.must("GetItem", TableName=TABLE, Key=key)


@pytest.mark.parametrize("index_name", [None, "by-city", "by-tenant-city", "by-rank"])
def test_there_is_no_scan(house: House, caller: str, index_name: str | None) -> None:
    request: dict[str, Any] = {"TableName": TABLE} | ({} if index_name is None else {"IndexName": index_name})
    legacy = {"tenant": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "alice"}]}}
    for more in ({}, {"ScanFilter": legacy}, {"Segment": 0, "TotalSegments": 2}, {"Select": "COUNT"}):
        assert_denied(house.people[caller].ask("Scan", {**request, **more}))


def test_an_index_with_another_hash_key_is_no_way_round(house: House, caller: str) -> None:
    request = {"TableName": TABLE, "IndexName": "by-city", "KeyConditionExpression": "city = :c"}
    assert_denied(house.people[caller].ask("Query", {**request, **_texts(c="Rome")}))


def test_a_query_goes_on_in_its_own_partition_only(house: House, caller: str) -> None:
    request = {"TableName": TABLE, "KeyConditionExpression": "tenant = :t", **_texts(t="alice")}
    for key in (
        key_of("bob"),
        {**key_of("bob"), "rank": {"N": "7"}},
        {"tenant": {"S": "aaa"}, "id": {"S": "1"}},
    ):
        for index_name in ({}, {"IndexName": "by-rank"}, {"IndexName": "by-tenant-city"}):
            asked = {**request, **index_name, "ExclusiveStartKey": key}
            reply = house.people[caller].ask("Query", asked)
            items = reply.body.get("Items", [])
            assert all(item["tenant"] == {"S": "alice"} for item in items)
            assert f'"{CANARY}"'.encode() not in reply.raw


def test_an_item_is_not_moved_to_the_other_partition(house: House, caller: str) -> None:
    person = house.people[caller]
    moves: list[Request] = [
        (
            "UpdateItem",
            {
                "TableName": TABLE,
                "Key": key_of("alice"),
                "UpdateExpression": "SET tenant = :t",
                **_texts(t="bob"),
            },
        ),
        (
            "UpdateItem",
            {
                "TableName": TABLE,
                "Key": key_of("alice"),
                "AttributeUpdates": {"tenant": {"Value": {"S": "bob"}, "Action": "PUT"}},
            },
        ),
        (
            "ExecuteStatement",
            {"Statement": "UPDATE orders SET tenant = 'bob' WHERE tenant = 'alice' AND id = '1'"},
        ),
    ]
    for operation, request in moves:
        reply = person.ask(operation, request)
        assert reply.error in {DENIED, "ValidationException"}, reply.raw
    assert house.must("GetItem", TableName=TABLE, Key=key_of("alice"))["Item"] == item_of("alice")


def test_a_condition_that_fails_shows_own_items_only(house: House, caller: str) -> None:
    condition = {
        "ConditionExpression": "attribute_not_exists(id)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    person = house.people[caller]
    own = person.ask("PutItem", {"TableName": TABLE, "Item": key_of("alice"), **condition})
    assert own.error == "ConditionalCheckFailedException"
    assert own.body["Item"] == item_of("alice")
    assert_denied(person.ask("PutItem", {"TableName": TABLE, "Item": key_of("bob"), **condition}))
    assert_denied(person.ask("DeleteItem", {"TableName": TABLE, "Key": key_of("bob"), **condition}))


def test_a_denial_says_nothing_of_the_request(house: House, caller: str) -> None:
    body = house.people[caller].ask("GetItem", {"TableName": TABLE, "Key": key_of("bob")}).body
    assert body["__type"] == "com.amazon.coral.service#AccessDeniedException"
    message = body.get("Message") or body.get("message")
    assert message.endswith(
        f"is not authorized to perform: dynamodb:GetItem on resource: {TABLES}/{TABLE} because no "
        "identity-based policy allows the dynamodb:GetItem action"
    )
    assert "bob" not in json.dumps(body)
