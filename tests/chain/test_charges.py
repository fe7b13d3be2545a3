"""Charges: what a request consumed by table, index and key, which is what the client is told if it asks."""

from collections import Counter
from typing import Any

import orjson
import pytest

from clocked import Clocked
from hashrange.api.results import Charge, Result
from hashrange.chain.executor import Call
from hashrange.core import partitions
from hashrange.core.keys import primary_key
from hashrange.core.schema import Table, changed
from hashrange.storage import catalogue, layout
from item_tables import index
from new_tables import request as new_table
from wire_units import Units, reported

Item = dict[str, Any]
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/plain"


def item(pk: str, size: int = 10, **more: Any) -> Item:
    return {"pk": {"S": pk}, "v": {"S": "x" * size}, **more}


def row(pk: str, sk: str, size: int = 10, **more: Any) -> Item:
    return {**item(pk, size, **more), "sk": {"S": sk}}


def filled() -> Clocked:
    """Tables with and without indexes, and some items of several sizes."""
    service = Clocked()
    service.call("CreateTable", **new_table("pk", TableName="plain"))
    service.call(
        "CreateTable",
        **new_table(
            "pk",
            "sk",
            types={"l": "S", "g": "S"},
            TableName="indexed",
            LocalSecondaryIndexes=[index("local", "pk", "l", projection="KEYS_ONLY")],
            GlobalSecondaryIndexes=[index("global", "g"), index("keys", "g", projection="KEYS_ONLY")],
        ),
    )
    service.settle()
    for number in range(40):
        service.call("PutItem", TableName="plain", Item=item(str(number), 300 * number))
    for number in range(8):
        more = {"l": {"S": str(number)}, "g": {"S": "g"}}
        service.call("PutItem", TableName="indexed", Item=row("a", str(number), 700 * number, **more))
    return service


def table_of(service: Clocked, name: str) -> Table:
    table = service.catalogue.find("000000000000", "us-east-1", name)
    assert table is not None
    return table


def key(service: Clocked, name: str, **key_item: str) -> bytes:
    table = table_of(service, name)
    return primary_key.of_key(table, {attribute: {"S": value} for attribute, value in key_item.items()})


def shown(charge: Charge) -> tuple[Any, ...]:
    index_name = None if charge.index is None else charge.index.name
    return charge.table.name, index_name, charge.key, charge.units, charge.write


def by_place(charges: list[Charge]) -> Units:
    """Units by table and index."""
    units: Counter[tuple[str, str | None]] = Counter()
    for charge in charges:
        units[charge.table.name, None if charge.index is None else charge.index.name] += charge.units  # type: ignore[assignment]
    return {place: float(count) for place, count in units.items() if count}


