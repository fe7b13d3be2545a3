"""Puts that are never decoded answer and store what decoded ones do, whatever is sent."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.api.items import sent_puts
from hashrange.api.protocol.plan import Write
from hashrange.api.registry import DYNAMODB
from hashrange.storage import layout
from new_tables import request as new_table
from still_server import StillServer, still_server

pytestmark = pytest.mark.skipif(sent_puts.helper is None, reason="there was no C compiler")

INDEX = {
    "IndexName": "by-a",
    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
TABLES: dict[str, dict[str, Any]] = {
    "plain": new_table("pk", TableName="plain"),
    "ranged": new_table("pk", "sk", types={"sk": "N"}, TableName="ranged"),
    "indexed": new_table("pk", types={"a": "S"}, TableName="indexed", GlobalSecondaryIndexes=[INDEX]),
    "streamed": new_table(
        "pk",
        TableName="streamed",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    ),
}
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/plain"


@pytest.fixture(scope="module", params=["memory", "disk", "encrypted"])
def servers(request: Any, tmp_path_factory: Any) -> Iterator[tuple[StillServer, StillServer]]:
    """Two servers alike: one for requests that are shortened, one for those that are decoded."""
    places: list[dict[str, Any]] = [{}, {}]
    if request.param != "memory":
        places = [{"in_memory": False, "data_dir": tmp_path_factory.mktemp("data")} for _ in places]
    if request.param == "encrypted":
        key = tmp_path_factory.mktemp("key") / "root.key"
        key.touch(0o600)
        key.write_text("00" * 32)
        places = [{**place, "root_key": f"file:{key}"} for place in places]
    with still_server(**places[0]) as left, still_server(**places[1]) as right:
        right.clock.advance(left.clock.now() - right.clock.now())
        for server in (left, right):
            for table in TABLES.values():
                assert server.serving.post("CreateTable", table).status == 200
            enable = {
                "TableName": "expiring",
                "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"},
            }
            server.serving.post("CreateTable", new_table("pk", TableName="expiring"))
            server.serving.post("UpdateTimeToLive", enable)
        yield left, right


def item(key: Any, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": key} if isinstance(key, str) else key, **more}


def puts(*items: Any) -> list[Any]:
    return [{"PutRequest": {"Item": item}} for item in items]


def put(table: str, item: Any, **more: Any) -> tuple[str, Any]:
    return "PutItem", {"TableName": table, "Item": item, **more}


def batch(tables: Any, **more: Any) -> tuple[str, Any]:
    return "BatchWriteItem", {"RequestItems": tables, **more}


RICH = {
    "l": {"L": [{"BOOL": True}, {"NULL": True}, {"M": {"ü": {"B": "AAE="}}}]},
    "s": {"SS": ["b", "ä", "a"]},
    "n": {"N": "-1.5"},
    "text": {"S": "é" * 700},
}

# Those that need not be decoded, and those that have to be.
SHORTENED = [
    put("plain", item("one")),
    put("plain", item("one", **RICH)),
    put("plain", item("one", n={"N": "1"})),
    put("plain", item("two", **RICH), ReturnConsumedCapacity="TOTAL"),
    put("plain", item("two"), ReturnConsumedCapacity="INDEXES"),
    put("plain", item("two"), ReturnConsumedCapacity="NONE"),
    put(ARN, item("three"), ReturnConsumedCapacity="TOTAL"),
    put("ranged", item("k", sk={"N": "-12.5"}, x={"S": "y"})),
    batch({"plain": puts(item("a", **RICH), item("b"), item("one"))}),
    batch({"plain": puts(item("a"), item("b"))}, ReturnConsumedCapacity="TOTAL"),
    batch(
        {
            "plain": puts(item("a", **RICH)),
            "ranged": puts(item("a", sk={"N": "1"}), item("a", sk={"N": "2"})),
        },
        ReturnConsumedCapacity="INDEXES",
    ),
    batch({"plain": puts(*(item(str(number)) for number in range(25)))}),
    put("indexed", item("one", a={"S": "x"}), ReturnConsumedCapacity="INDEXES"),
    put("streamed", item("one", **RICH)),
    put("expiring", item("one", t={"N": "1"})),
    batch(
        {"plain": puts(item("new-a")), "indexed": puts(item("a", a={"S": "x"}))},
        ReturnConsumedCapacity="INDEXES",
    ),
    batch({"streamed": puts(item("a", **RICH)), "expiring": puts(item("a", t={"N": "1"}))}),
]
DECODED = [
    put("plain", item("one"), ReturnValues="ALL_OLD"),
    put("plain", item("one"), ReturnItemCollectionMetrics="SIZE", ReturnConsumedCapacity="TOTAL"),
    put("plain", item("new"), ConditionExpression="attribute_not_exists(pk)"),
    put("plain", item("new"), ConditionExpression="attribute_not_exists(pk)"),
    put("plain", item("one"), Expected=None),
    put("plain", item("one"), ReturnConsumedCapacity="SOME"),
    put("plain", item("one"), ReturnConsumedCapacity=None),
    put("plain", item("one"), Unknown=1),
    put("plain", item("one", x={"S": 'a "quoted" \\ text\n'})),
    put("plain", item("one", x={"N": "1.50"}, y={"NS": ["2", "1"]}, z={"BS": ["AA=="]})),
    put("plain", item("one", x={"SS": ["a", "a"]})),
    put("plain", item("one", x={"N": "one"})),
    put("plain", item("one", x={})),
    put("plain", item("one", x={"S": "a", "N": "1"})),
    put("plain", {"x": {"S": "no key"}}),
    put("plain", item({"N": "1"})),
    put("plain", item("")),
    put("plain", item("k" * 2049)),
    put("plain", {}),
    put("plain", "text"),
    put("plain", None),
    put("ranged", item("k")),
    put("ranged", item("k", sk={"S": "1"})),
    put("ranged", item("k", sk={"N": "1e2"})),
    put("missing", item("one")),
    put("no", item("one")),
    put("", item("one")),
    put("a name", item("one")),
    put("arn:aws:dynamodb:us-east-1:111111111111:table/plain", item("one")),
    put("arn:nothing", item("one")),
    put("indexed", item("one", a={"N": "1"})),
    batch({"plain": puts(item("a"), item("a"))}),
    batch({"plain": puts(item("new-a"), item("b", x={"N": "one"}), item("c"))}),
    batch({"plain": puts(item("new-a"), {"x": {"S": "no key"}})}),
    batch({"plain": puts(item("new-a"), item({"N": "1"}))}),
    batch({"plain": puts(item("new-a"), item(""))}),
    batch({"plain": puts(item("new-a")), "missing": puts(item("a"))}),
    batch({"plain": [*puts(item("new-a")), {"DeleteRequest": {"Key": item("b")}}]}),
    batch({"plain": puts(item("a"))}, ReturnItemCollectionMetrics="SIZE"),
    batch({"plain": []}),
    batch({}),
    batch(None),
    batch({"plain": puts(*(item(str(number)) for number in range(26)))}),
    batch({"plain": [{}]}),
    batch({"plain": [{"PutRequest": None}]}),
    batch({"plain": puts(item("large", x={"S": "x" * 409_600}))}),
    put("plain", item("large", x={"S": "x" * 409_600})),
    put("plain", item("large", x={"S": "x" * 400_000})),
]


class Decoding:
    """Counts the requests that are decoded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        for name in ("PutItem", "BatchWriteItem"):
            operation = DYNAMODB.operations[name]
            monkeypatch.setattr(operation, "decode", self._counting(operation.decode))

    def _counting(self, decode: Any) -> Any:
        def counted(body: Any) -> Any:
            self.count += 1
            return decode(body)

        return counted


