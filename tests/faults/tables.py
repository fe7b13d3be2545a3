"""The tables under load, with every kind of index, and the checks that must hold whatever happened to them."""

import time
from typing import Any

import orjson

from faults.line import Line
from hashrange.core.items import item_size

FACTS = "facts"
NOTES = "notes"
Item = dict[str, Any]
Key = tuple[str, str, str]  # table, partition key, sort key ("" where there is none)


def _schema(*names: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def _index(name: str, projection: Any, *names: str) -> dict[str, Any]:
    chosen = {"ProjectionType": projection} if isinstance(projection, str) else projection
    return {"IndexName": name, "KeySchema": _schema(*names), "Projection": chosen}


DEFINITIONS: list[dict[str, Any]] = [
    {
        "TableName": FACTS,
        "KeySchema": _schema("pk", "sk"),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in {"pk": "S", "sk": "N", "group": "S", "version": "N", "rank": "N"}.items()
        ],
        "LocalSecondaryIndexes": [_index("by-rank", "KEYS_ONLY", "pk", "rank")],
        "GlobalSecondaryIndexes": [
            _index("by-group", "ALL", "group", "version"),
            _index("brief", {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["text"]}, "group"),
        ],
        "BillingMode": "PAY_PER_REQUEST",
    },
    {
        "TableName": NOTES,
        "KeySchema": _schema("pk"),
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "group", "AttributeType": "S"},
        ],
        "GlobalSecondaryIndexes": [_index("by-group", "KEYS_ONLY", "group", "pk")],
        "BillingMode": "PAY_PER_REQUEST",
    },
]


def create(line: Line) -> None:
    """Create both tables and wait for them."""
    for definition in DEFINITIONS:
        line.call("CreateTable", definition)
    for definition in DEFINITIONS:
        await_active(line, definition["TableName"])


def await_active(line: Line, table: str, *, seconds: float = 120) -> dict[str, Any]:
    """Wait for a table and its indexes; give the description."""
    deadline = time.monotonic() + seconds
    while True:
        described: dict[str, Any] = line.call("DescribeTable", {"TableName": table})["Table"]
        indexes = described.get("GlobalSecondaryIndexes", [])
        if described["TableStatus"] == "ACTIVE" and all(i["IndexStatus"] == "ACTIVE" for i in indexes):
            return described
        assert time.monotonic() < deadline, described
        time.sleep(0.02)


def key_of(table: str, item: Item) -> Key:
    """Where an item lives."""
    return table, item["pk"]["S"], item.get("sk", {}).get("N", "") if table == FACTS else ""


def wire_key(key: Key) -> Item:
    """The key as requests carry it."""
    table, partition, sort = key
    return {"pk": {"S": partition}, **({"sk": {"N": sort}} if table == FACTS else {})}


def check_table(line: Line, table: str) -> list[Item]:
    """Check that indexes and counters say exactly what the items say; give the items."""
    items = line.everything({"TableName": table})
    described = line.call("DescribeTable", {"TableName": table})["Table"]
    assert described["ItemCount"] == len(items)
    assert described["TableSizeBytes"] == sum(map(item_size, items))
    keys = {element["AttributeName"] for element in described["KeySchema"]}
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index in described.get(kind, []):
            if index.get("IndexStatus", "ACTIVE") == "ACTIVE":
                _check_index(line, table, items, keys, index)
    return items


def _check_index(line: Line, table: str, items: list[Item], keys: set[str], index: dict[str, Any]) -> None:
    own = {element["AttributeName"] for element in index["KeySchema"]}
    projection = index["Projection"]
    names = keys | own | set(projection.get("NonKeyAttributes", []))
    whole = projection["ProjectionType"] == "ALL"
    expected = [
        {name: value for name, value in item.items() if whole or name in names}
        for item in items
        if own <= item.keys()
    ]
    found = line.everything({"TableName": table, "IndexName": index["IndexName"]})
    where = f"{table}/{index['IndexName']}"
    assert sorted(map(_bytes, found)) == sorted(map(_bytes, expected)), where
    assert index["ItemCount"] == len(expected), where
    assert index["IndexSizeBytes"] == sum(map(item_size, expected)), where


def everything(line: Line) -> list[tuple[str, Item]]:
    """All items of both tables, which are checked on the way."""
    return [(table, item) for table in (FACTS, NOTES) for item in check_table(line, table)]


def _bytes(item: Item) -> bytes:
    return orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
