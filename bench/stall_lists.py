"""Requests with the longest list or map in each place that takes one, for bench/stalls.py.

A body of 16 MB has room for hundreds of thousands of elements where an operation allows a hundred or fewer. Whatever
looks at them, to refuse them too, must do so in short pieces and in a time that grows no faster than they do. The
numbers are just below the limits of hashrange/wire/large_bodies.py, but for the first one.
"""

from typing import Any

from stall_shapes import TABLE, Shape, key, named, put, schema, string_list

_ARN = f"arn:aws:dynamodb:us-east-1:000000000000:table/{TABLE}"
_LONG_NAME = "n" * 4_000_000


def _numbered(count: int) -> list[str]:
    return [f"a{number}" for number in range(count)]


def _by_name(count: int, content: Any) -> dict[str, Any]:
    return dict.fromkeys(_numbered(count), content)


def _with_names(count: int) -> dict[str, Any]:
    names = {f"#{name}": "x" for name in _numbered(count)}
    return named("small", ProjectionExpression="#a0", ExpressionAttributeNames=names)


def _with_values(count: int) -> dict[str, Any]:
    values = {f":{name}": {"S": ""} for name in _numbered(count)}
    return named("small", UpdateExpression="SET t = :a0", ExpressionAttributeValues=values)


def _created(**members: Any) -> dict[str, Any]:
    return {**schema(), "TableName": "created", **members}


def _attribute_definitions(count: int) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in _numbered(count)]