def sent(server: StillServer, operation: str, body: bytes) -> tuple[object, ...]:
    """What a client can see of an answer; the checksum is that of its bytes."""
    answer = server.serving.post(operation, body)
    return answer.status, answer.headers["x-amz-crc32"], answer.body


def contents(server: StillServer) -> list[object]:
    """All items as they are stored, and the counters."""
    seen: list[object] = []
    for name in (*TABLES, "expiring"):
        scan = server.serving.post("Scan", {"TableName": name, "ReturnConsumedCapacity": "TOTAL"})
        table = server.serving.post("DescribeTable", {"TableName": name}).body["Table"]
        seen.append((scan.headers["x-amz-crc32"], scan.body, table["ItemCount"], table["TableSizeBytes"]))
    return seen


@pytest.mark.parametrize(
    "separators", [(",", ":"), (", ", ": "), (" ,\n\t", "\r : ")], ids=["tight", "usual", "wide"]
)
@pytest.mark.parametrize("shortened", [True, False])
def test_a_put_answers_and_stores_the_same_either_way(
    servers: tuple[StillServer, StillServer],
    monkeypatch: pytest.MonkeyPatch,
    separators: tuple[str, str],
    shortened: bool,
) -> None:
    left, right = servers
    helper = sent_puts.helper
    for operation, request in SHORTENED if shortened else DECODED:
        body = json.dumps(request, separators=separators, ensure_ascii=False).encode()
        with monkeypatch.context() as patch:
            decoding = Decoding(patch)
            patch.setattr(sent_puts, "helper", helper)
            answer = sent(left, operation, body)
            assert (decoding.count == 0) is shortened or len(body) > 32 * 1024
            patch.setattr(sent_puts, "helper", None)
            assert sent(right, operation, body) == answer, request
            assert (answer[0] == 200) or not shortened
    assert contents(left) == contents(right)