A = {"pk": {"S": "a"}, "sk": {"S": "3"}}
GONE = {"pk": {"S": "a"}, "sk": {"S": "gone"}}
MOVED = row("a", "3", 5000, l={"S": "9"}, g={"S": "h"})
BIG = item("39", 9000)
BATCH = {
    "plain": [{"PutRequest": {"Item": BIG}}, {"DeleteRequest": {"Key": {"pk": {"S": "20"}}}}],
    "indexed": [{"PutRequest": {"Item": MOVED}}, {"DeleteRequest": {"Key": GONE}}],
}
TRANSACTION = [
    {"Put": {"TableName": "plain", "Item": BIG}},
    {"Update": {"TableName": "indexed", "Key": A, "UpdateExpression": "REMOVE g"}},
    {"Delete": {"TableName": "indexed", "Key": GONE}},
    {
        "ConditionCheck": {
            "TableName": "plain",
            "Key": {"pk": {"S": "30"}},
            "ConditionExpression": "attribute_exists(pk)",
        }
    },
]
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "get": ("GetItem", {"TableName": "plain", "Key": {"pk": {"S": "39"}}}),
    "get consistently": (
        "GetItem",
        {"TableName": "plain", "Key": {"pk": {"S": "39"}}, "ConsistentRead": True},
    ),
    "get nothing": ("GetItem", {"TableName": "plain", "Key": {"pk": {"S": "none"}}}),
    "get by ARN": ("GetItem", {"TableName": ARN, "Key": {"pk": {"S": "39"}}}),
    "get a part": (
        "GetItem",
        {"TableName": "plain", "Key": {"pk": {"S": "39"}}, "ProjectionExpression": "pk"},
    ),
    "query": ("Query", {"TableName": "indexed", "KeyConditionExpression": "pk = :p"}),
    "query one": ("Query", {"TableName": "indexed", "KeyConditionExpression": "pk = :p AND sk = :s"}),
    "query nothing": ("Query", {"TableName": "indexed", "KeyConditionExpression": "pk = :s AND sk = :s"}),
    "query and filter": (
        "Query",
        {
            "TableName": "indexed",
            "KeyConditionExpression": "pk = :p",
            "FilterExpression": "size(v) > :n",
            "Limit": 3,
        },
    ),
    "query a local index": (
        "Query",
        {"TableName": "indexed", "IndexName": "local", "KeyConditionExpression": "pk = :p"},
    ),
    "query a local index and fetch": (
        "Query",
        {
            "TableName": "indexed",
            "IndexName": "local",
            "KeyConditionExpression": "pk = :p",
            "Select": "ALL_ATTRIBUTES",
            "ConsistentRead": True,
        },
    ),
    "scan a local index and fetch": (
        "Scan",
        {"TableName": "indexed", "IndexName": "local", "Select": "ALL_ATTRIBUTES", "ConsistentRead": True},
    ),
    "query a global index": (
        "Query",
        {"TableName": "indexed", "IndexName": "global", "KeyConditionExpression": "g = :g"},
    ),
    "scan": ("Scan", {"TableName": "plain"}),
    "scan consistently": ("Scan", {"TableName": "plain", "ConsistentRead": True}),
    "scan some": ("Scan", {"TableName": "plain", "Limit": 7}),
    "scan a segment": ("Scan", {"TableName": "plain", "Segment": 1, "TotalSegments": 3}),
    "scan an index": ("Scan", {"TableName": "indexed", "IndexName": "keys", "Select": "COUNT"}),
    "put": ("PutItem", {"TableName": "plain", "Item": BIG}),
    "put into indexes": ("PutItem", {"TableName": "indexed", "Item": MOVED}),
    "put the same": (
        "PutItem",
        {"TableName": "indexed", "Item": row("a", "3", 2100, l={"S": "3"}, g={"S": "g"})},
    ),
    "update": (
        "UpdateItem",
        {"TableName": "indexed", "Key": A, "UpdateExpression": "SET g = :g REMOVE l"},
    ),
    "update what was not there": (
        "UpdateItem",
        {"TableName": "indexed", "Key": GONE, "UpdateExpression": "SET g = :g"},
    ),
    "delete": ("DeleteItem", {"TableName": "indexed", "Key": A}),
    "delete nothing": ("DeleteItem", {"TableName": "indexed", "Key": GONE}),
    "batch of reads": (
        "BatchGetItem",
        {
            "RequestItems": {
                "plain": {"Keys": [{"pk": {"S": "39"}}, {"pk": {"S": "none"}}], "ConsistentRead": True},
                "indexed": {"Keys": [A, GONE]},
            }
        },
    ),
    "batch of writes": ("BatchWriteItem", {"RequestItems": BATCH}),
    "transaction of reads": (
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "plain", "Key": {"pk": {"S": "39"}}}},
                {"Get": {"TableName": "indexed", "Key": A}},
                {"Get": {"TableName": "indexed", "Key": GONE}},
            ]
        },
    ),
    "transaction of writes": ("TransactWriteItems", {"TransactItems": TRANSACTION}),
    "select": ("ExecuteStatement", {"Statement": "SELECT * FROM plain WHERE pk = '39'"}),
    "select all": ("ExecuteStatement", {"Statement": "SELECT * FROM plain"}),
    "select from an index": (
        "ExecuteStatement",
        {"Statement": """SELECT * FROM "indexed"."local" WHERE pk = 'a' AND l IN ('1', '5')"""},
    ),
    "insert": ("ExecuteStatement", {"Statement": "INSERT INTO plain VALUE {'pk': 'new', 'v': 'x'}"}),
    "statement that updates": (
        "ExecuteStatement",
        {"Statement": "UPDATE indexed SET g = 'h' WHERE pk = 'a' AND sk = '3'"},
    ),
    "statements that read": (
        "BatchExecuteStatement",
        {
            "Statements": [
                {"Statement": "SELECT * FROM plain WHERE pk = '39'", "ConsistentRead": True},
                {"Statement": "SELECT * FROM indexed WHERE pk = 'a' AND sk = '7'"},
                {"Statement": "SELECT * FROM missing WHERE pk = 'a'"},
            ]
        },
    ),
    "statements that write": (
        "BatchExecuteStatement",
        {
            "Statements": [
                {"Statement": "INSERT INTO plain VALUE {'pk': 'new'}"},
                {"Statement": "INSERT INTO plain VALUE {'pk': '39'}"},
                {"Statement": "DELETE FROM indexed WHERE pk = 'a' AND sk = '3'"},
            ]
        },
    ),
    "transaction of selects": (
        "ExecuteTransaction",
        {"TransactStatements": [{"Statement": "SELECT * FROM plain WHERE pk = '39'"}]},
    ),
    "transaction of statements": (
        "ExecuteTransaction",
        {
            "TransactStatements": [
                {"Statement": "INSERT INTO plain VALUE {'pk': 'new'}"},
                {"Statement": "UPDATE indexed SET g = 'h' WHERE pk = 'a' AND sk = '3'"},
            ]
        },
    ),
}
FAILED_UNITS = {"statements that write": 12.0}  # of a statement that ran and failed: in the total only
VALUES = {":p": {"S": "a"}, ":s": {"S": "3"}, ":g": {"S": "g"}, ":n": {"N": "1000"}}


