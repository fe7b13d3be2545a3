"""`hashrange heat`: where the traffic of a table falls, from all workers of a running server."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import warm
from hashrange.heat_command import drawn
from serving import Serving, serving
from wiring import eventually

pytestmark = pytest.mark.slow

_PATIENCE_SECONDS = 90
_PATH = "/_hashrange/heat"
_UNITS = 40


def heat(server: Serving, *arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.run("heat", *arguments, "--endpoint", server.endpoint)


def reported(server: Serving, query: str = "table=orders") -> Any:
    answer = server.request("GET", f"{_PATH}?{query}")
    assert answer.status == 200
    return answer.body


def create(server: Serving) -> None:
    key = {"AttributeName": "pk", "KeyType": "HASH"}
    request = {
        "TableName": "orders",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "status")],
        "KeySchema": [key],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by-status",
                "KeySchema": [key | {"AttributeName": "status"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    }
    assert server.post("CreateTable", request).status == 200
    description = {"TableName": "orders"}
    assert eventually(
        lambda: server.post("DescribeTable", description).body["Table"]["TableStatus"] == "ACTIVE",
        _PATIENCE_SECONDS,
    )


def write(server: Serving) -> float:
    """Put some items, half of them under one key; give what that cost the table."""
    units = 0.0
    for number in range(_UNITS):
        pk = "hot\x1b[31m" if number % 2 else f"k{number}"
        item = {"pk": {"S": pk}, "status": {"S": "open"}}
        put = {"TableName": "orders", "Item": item, "ReturnConsumedCapacity": "INDEXES"}
        units += server.post("PutItem", put).body["ConsumedCapacity"]["Table"]["CapacityUnits"]
    return units


@pytest.mark.parametrize("workers", [1, 2])
def test_heat_agrees_with_the_capacity_that_answers_report(workers: int, tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), "--workers", str(workers)) as server:
        create(server)
        units = write(server)
        reports: list[Any] = []

        def is_complete() -> bool:
            """Whether the worker that answers knows of what the others have done: they write it every ten seconds."""
            report = reported(server)
            reports.append(report)
            return report["writes"]["units_per_second"] * report["seconds"] == pytest.approx(units)

        assert eventually(is_complete, _PATIENCE_SECONDS)
        report = reports[-1]
        shares = [row["share"] for row in report["partitions"]]
        assert len(shares) == 4
        assert sum(shares) == pytest.approx(1)
        hottest = report["hottest_keys"][0]
        assert hottest["key"] == {"pk": {"S": "hot\x1b[31m"}}
        assert hottest["share"] == pytest.approx(0.5, abs=0.2)
        by_status = reported(server, "table=orders&index=by-status")
        assert {str(row["key"]) for row in by_status["hottest_keys"]} <= {"{'status': {'S': 'open'}}"}


def test_the_command_draws_a_picture_and_prints_json() -> None:
    with serving("--in-memory") as server:
        create(server)
        write(server)
        assert eventually(lambda: reported(server)["hottest_keys"], _PATIENCE_SECONDS)
        picture = heat(server, "orders")
        assert picture.returncode == 0, picture.stderr
        assert "partitions (4)" in picture.stdout
        assert "FINE" in picture.stdout
        assert "\x1b" not in picture.stdout, "a key must not give orders to the terminal"
        printed = heat(server, "orders", "--json", "--index", "by-status")
        assert json.loads(printed.stdout)["index"] == "by-status"
        for wrong in (("nothing",), ("orders", "--index", "nothing"), ("orders", "--region", "eu-west-1")):
            refused = heat(server, *wrong)
            assert refused.returncode == 1
            assert "hashrange: " in refused.stderr


def test_the_command_works_on_a_terminal_that_has_only_ascii() -> None:
    with serving("--in-memory") as server:
        create(server)
        item = {"pk": {"S": "žluťoučký"}, "status": {"S": "open"}}
        assert server.post("PutItem", {"TableName": "orders", "Item": item}).status == 200
        assert eventually(lambda: reported(server)["hottest_keys"], _PATIENCE_SECONDS)
        plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
        command = [sys.executable, "-m", "hashrange", "heat", "orders", "--endpoint", server.endpoint]
        for flags in ([], ["--json"]):
            shown = subprocess.run(
                [*command, *flags], capture_output=True, timeout=_PATIENCE_SECONDS, check=True, env=plain
            )
            assert shown.stdout.isascii()
        assert json.loads(shown.stdout)["hottest_keys"][0]["key"] == {"pk": {"S": "žluťoučký"}}


def test_the_command_watches_until_it_is_interrupted() -> None:
    with serving("--in-memory") as server:
        create(server)
        # Where the tests run in the background, signals of the keyboard are ignored by all that they start.
        program = (
            "import signal, sys; from hashrange import cli; "
            "signal.signal(signal.SIGINT, signal.default_int_handler); sys.exit(cli.main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", program, "heat", "orders", "--watch", "--json"]
        watching = subprocess.Popen(
            [*command, "--endpoint", server.endpoint], stdout=subprocess.PIPE, text=True
        )
        try:
            assert watching.stdout is not None
            first, second = (json.loads(watching.stdout.readline()) for _ in range(2))
            assert first["epoch_seconds"] < second["epoch_seconds"]
            watching.send_signal(signal.SIGINT)
            assert watching.wait(_PATIENCE_SECONDS) == 0
        finally:
            watching.kill()
            watching.communicate()


def test_wrong_requests_are_refused() -> None:
    with serving("--in-memory") as server:
        assert server.request("GET", _PATH).status == 400
        assert server.request("GET", f"{_PATH}?table=%ff").status == 400
        assert server.request("GET", f"{_PATH}?{'a=1&' * 20}table=orders").status == 400
        assert server.request("GET", f"{_PATH}?table=orders").status == 404
        assert server.request("POST", f"{_PATH}?table=orders", b"{}").status == 404


def test_a_table_with_many_partitions_shows_the_hottest() -> None:
    row = {"start": "", "share": 0.01, "throttled_per_second": 0.0}
    side = {"units_per_second": 1.0, "throttled_per_second": 0.0, "limit_per_second": 40_000.0}
    picture = drawn(
        {
            "table": "wide",
            "index": None,
            "seconds": 300.0,
            "reads": side,
            "writes": side,
            "partitions": [{**row, "number": number, "use": number / 100} for number in range(100)],
            "hottest_keys": [{"key": None, "write": False, "units_per_second": 1.0, "share": 1.0}],
            "verdict": {"kind": "uneven keys", "text": "Some.", "remedy": "Do.", "shards": None},
        }
    )
    assert "  99 " in picture
    assert "and 80 cooler ones" in picture
    assert "too long" in picture
    assert "What to do: Do." in picture
