"""Requests whose own values are looked at again and again, and writes that indexes multiply, for bench/stalls.py."""

from base64 import b64encode
from typing import Any

from stall_shapes import TABLE, Shape, item, key, named, put_into, schema, string_list

INDEXED = "stalls-indexed"
_INDEXES = 20
_OPERATORS = 150


def indexed_schema() -> dict[str, Any]:
    """A table that writes everything twenty-one times."""
    index = {
        "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    indexes = [{"IndexName": f"index-{number}", **index} for number in range(_INDEXES)]
    return {**schema(), "TableName": INDEXED, "GlobalSecondaryIndexes": indexes}


def _repeated(clause: str, joint: str = " OR ") -> str:
    return joint.join([clause] * _OPERATORS)


def _query(clause: str, **values: Any) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "KeyConditionExpression": "pk = :pk",
        "FilterExpression": _repeated(clause),
        "ExpressionAttributeValues": {":pk": {"S": "small"}, **{f":{name}": v for name, v in values.items()}},
    }


def _strings(count: int) -> dict[str, Any]:
    return {"L": [{"S": ""}] * count}


def _binary(size: int) -> dict[str, Any]:
    return {"B": b64encode(b"x" * size).decode()}


def _numbers(count: int) -> dict[str, Any]:
    return {"NS": [str(number) for number in range(count)]}


def _added(count: int) -> dict[str, Any]:
    """One set, added to many others: the row "holders" has them."""
    text = "ADD " + ",".join(f"s{number} :v" for number in range(count))
    return named("holders", UpdateExpression=text, ExpressionAttributeValues={":v": _numbers(5_000)})


def holders() -> bytes:
    """The row with many small sets."""
    return put_into(TABLE, item("holders", 0, **{f"s{n}": b'{"NS":["1"]}' for n in range(40)}))


def _dense_puts(count: int, elements: int) -> bytes:
    puts = b",".join(
        b'{"Put":{"TableName":"%b","Item":%b}}' % (INDEXED.encode(), item("t", n, l=string_list(elements)))
        for n in range(count)
    )
    return b'{"TransactItems":[' + puts + b"]}"


def _flat_puts() -> bytes:
    puts = b",".join(
        b'{"PutRequest":{"Item":%b}}' % item("b", n, t=b'{"S":"%b"}' % (b"x" * 390_000)) for n in range(25)
    )
    return b'{"RequestItems":{"%b":[' % INDEXED.encode() + puts + b"]}}"


SHAPES: tuple[Shape, ...] = (
    Shape(
        "Query, rows sought in a list of 3,000", "Query", lambda: _query("contains(:l, t)", l=_strings(3_000))
    ),
    Shape(
        "Query, two equal lists compared",
        "Query",
        lambda: _query(":l <> :m", l=_strings(1_500), m=_strings(1_500)),
    ),
    Shape("Query, a binary unpacked", "Query", lambda: _query("begins_with(b, :b)", b=_binary(20_000))),
    Shape("Query, two binaries unpacked", "Query", lambda: _query("contains(:b, :b)", b=_binary(20_000))),
    Shape("Query, sizes of a text", "Query", lambda: _query("n < size(:t)", t={"S": "é" * 15_000})),
    Shape(
        "UpdateItem, no item, a list looked through",
        "UpdateItem",
        lambda: named(
            "none",
            UpdateExpression="SET t = :l",
            ConditionExpression=_repeated("contains(:l, t)"),
            ExpressionAttributeValues={":l": _strings(3_000)},
        ),
    ),
    Shape("UpdateItem, a set added 30 times", "UpdateItem", lambda: _added(30)),
    Shape(
        "GetItem, quotes that never end",
        "GetItem",
        lambda: named("small", ProjectionExpression='\\"' * 1_950),
    ),
    Shape("PutItem, 20 indexes", "PutItem", lambda: put_into(INDEXED, item("d", 0, l=string_list(390_000)))),
    Shape("BatchWriteItem, 25 x 390 KB, 20 indexes", "BatchWriteItem", _flat_puts),
    Shape(
        "TransactWriteItems, 10 x 390 KB, 20 indexes", "TransactWriteItems", lambda: _dense_puts(10, 39_000)
    ),
    Shape(
        "DeleteItem, 20 indexes",
        "DeleteItem",
        lambda: {"TableName": INDEXED, "Key": key("d")},
    ),
    Shape(
        "ExecuteStatement, 4,000 signs",
        "ExecuteStatement",
        lambda: {"Statement": "SELECT * FROM stalls WHERE pk = " + "- " * 4_000 + "a"},
    ),
)
