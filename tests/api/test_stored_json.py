"""However an item is written, its stored JSON is what `orjson` makes of it: filters search for such bytes."""

from typing import Any

import orjson

from clocked import Clocked
from hashrange.core import items
from hashrange.storage import layout
from new_tables import request as new_table

ITEM: Any = {
    "a": {"S": 'é\n"\\/\u2028\x7f\x00 <&>'},
    "n": {"N": "1.50e1"},
    "b": {"B": "AAE="},
    "l": {"L": [{"M": {"x": {"BOOL": False}, "y": {"NULL": True}}}, {"NS": ["2", "10", "1"]}]},
    "ü": {"SS": ["b", "a"]},
}


BY_A = {
    "IndexName": "by-a",
    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}


def test_stored_json_is_canonical_whoever_writes_it() -> None:
    service = Clocked()
    service.call(
        "CreateTable", **new_table("pk", types={"a": "S"}, TableName="items", GlobalSecondaryIndexes=[BY_A])
    )
    service.settle()
    key = {"pk": {"S": "update"}}
    service.call("PutItem", TableName="items", Item={"pk": {"S": "put"}, **ITEM})
    service.call(
        "BatchWriteItem", RequestItems={"items": [{"PutRequest": {"Item": {"pk": {"S": "batch"}, **ITEM}}}]}
    )
    service.call(
        "TransactWriteItems",
        TransactItems=[{"Put": {"TableName": "items", "Item": {"pk": {"S": "t"}, **ITEM}}}],
    )
    service.call(
        "UpdateItem",
        TableName="items",
        Key=key,
        UpdateExpression="SET a = :a, n = :n, l = :l ADD #u :u",
        ExpressionAttributeNames={"#u": "ü"},
        ExpressionAttributeValues={":a": ITEM["a"], ":n": ITEM["n"], ":l": ITEM["l"], ":u": ITEM["ü"]},
    )
    service.call(
        "ExecuteStatement",
        Statement="INSERT INTO items VALUE {'pk': 'partiql', 'a': ?, 'n': 15.0}",
        Parameters=[ITEM["a"]],
    )
    rows = service.engine.read(
        lambda reader: [value for _, value in reader.scan(layout.ROWS, layout.ROWS + b"\xff" * 9)]
    )
    texts = list(map(items.stored_json, rows))
    assert len(texts) == 10
    assert [orjson.dumps(orjson.loads(text)) for text in texts] == texts
    assert sum(b'"n":{"N":"15"}' in text for text in texts) == 10