def sent(name: str) -> tuple[str, dict[str, Any]]:
    """An operation and its request, with the values that its expressions use."""
    operation, request = REQUESTS[name]
    texts = " ".join(str(value) for member, value in request.items() if member.endswith("Expression"))
    used = {name: value for name, value in VALUES.items() if name in texts.replace(")", " ").split()}
    return operation, request | ({"ExpressionAttributeValues": used} if used else {})


def charged(service: Clocked, operation: str, **request: Any) -> tuple[Call, Result, list[Charge]]:
    call, result = service.run(operation, **request)
    return call, result, list(result.charges())


@pytest.mark.parametrize("name", REQUESTS)
def test_the_client_is_told_the_sum_of_the_charges(name: str) -> None:
    operation, request = sent(name)
    _, _, unasked = charged(filled(), operation, **request)
    for mode in ("TOTAL", "INDEXES"):
        call, result, charges = charged(filled(), operation, **request, ReturnConsumedCapacity=mode)
        assert list(map(shown, charges)) == list(map(shown, unasked))
        body = reported(call, result)
        assert body.total == sum(charge.units for charge in charges) > 0
        if mode == "INDEXES":
            failed = FAILED_UNITS.get(name, 0.0)
            assert body.places == {
                place: units - (failed if place == ("plain", None) else 0.0)
                for place, units in by_place(charges).items()
            }


@pytest.mark.parametrize("name", REQUESTS)
def test_every_charge_has_a_place(name: str) -> None:
    operation, request = sent(name)
    service = filled()
    _, _, charges = charged(service, operation, **request)
    kind = "read" if operation in ("Query", "Scan") or "Get" in operation or "elect" in name else "write"
    reading = kind == "read" or name == "statements that read"
    assert charges
    for charge in charges:
        assert charge.write is not reading
        assert charge.table is table_of(service, charge.table.name)
        assert charge.index is None or charge.index in charge.table.indexes


def written_keys(service: Clocked) -> dict[str, bytes]:
    return {
        "39": key(service, "plain", pk="39"),
        "20": key(service, "plain", pk="20"),
        "30": key(service, "plain", pk="30"),
        "none": key(service, "plain", pk="none"),
        "A": key(service, "indexed", pk="a", sk="3"),
        "GONE": key(service, "indexed", pk="a", sk="gone"),
    }


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("get", ["39"]),
        ("get nothing", ["none"]),
        ("get by ARN", ["39"]),
        ("query one", ["A"]),
        ("put", ["39"]),
        ("put into indexes", ["A"]),
        ("update what was not there", ["GONE"]),
        ("delete nothing", ["GONE"]),
        ("batch of reads", ["39", "none", "A", "GONE"]),
        ("batch of writes", ["39", "20", "A", "GONE"]),
        ("transaction of reads", ["39", "A", "GONE"]),
        ("transaction of writes", ["39", "A", "GONE", "30"]),
        ("select", ["39"]),
        ("statement that updates", ["A"]),
        ("transaction of selects", ["39"]),
    ],
)
def test_the_keys_are_those_of_the_items(name: str, keys: list[str]) -> None:
    service = filled()
    operation, request = sent(name)
    _, _, charges = charged(service, operation, **request)
    of_items = written_keys(service)
    assert [charge.key for charge in charges if charge.index is None] == [of_items[key] for key in keys]


@pytest.mark.parametrize("name", ["put into indexes", "batch of writes", "update what was not there"])
def test_the_keys_of_index_rows_are_where_the_rows_are(name: str) -> None:
    service = filled()
    operation, request = sent(name)
    _, _, charges = charged(service, operation, **request)
    rows = [
        layout.rows_prefix(charge.table.number, charge.index.slot) + charge.key
        for charge in charges
        if charge.index is not None
    ]
    assert len(rows) >= 2
    stored = service.engine.read(lambda reader: [reader.get(row) for row in rows])
    assert None not in stored


def test_the_keys_of_removed_index_rows_are_where_the_rows_were() -> None:
    service = filled()
    before = dict(service.engine.read(lambda reader: list(reader.scan(b"", b"\xff" * 9))))
    _, _, charges = charged(service, "DeleteItem", TableName="indexed", Key=A)
    removed = [charge for charge in charges if charge.index is not None]
    assert len(removed) == 3
    for charge in removed:
        assert charge.index is not None
        assert layout.rows_prefix(charge.table.number, charge.index.slot) + charge.key in before