def test_bodies_that_are_not_json_are_refused_the_same_either_way(
    servers: tuple[StillServer, StillServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = json.dumps(put("plain", item("cut", **RICH))[1], ensure_ascii=False).encode()
    bodies = [good[:length] for length in range(0, len(good), 37)]
    bodies += [
        good.replace("é".encode(), text, 1) for text in (b"\xff", b"\xed\xa0\x80", b"\x00", b"\\ud800", b'"')
    ]
    bodies += [good + b"x", good.replace(b"}", b"}}", 1), good.replace(b'"pk"', b'"pk": {"S": "x"}, "pk"')]
    for body in bodies:
        answer = sent(servers[0], "PutItem", body)
        with monkeypatch.context() as patch:
            patch.setattr(sent_puts, "helper", None)
            assert sent(servers[1], "PutItem", body) == answer, body
    assert contents(servers[0]) == contents(servers[1])


CHANGES: list[tuple[str, dict[str, Any]]] = [
    (
        "UpdateTable",
        {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}},
    ),
    (
        "UpdateTable",
        {
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "a")],
            "GlobalSecondaryIndexUpdates": [{"Create": INDEX}],
        },
    ),
    ("UpdateTimeToLive", {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}),
]


def rows_after(change: tuple[str, dict[str, Any]], operation: str, body: bytes, *, shortened: bool) -> object:
    """Everything that is stored if a table changes after a put into it was planned, and before it is written."""
    service = Clocked()
    service.call("CreateTable", **TABLES["plain"])
    service.settle()
    row = DYNAMODB.operations[operation]
    assert row.shortcut is not None
    if shortened:
        plan = row.shortcut.plan(service.context, row.shortcut.decode(body))
    else:
        plan = row.handler(service.context, row.decode(body))
    assert isinstance(plan, Write)
    service.call(change[0], TableName="plain", **change[1])
    result = service.engine.write(plan.step)
    rows = service.engine.read(lambda reader: list(reader.scan(b"", b"\xff" * 9)))
    charges = [(charge.index and charge.index.name, charge.key, charge.units) for charge in result.charges()]
    return [row for row in rows if row[0].startswith(layout.ROWS)], len(rows), charges


@pytest.mark.parametrize("change", CHANGES, ids=["stream", "index", "expiry"])
@pytest.mark.parametrize(
    "sent_request",
    [put("plain", item("x", a={"S": "y"}, t={"N": "9"})), batch({"plain": puts(item("x", a={"S": "y"}))})],
)
def test_a_table_that_changes_meanwhile_is_written_with_all_it_has(change: Any, sent_request: Any) -> None:
    body = json.dumps(sent_request[1]).encode()
    shortened, decoded = (
        rows_after(change, sent_request[0], body, shortened=shortened) for shortened in (True, False)
    )
    assert shortened == decoded


def test_a_table_that_is_deleted_meanwhile_is_not_found() -> None:
    service = Clocked()
    service.call("CreateTable", **TABLES["plain"])
    service.settle()
    steps = []
    for operation, request in (put("plain", item("x")), batch({"plain": puts(item("x"))})):
        shortcut = DYNAMODB.operations[operation].shortcut
        assert shortcut is not None
        plan = shortcut.plan(service.context, shortcut.decode(json.dumps(request).encode()))
        assert isinstance(plan, Write)
        assert list(plan.reads())
        steps.append(plan.step)
    service.call("DeleteTable", TableName="plain")
    service.clock.advance(60)
    service.settle()
    for step in steps:
        with pytest.raises(ApiError, match="resource not found"):
            service.engine.write(step)
