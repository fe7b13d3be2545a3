"""Names and values that other programs choke on: zero bytes, halves of characters, deep nesting."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from serving import Answer

Request = tuple[str, dict[str, Any]]
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/hostile"
HALF = "<half>"  # stands for half of a surrogate pair, which no Python string may hold
ZERO = "a\0b"
KEY = {"pk": {"S": "k"}}
PATHS = {
    "TableName": "hostile",
    "KeyConditionExpression": "pk = :k",
    "ExpressionAttributeValues": {":k": {"S": "k"}},
}


def deep(levels: int, *, as_list: bool) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]} if as_list else {"M": {"a": value}}
    return value


ODD_VALUES: dict[str, dict[str, Any]] = {
    "zero byte": {"S": ZERO},
    "zero byte in a map's key": {"M": {ZERO: {"S": "x"}}},
    "zero bytes further in": {"M": {"\0": {"M": {ZERO: {"L": [{"SS": [ZERO, "\0"]}]}}}}},
    "half a character": {"S": HALF},
    "half a character in a map's key": {"M": {HALF: {"S": "x"}}},
    "half a character in a set": {"SS": [HALF, ZERO]},
    "no number": {"N": ZERO},
    "no numbers": {"NS": [ZERO]},
    "no binary": {"B": ZERO},
    "no binaries": {"BS": [HALF]},
    "no boolean": {"BOOL": ZERO},
    "no null": {"NULL": HALF},
    "no type": {ZERO: "x"},
    "half a type": {HALF: "x"},
}
VALUES = ODD_VALUES | {
    f"{levels} {'lists' if as_list else 'maps'}": deep(levels, as_list=as_list)
    for levels in (31, 32, 33, 62, 63, 64, 127, 128, 129, 130, 131, 254, 255, 256)
    for as_list in (False, True)
}


def single_requests(value: dict[str, Any]) -> Iterator[Request]:
    key, item, values = {"pk": value}, {"pk": {"S": "k"}, "v": value}, {":v": value}
    table = {"TableName": "hostile"}
    legacy = {"ComparisonOperator": "EQ", "AttributeValueList": [value]}
    yield "GetItem", {**table, "Key": key}
    yield "DeleteItem", {**table, "Key": key}
    yield "PutItem", {**table, "Item": item}
    yield "PutItem", {**table, "Item": key}
    yield "PutItem", {**table, "Item": KEY, "Expected": {"a": {"Value": value}}}
    yield "PutItem", {**table, "Item": KEY, "Expected": {"a": legacy}}
    yield "PutItem", {
        **table, "Item": KEY, "ConditionExpression": "a = :v", "ExpressionAttributeValues": values
    }  # fmt: skip
    for keyed in (key, KEY):
        yield "UpdateItem", {
            **table, "Key": keyed, "UpdateExpression": "SET a = :v", "ExpressionAttributeValues": values
        }  # fmt: skip
    yield "UpdateItem", {**table, "Key": KEY, "AttributeUpdates": {"a": {"Action": "PUT", "Value": value}}}
    yield "Query", {**table, "KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": values}
    yield "Query", {**table, "KeyConditions": {"pk": legacy}}
    yield "Query", {**PATHS, "ExclusiveStartKey": key}
    yield "Scan", {**table, "FilterExpression": "a = :v", "ExpressionAttributeValues": values}
    yield "Scan", {**table, "ScanFilter": {"a": legacy}}
    yield "Scan", {**table, "ExclusiveStartKey": key}


def several_requests(value: dict[str, Any]) -> Iterator[Request]:
    key, item, values = {"pk": value}, {"pk": {"S": "k"}, "v": value}, {":v": value}
    table = {"TableName": "hostile"}
    for keys in ([key], [key, key]):
        yield "BatchGetItem", {"RequestItems": {"hostile": {"Keys": keys}}}
    for write in (
        {"PutRequest": {"Item": item}},
        {"PutRequest": {"Item": key}},
        {"DeleteRequest": {"Key": key}},
    ):
        yield "BatchWriteItem", {"RequestItems": {"hostile": [write]}}
    condition = {"ConditionExpression": "a = :v", "ExpressionAttributeValues": values}
    update = {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": values}
    for action in (
        {"Put": {**table, "Item": item}},
        {"Delete": {**table, "Key": key}},
        {"ConditionCheck": {**table, "Key": key, **condition}},
        {"Update": {**table, "Key": KEY, **update}},
    ):
        yield "TransactWriteItems", {"TransactItems": [action]}
    yield "TransactGetItems", {"TransactItems": [{"Get": {**table, "Key": key}}]}
    select = {"Statement": "SELECT * FROM hostile WHERE pk = ?", "Parameters": [value]}
    yield "ExecuteStatement", select
    yield "ExecuteStatement", {
        "Statement": "INSERT INTO hostile VALUE {'pk': 'k2', 'v': ?}", "Parameters": [value]
    }  # fmt: skip
    yield "ExecuteStatement", {"Statement": "UPDATE hostile SET v = ? WHERE pk = 'k'", "Parameters": [value]}
    yield "BatchExecuteStatement", {"Statements": [select]}
    yield "ExecuteTransaction", {"TransactStatements": [select]}


def named_in_items(name: str) -> Iterator[Request]:
    table = {"TableName": "hostile"}
    alias, values = {"#a": name}, {":v": {"S": "x"}}
    for keyed in (
        {"Key": {name: {"S": "x"}}},
        {"Key": KEY, "AttributesToGet": [name]},
        {"Key": KEY, "ProjectionExpression": name},
        {"Key": KEY, "ProjectionExpression": "#a", "ExpressionAttributeNames": alias},
        {"Key": KEY, "ProjectionExpression": "a", "ExpressionAttributeNames": {f"#{name}": "x"}},
    ):
        yield "GetItem", {**table, **keyed}
    yield "PutItem", {**table, "Item": {**KEY, name: {"S": "x"}}}
    for update in (
        {
            "UpdateExpression": "SET #a = :v",
            "ExpressionAttributeNames": alias,
            "ExpressionAttributeValues": values,
        },
        {"UpdateExpression": name},
        {"AttributeUpdates": {name: {"Action": "PUT", "Value": {"S": "x"}}}},
        {"AttributeUpdates": {"a": {"Action": name, "Value": {"S": "x"}}}},
    ):
        yield "UpdateItem", {**table, "Key": KEY, **update}
    yield "Query", {**PATHS, "IndexName": name}
    yield "Query", {**table, "KeyConditionExpression": name}
    yield "Scan", {**table, "Select": name}
    yield (
        "Scan",
        {**table, "FilterExpression": f"a = :{name}", "ExpressionAttributeValues": {f":{name}": {"S": "y"}}},
    )
    yield (
        "TransactWriteItems",
        {"ClientRequestToken": name, "TransactItems": [{"Put": {**table, "Item": KEY}}]},
    )
    for statement in (
        name,
        f"SELECT * FROM \"{name}\" WHERE pk = 'a'",
        f"SELECT \"{name}\" FROM hostile WHERE pk = '{name}'",
        f"INSERT INTO hostile VALUE {{'pk': 'k9', '{name}': 'x'}}",
    ):
        yield "ExecuteStatement", {"Statement": statement}
        yield "BatchExecuteStatement", {"Statements": [{"Statement": statement}]}
        yield (
            "ExecuteTransaction",
            {"ClientRequestToken": name, "TransactStatements": [{"Statement": statement}]},
        )
    yield "ExecuteStatement", {"Statement": "SELECT * FROM hostile", "NextToken": name}


def named_in_tables(name: str) -> Iterator[Request]:
    for operation in ("DescribeTable", "DeleteTable", "UpdateTable", "DescribeTimeToLive"):
        yield operation, {"TableName": name}
    yield "GetItem", {"TableName": name, "Key": KEY}
    yield "BatchGetItem", {"RequestItems": {name: {"Keys": [KEY]}}}
    yield "BatchWriteItem", {"RequestItems": {name: [{"DeleteRequest": {"Key": KEY}}]}}
    yield "TransactGetItems", {"TransactItems": [{"Get": {"TableName": name, "Key": KEY}}]}
    yield "CreateTable", created(name)
    yield "CreateTable", created("hostile-key", name)
    yield "PutItem", {"TableName": "hostile-key", "Item": {name: {"S": name}}}
    yield "Scan", {"TableName": "hostile-key"}
    yield "DeleteTable", {"TableName": "hostile-key"}
    yield "ListTables", {"ExclusiveStartTableName": name}
    for arn in (name, ARN):
        yield "TagResource", {"ResourceArn": arn, "Tags": [{"Key": name, "Value": name}]}
        yield "ListTagsOfResource", {"ResourceArn": arn}
        yield "UntagResource", {"ResourceArn": arn, "TagKeys": [name]}
    specification = {"AttributeName": name, "Enabled": True}
    yield "UpdateTimeToLive", {"TableName": "hostile", "TimeToLiveSpecification": specification}


def created(name: str, key: str = "pk") -> dict[str, Any]:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
    }


@pytest.fixture(scope="module")
def post(raw: Callable[..., Answer], client: Any) -> Iterator[Callable[[Request], Answer]]:
    """Send a request; the table `hostile` is there."""
    client.create_table(**created("hostile"))
    client.get_waiter("table_exists").wait(TableName="hostile")

    def send(request: Request) -> Answer:
        operation, body = request
        return raw(operation, json.dumps(body).replace(HALF, "\\ud800").encode())

    yield send
    client.delete_table(TableName="hostile")


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_values(post: Callable[[Request], Answer], value: dict[str, Any]) -> None:
    for requests in (single_requests(value), several_requests(value)):
        for request in requests:
            assert post(request).status in {200, 400}, request[0]


@pytest.mark.parametrize("name", [ZERO, "\0", HALF, "é\0", "\uffff", "\U0010ffff"], ids=ascii)
def test_names(post: Callable[[Request], Answer], name: str) -> None:
    for requests in (named_in_items(name), named_in_tables(name)):
        for request in requests:
            assert post(request).status in {200, 400}, request


def test_what_is_stored_with_zero_bytes_comes_back(client: Any, post: Callable[[Request], Answer]) -> None:
    item = {"pk": {"S": "k\0"}, ZERO: {"M": {"\0": {"SS": ["\0", ZERO]}}}}
    client.put_item(TableName="hostile", Item=item)
    assert client.get_item(TableName="hostile", Key={"pk": {"S": "k\0"}})["Item"] == item
    assert post(("GetItem", {"TableName": "hostile", "Key": {"pk": {"S": "k"}}})).status == 200