def _indexes(count: int) -> list[dict[str, Any]]:
    return [
        {
            "IndexName": f"i-{name}",
            "KeySchema": [{"AttributeName": name, "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        for name in _numbered(count)
    ]


def _non_key_attributes(count: int) -> dict[str, Any]:
    index = {
        "IndexName": "index",
        "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": _numbered(count)},
    }
    return _created(GlobalSecondaryIndexes=[index])


def _conditions(count: int) -> dict[str, Any]:
    condition = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": ""}]}
    return _by_name(count, condition)


def _transact_items(count: int, **members: Any) -> dict[str, Any]:
    return {"TransactItems": [{"Delete": named("none")}] * count, **members}


def _transact_puts() -> bytes:
    """As many values as there may be, in a transaction whose token wants a fingerprint of all of them."""
    item = b'{"pk":{"S":"t"},"sk":{"N":"%d"},"l":' + string_list(9_000) + b"}"
    puts = b",".join(b'{"Put":{"TableName":"stalls","Item":' + item % number + b"}}" for number in range(50))
    return b'{"ClientRequestToken":"token","TransactItems":[' + puts + b"]}"


SHAPES: tuple[Shape, ...] = (
    Shape("900,000 names", "GetItem", lambda: _with_names(900_000)),
    Shape("155,000 names", "GetItem", lambda: _with_names(155_000)),
    Shape("155,000 values", "UpdateItem", lambda: _with_values(155_000)),
    Shape("155,000 AttributesToGet", "GetItem", lambda: named("small", AttributesToGet=_numbered(155_000))),
    Shape(
        "one of AttributesToGet 155,000 times",
        "GetItem",
        lambda: named("small", AttributesToGet=["t"] * 155_000),
    ),
    Shape(
        "a key of 155,000 attributes",
        "GetItem",
        lambda: {"TableName": TABLE, "Key": _by_name(155_000, {"S": ""})},
    ),
    Shape(
        "an item of 155,000 attributes",
        "PutItem",
        lambda: {"TableName": TABLE, "Item": key("new") | _by_name(155_000, {"S": ""})},
    ),
    Shape("a set of 440,000 strings", "PutItem", lambda: put(_set("SS", 440_000))),
    Shape("a set of 440,000 numbers", "PutItem", lambda: put(_set("NS", 440_000))),
    Shape(
        "a set of 440,000 equal strings", "PutItem", lambda: put(b'{"SS":["a"' + b',"a"' * 440_000 + b"]}")
    ),
    Shape(
        "a set of 440,000 binaries", "PutItem", lambda: put(b'{"BS":["AA=="' + b',"AAAA"' * 440_000 + b"]}")
    ),
    Shape(
        "155,000 Expected",
        "DeleteItem",
        lambda: named("small", Expected=_by_name(155_000, {"Exists": False})),
    ),
    Shape(
        "155,000 AttributeUpdates",
        "UpdateItem",
        lambda: named("small", AttributeUpdates=_by_name(155_000, {"Action": "DELETE"})),
    ),
    Shape(
        "75,000 KeyConditions", "Query", lambda: {"TableName": TABLE, "KeyConditions": _conditions(75_000)}
    ),
    Shape("75,000 ScanFilter", "Scan", lambda: {"TableName": TABLE, "ScanFilter": _conditions(75_000)}),
    Shape(
        "CreateTable, 16,000 attributes",
        "CreateTable",
        lambda: _created(AttributeDefinitions=_attribute_definitions(16_000)),
    ),
    Shape(
        "CreateTable, 16,000 key attributes",
        "CreateTable",
        lambda: _created(
            KeySchema=[{"AttributeName": name, "KeyType": "HASH"} for name in _numbered(16_000)]
        ),
    ),
    Shape(
        "CreateTable, 7,000 indexes",
        "CreateTable",
        lambda: _created(GlobalSecondaryIndexes=_indexes(7_000)),
    ),
    Shape("CreateTable, 49,000 projected", "CreateTable", lambda: _non_key_attributes(49_000)),
    Shape(
        "UpdateTable, 6,000 indexes",
        "UpdateTable",
        lambda: {
            "TableName": TABLE,
            "AttributeDefinitions": _attribute_definitions(1),
            "GlobalSecondaryIndexUpdates": [{"Create": index} for index in _indexes(6_000)],
        },
    ),
    Shape(
        "TagResource, 16,000 tags",
        "TagResource",
        lambda: {"ResourceArn": _ARN, "Tags": [{"Key": name, "Value": ""} for name in _numbered(16_000)]},
    ),
    Shape(
        "UntagResource, 49,000 tags",
        "UntagResource",
        lambda: {"ResourceArn": _ARN, "TagKeys": _numbered(49_000)},
    ),
    Shape(
        "BatchGetItem, 155,000 tables",
        "BatchGetItem",
        lambda: {"RequestItems": _by_name(155_000, {"Keys": [{}]})},
    ),
    Shape(
        "BatchGetItem, 155,000 keys of a long name",
        "BatchGetItem",
        lambda: {"RequestItems": {_LONG_NAME: {"Keys": [{}] * 155_000}}},
    ),
    Shape(
        "BatchWriteItem, 155,000 writes, long name",
        "BatchWriteItem",
        lambda: {"RequestItems": {_LONG_NAME: [{}] * 155_000}},
    ),
    Shape(
        "BatchWriteItem, 155,000 tables",
        "BatchWriteItem",
        lambda: {"RequestItems": _by_name(155_000, [{}])},
    ),
    Shape("TransactWriteItems, 50,000 actions", "TransactWriteItems", lambda: _transact_items(50_000)),
    Shape("TransactWriteItems, 450,000 values and a token", "TransactWriteItems", _transact_puts),
    Shape(
        "TransactGetItems, 155,000 actions",
        "TransactGetItems",
        lambda: {"TransactItems": [{}] * 155_000},
    ),
    Shape(
        "ExecuteStatement, 150,000 parameters",
        "ExecuteStatement",
        lambda: {"Statement": "SELECT * FROM stalls WHERE pk=?", "Parameters": [{"S": ""}] * 150_000},
    ),
    Shape(
        "BatchExecuteStatement, 150,000 statements",
        "BatchExecuteStatement",
        lambda: {"Statements": [{"Statement": "SELECT"}] * 150_000},
    ),
    Shape(
        "ExecuteTransaction, 150,000 statements",
        "ExecuteTransaction",
        lambda: {"TransactStatements": [{"Statement": "SELECT"}] * 150_000},
    ),
)


def _set(kind: str, count: int) -> bytes:
    members = b",".join(b'"%d"' % number for number in range(count, 0, -1))
    return b'{"%b":[%b]}' % (kind.encode(), members)