@pytest.mark.parametrize("name", ["scan", "scan an index", "select all"])
def test_a_scan_is_charged_to_each_partition_it_visits(name: str) -> None:
    service = filled()
    operation, request = sent(name)
    _, _, charges = charged(service, operation, **request)
    table, index_ = charges[0].table, charges[0].index
    owned = partitions.of(table, index_)
    assert len(owned) == len(charges) == 4
    assert sorted(partitions.number_of(owned, charge.key) for charge in charges) == [0, 1, 2, 3]


def test_a_page_with_a_limit_is_charged_to_the_partitions_up_to_its_end() -> None:
    service = filled()
    owned = table_of(service, "plain").partitions
    _, _, whole = charged(service, "Scan", TableName="plain")
    pages: list[list[Charge]] = []
    start: dict[str, Any] = {}
    while True:
        call, result, charges = charged(service, "Scan", TableName="plain", Limit=7, **start)
        pages.append(charges)
        answer = orjson.loads(reported(call, result).body)
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    visited = [partitions.number_of(owned, charge.key) for page in pages for charge in page]
    assert visited == sorted(visited)
    assert set(visited) == {0, 1, 2, 3}
    assert len(whole) <= len(visited)


@pytest.mark.parametrize("name", ["query a local index and fetch", "scan a local index and fetch"])
def test_fetched_items_are_charged_to_the_table_each_by_itself(name: str) -> None:
    operation, request = sent(name)
    service = filled()
    _, _, charges = charged(service, operation, **request)
    fetched = {charge.key: charge.units for charge in charges if charge.index is None}
    keys = [key(service, "indexed", pk="a", sk=str(number)) for number in range(8)]
    assert fetched == dict(zip(keys, [1.0] * 6 + [2.0] * 2, strict=True))


def test_transactions_cost_the_table_twice_and_its_indexes_once() -> None:
    single = by_place(charged(filled(), "PutItem", TableName="indexed", Item=MOVED)[2])
    put = {"Put": {"TableName": "indexed", "Item": MOVED}}
    double = by_place(charged(filled(), "TransactWriteItems", TransactItems=[put])[2])
    assert double.pop(("indexed", None)) == 2 * single.pop(("indexed", None))
    assert double == single
    got = {"Get": {"TableName": "plain", "Key": {"pk": {"S": "39"}}}}
    (read,) = charged(filled(), "TransactGetItems", TransactItems=[got])[2]
    (alone,) = charged(filled(), "GetItem", **got["Get"], ConsistentRead=True)[2]
    assert read.units == 2 * alone.units


@pytest.mark.parametrize("name", ["transaction of writes", "transaction of statements"])
def test_a_token_that_is_known_is_charged_as_reads(name: str) -> None:
    operation, request = sent(name)
    service = filled()
    _, _, written = charged(service, operation, **request, ClientRequestToken="token")
    call, result, read = charged(
        service, operation, **request, ClientRequestToken="token", ReturnConsumedCapacity="INDEXES"
    )
    assert [(charge.key, charge.write) for charge in read] == [
        (charge.key, False) for charge in written if charge.index is None
    ]
    body = reported(call, result)
    assert body.total == sum(charge.units for charge in read) > 0
    assert body.places == by_place(read)


def test_control_operations_are_charged_nothing() -> None:
    service = filled()
    for operation in ("DescribeTable", "ListTables", "DescribeLimits"):
        request = {"TableName": "plain"} if operation == "DescribeTable" else {}
        assert charged(service, operation, **request)[2] == []


def test_pages_of_a_collection_that_was_split_are_charged_to_the_partitions_they_begin_in() -> None:
    service = Clocked()
    service.call("CreateTable", **new_table("pk", "sk", TableName="hot"))
    service.settle()
    for number in range(8):
        service.call("PutItem", TableName="hot", Item=row("a", str(number)))
    table = table_of(service, "hot")
    middle = primary_key.of_key(table, {"pk": {"S": "a"}, "sk": {"S": "4"}})
    divided = changed(
        table, version=table.version + 1, partitions=partitions.split_at(table.partitions, middle)
    )
    service.engine.write(lambda tx: catalogue.save(tx, divided, service.clock.now()))
    service.catalogue.refresh(*catalogue.address(table))
    home = partitions.number_of(divided.partitions, middle)
    values = {":p": {"S": "a"}}
    query = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": values, "Limit": 4}
    after = {"ExclusiveStartKey": {"pk": {"S": "a"}, "sk": {"S": "5"}}}
    backwards = {"ScanIndexForward": False}
    for start, expected in (({}, home - 1), (after, home), (backwards, home)):
        _, _, (charge,) = charged(service, "Query", TableName="hot", **query, **start)
        assert partitions.number_of(divided.partitions, charge.key) == expected
