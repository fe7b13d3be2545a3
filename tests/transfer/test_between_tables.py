"""From a table to a table: all items, indexes and types; throttling; foreign endpoints."""

import threading
from collections.abc import Callable
from itertools import count
from typing import Any

from answering_proxy import Body, answering_proxy
from item_tables import index, make_table, unique
from moto_server import moto_server
from serving import Serving
from transfers import Transfer, contents, fill, full_table, item_of

COUNT = 700


def test_a_table_is_copied_with_its_indexes(
    transfer: Transfer, client: Any, other: Any, server: Serving, other_server: Serving
) -> None:
    source = full_table(
        client,
        COUNT,
        LocalSecondaryIndexes=[index("local", "pk", "l", projection="KEYS_ONLY")],
        GlobalSecondaryIndexes=[index("global", "g", projection="INCLUDE", included=("x",))],
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in (("pk", "S"), ("sk", "N"), ("l", "S"), ("g", "S"))
        ],
    )
    target = unique("copy")
    ended = transfer(
        "import",
        *("--from", f"{server.endpoint}/{source}"),
        *("--to", f"{other_server.endpoint}/{target}", "--verify"),
    )
    assert ended.status == 0, ended.err
    assert f"both sides have {COUNT} items" in ended.out
    assert contents(other, target) == contents(client, source)
    tables = [
        one.describe_table(TableName=name)["Table"] for one, name in ((client, source), (other, target))
    ]
    assert tables[0]["KeySchema"] == tables[1]["KeySchema"]
    assert [one["BillingModeSummary"]["BillingMode"] for one in tables] == ["PAY_PER_REQUEST"] * 2
    for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        names = ("IndexName", "KeySchema", "Projection")
        assert [{name: one[name] for name in names} for one in tables[0][kind]] == [
            {name: one[name] for name in names} for one in tables[1][kind]
        ]


def test_provisioned_capacity_is_taken_along(
    transfer: Transfer, client: Any, other: Any, server: Serving, other_server: Serving
) -> None:
    units = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}
    source = make_table(
        client,
        "pk",
        ProvisionedThroughput=units,
        GlobalSecondaryIndexes=[{**index("global", "g"), "ProvisionedThroughput": units}],
        types={"g": "S"},
    )
    ended = transfer(
        "export", "--from", f"{server.endpoint}/{source}", "--to", f"{other_server.endpoint}/{source}"
    )
    assert ended.status == 0, ended.err
    table = other.describe_table(TableName=source)["Table"]
    for described in (table, table["GlobalSecondaryIndexes"][0]):
        throughput = described["ProvisionedThroughput"]
        assert {name: throughput[name] for name in units} == units


def test_throttled_and_unprocessed_writes_are_repeated(
    transfer: Transfer, client: Any, other: Any, server: Serving, other_server: Serving
) -> None:
    source = full_table(client, 200)
    target = make_table(other, "pk", "sk", types={"sk": "N"})
    numbers = count()
    lock = threading.Lock()

    def hook(operation: str, body: Body) -> tuple[int, Body] | None:
        if operation != "BatchWriteItem":
            return None
        with lock:
            number = next(numbers)
        if number % 3 == 0:
            return 400, {"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "slow"}
        if number % 3 == 1:
            return 200, {"UnprocessedItems": body["RequestItems"]}
        if number % 4 == 2:
            return 503, {"__type": "ServiceUnavailable", "message": "later"}
        return None

    with answering_proxy(other_server.endpoint, hook) as proxy:
        ended = transfer(
            "import", "--from", f"{server.endpoint}/{source}", "--to", f"{proxy}/{target}", "--verify"
        )
    assert ended.status == 0, ended.err
    assert contents(other, target) == contents(client, source)


def test_an_item_that_the_target_refuses_is_counted(
    transfer: Transfer, client: Any, other: Any, server: Serving, other_server: Serving
) -> None:
    source = full_table(client, 30)
    client.put_item(TableName=source, Item=item_of(30, g={"N": "1"}))
    target = make_table(
        other, "pk", "sk", types={"sk": "N", "g": "S"}, GlobalSecondaryIndexes=[index("global", "g")]
    )
    words = ("--from", f"{server.endpoint}/{source}", "--to", f"{other_server.endpoint}/{target}")
    ended = transfer("import", *words, "--verify")
    assert ended.status == 4
    assert "rejected: One or more parameter values were invalid: Type mismatch for Index Key g" in ended.err
    assert "1 items were rejected" in ended.out
    assert "the source has 31 items" in ended.err
    assert "the target has 30 items" in ended.err
    assert transfer("import", *words).status == 3


def test_a_slow_pace_reads_small_pages(
    transfer: Transfer, client: Any, server: Serving, other_server: Serving
) -> None:
    source = full_table(client, 40)
    scans: list[Body] = []

    def hook(operation: str, body: Body) -> None:
        if operation == "Scan":
            scans.append(body)

    with answering_proxy(server.endpoint, hook) as proxy:
        ended = transfer(
            "import",
            *("--from", f"{proxy}/{source}", "--to", f"{other_server.endpoint}/{unique('slow')}"),
            *("--rate", "50", "--rate-units", "1000", "--parallel", "2"),
        )
    assert ended.status == 0, ended.err
    assert {scan["Limit"] for scan in scans} == {50}
    assert {scan["Segment"] for scan in scans} == {0, 1}


def test_a_foreign_endpoint_is_read_and_written(
    transfer: Transfer, client: Any, make_client: Callable[..., Any], server: Serving
) -> None:
    source = full_table(client, 60)
    with moto_server() as foreign:
        there = make_client(endpoint=foreign)
        out = transfer(
            "export", "--from", f"{server.endpoint}/{source}", "--to", f"{foreign}/{source}", "--verify"
        )
        assert out.status == 0, out.err
        # What is written there in its own way comes back as what it is.
        fill(there, source, [item_of(number, more={"N": "1.50"}) for number in range(50, 80)])
        back = transfer(
            "import", "--from", f"{foreign}/{source}", "--to", f"{server.endpoint}/{source}-back", "--verify"
        )
        assert back.status == 0, back.err
    items = contents(client, f"{source}-back")
    assert len(items) == 80
    assert sum(item.get("more") == {"N": "1.5"} for item in items) == 30
