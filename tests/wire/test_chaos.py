"""`hashrange chaos`: requests fail as they were told to, in the service's own words, and no others do."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hashrange.cli import main
from serving import Answer, Serving, serving
from wiring import eventually

KEY = {"pk": {"S": "k"}}


@pytest.fixture(scope="module")
def running() -> Iterator[Serving]:
    with serving("--in-memory", "--chaos", "--test-clock", "--log-level", "warning") as server:
        make(server, "aaa")
        make(server, "bbb")
        yield server
        assert server.log_text() == ""


@pytest.fixture
def server(running: Serving) -> Iterator[Serving]:
    yield running
    assert running.request("DELETE", "/_hashrange/chaos").status == 200


def make(server: Serving, name: str) -> None:
    request = {
        "TableName": name,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert server.post("CreateTable", request).status == 200


def add(server: Serving, fault: str, **rule: Any) -> list[dict[str, Any]]:
    body = json.dumps({"fault": fault, **rule}).encode()
    answer = server.request("POST", "/_hashrange/chaos", body)
    assert answer.status == 200, answer.body
    rules: list[dict[str, Any]] = answer.body["rules"]
    return rules


def put(server: Serving, table: str = "aaa", pk: str = "k") -> Answer:
    return server.post("PutItem", {"TableName": table, "Item": {"pk": {"S": pk}}})


def get(server: Serving, table: str = "aaa", pk: str = "k") -> Answer:
    request = {"TableName": table, "Key": {"pk": {"S": pk}}, "ConsistentRead": True}
    return server.post("GetItem", request)


def test_internal_errors(server: Serving) -> None:
    add(server, "error", tables=["aaa"])
    answer = put(server)
    assert answer.status == 500
    assert answer.body == {
        "__type": "com.amazonaws.dynamodb.v20120810#InternalServerError",
        "message": "Internal server error",
    }
    assert put(server, "bbb").status == 200
    assert server.post("DescribeTable", {"TableName": "aaa"}).status == 200


def test_an_error_after_the_write(server: Serving) -> None:
    add(server, "error", operations=["PutItem"], after=True)
    assert put(server, pk="written").status == 500
    assert get(server, pk="written").body == {"Item": {"pk": {"S": "written"}}}


def test_throttles_of_one_operation(server: Serving) -> None:
    add(server, "throttle", operations=["GetItem"])
    answer = get(server)
    assert answer.error == "ThrottlingException"
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/aaa"
    assert answer.body["throttlingReasons"] == [
        {"reason": "TableReadKeyRangeThroughputExceeded", "resource": arn}
    ]
    assert put(server).status == 200
    assert server.post("Scan", {"TableName": "aaa"}).status == 200


def test_control_operations_fail_only_where_they_are_named(server: Serving) -> None:
    add(server, "throttle")
    assert server.post("ListTables", {}).status == 200
    add(server, "throttle", operations=["ListTables"])
    answer = server.post("ListTables", {})
    assert (answer.error, answer.body["message"]) == ("ThrottlingException", "Rate exceeded")
    assert server.post("DescribeTable", {"TableName": "aaa"}).status == 200


def unprocessed(server: Serving) -> int:
    requests = [{"PutRequest": {"Item": {"pk": {"S": str(number)}}}} for number in range(25)]
    answer = server.post("BatchWriteItem", {"RequestItems": {"aaa": requests}})
    assert answer.status == 200
    left = answer.body["UnprocessedItems"]
    assert all(request in requests for request in left.get("aaa", []))
    return len(left.get("aaa", []))


def test_a_batch_loses_some_items_and_a_seed_says_which(server: Serving) -> None:
    counts = []
    for _ in range(2):
        add(server, "throttle", rate=0.5, seed=7)
        counts.append([unprocessed(server) for _ in range(4)])
        assert server.request("DELETE", "/_hashrange/chaos").status == 200
    assert counts[0] == counts[1]
    assert all(0 < count < 25 for count in counts[0])
    keys = [{"pk": {"S": str(number)}} for number in range(50)]
    add(server, "throttle", rate=0.5, seed=7)
    answer = server.post("BatchGetItem", {"RequestItems": {"aaa": {"Keys": keys}}})
    assert 0 < len(answer.body["UnprocessedKeys"]["aaa"]["Keys"]) < 50


def test_conflicts(server: Serving) -> None:
    add(server, "conflict", tables=["aaa"])
    answer = put(server)
    assert answer.error == "TransactionConflictException"
    assert answer.body["message"] == "Transaction is ongoing for the item"
    puts = [{"Put": {"TableName": "aaa", "Item": {"pk": {"S": str(number)}}}} for number in range(3)]
    answer = server.post("TransactWriteItems", {"TransactItems": puts})
    assert answer.error == "TransactionCanceledException"
    codes = sorted(reason["Code"] for reason in answer.body["CancellationReasons"])
    assert codes == ["None", "None", "TransactionConflict"]
    assert get(server).status == 200
    select = {"Statement": "SELECT * FROM aaa WHERE pk = 'k'"}
    assert server.post("ExecuteStatement", select).status == 200
    insert = {"Statement": "INSERT INTO aaa VALUE {'pk': 'by statement'}"}
    assert server.post("ExecuteStatement", insert).error == "TransactionConflictException"


def test_latency(server: Serving) -> None:
    add(server, "latency", latency_ms=200, operations=["GetItem"])
    began = time.monotonic()
    assert get(server).status == 200
    assert time.monotonic() - began >= 0.2
    # A large body is read on a thread of its own, and must find its way back.
    large = {"TableName": "aaa", "Item": {"pk": {"S": "large"}, "v": {"S": "x" * 100_000}}}
    add(server, "latency", latency_ms=200, operations=["PutItem"])
    began = time.monotonic()
    assert server.post("PutItem", large).status == 200
    assert time.monotonic() - began >= 0.2
    add(server, "error", operations=["PutItem"])
    assert server.post("PutItem", large).status == 500


def test_a_rule_ends_by_itself(server: Serving) -> None:
    add(server, "error", duration_seconds=3600)
    assert get(server).status == 500
    assert server.request("POST", "/_hashrange/clock", b'{"advance_seconds": 3601}').status == 200
    assert get(server).status == 200
    assert server.request("GET", "/_hashrange/chaos").body == {"rules": []}


def test_a_rule_ends_when_it_has_struck_often_enough(server: Serving) -> None:
    add(server, "error", operations=["GetItem"], times=2)
    assert [get(server).status for _ in range(4)] == [500, 500, 200, 200]
    assert server.request("GET", "/_hashrange/chaos").body == {"rules": []}


def test_throttles_are_counted_by_items(server: Serving) -> None:
    add(server, "throttle", times=2)
    items = [{"PutRequest": {"Item": {"pk": {"S": str(number)}}}} for number in range(5)]
    answer = server.post("BatchWriteItem", {"RequestItems": {"aaa": items}})
    assert len(answer.body["UnprocessedItems"]["aaa"]) == 2


def test_a_rule_may_be_for_the_requests_of_one_account(server: Serving) -> None:
    add(server, "error", account_id="123456789012")
    assert get(server).status == 200
    add(server, "error", account_id="000000000000")
    assert get(server).status == 500


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"fault": "error", "times": 0},
        {"fault": "error", "account_id": "12"},
        {"fault": "fire"},
        {"fault": "error", "rate": 0},
        {"fault": "error", "rate": 1.5},
        {"fault": "error", "operations": ["Nothing"]},
        {"fault": "latency"},
        {"fault": "error", "latency_ms": 5},
        {"fault": "throttle", "after": True},
        {"fault": "conflict", "operations": ["GetItem", "ListTables"]},
        {"fault": "error", "duration_seconds": 1e9},
        {"fault": "error", "other": 1},
        [],
    ],
)
def test_a_bad_rule_is_refused(server: Serving, rule: Any) -> None:
    answer = server.request("POST", "/_hashrange/chaos", json.dumps(rule).encode())
    assert answer.status == 400
    assert server.request("GET", "/_hashrange/chaos").body == {"rules": []}


def test_an_empty_id_clears_nothing(server: Serving) -> None:
    add(server, "error", operations=["DescribeLimits"])
    answer = server.request("DELETE", "/_hashrange/chaos?id=")
    assert len(answer.body["rules"]) == 1


def test_there_are_not_too_many_rules(server: Serving) -> None:
    for _ in range(100):
        add(server, "error", operations=["DescribeLimits"])
    assert server.request("POST", "/_hashrange/chaos", b'{"fault":"error"}').status == 400


def test_the_command(server: Serving, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--endpoint", server.endpoint)
    flags = (
        "--rate",
        "100%",
        "--operation",
        "GetItem",
        "--table",
        "aaa",
        "--for",
        "5m",
        "--seed",
        "1",
        "--times",
        "9",
    )
    assert main(["chaos", "add", "throttle", *flags, *at]) == 0
    assert get(server).error == "ThrottlingException"
    assert main(["chaos", "list", *at]) == 0
    shown = capsys.readouterr().out
    assert "operations: GetItem  tables: aaa  9 times  seed 1  until " in shown
    rule_id = shown.split()[0]
    assert main(["chaos", "add", "latency", "--ms", "1", *at]) == 0
    assert main(["chaos", "clear", rule_id, *at]) == 0
    assert get(server).status == 200
    assert main(["chaos", "clear", *at]) == 0
    assert capsys.readouterr().out.endswith("no faults\n")
    assert main(["chaos", "add", "latency", *at]) == 1
    assert "latency_ms" in capsys.readouterr().err


@pytest.mark.slow
def test_without_the_flag_there_are_no_faults() -> None:
    with serving("--in-memory") as server:
        for method in ("GET", "POST", "DELETE"):
            assert server.request(method, "/_hashrange/chaos", b'{"fault":"error"}').status == 403


@pytest.mark.slow
def test_all_workers_follow(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path / "data"), "--chaos", "--workers", "2") as server:
        make(server, "aaa")
        add(server, "error")
        assert eventually(lambda: {get(server).status for _ in range(12)} == {500}, seconds=60)
        assert server.request("DELETE", "/_hashrange/chaos").status == 200
        assert eventually(lambda: {get(server).status for _ in range(12)} == {200}, seconds=60)
