"""Several processes on the same data keep to the capacity of a table together; and say if their settings differ."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from serving import Serving, serving
from wiring import eventually

_PATIENCE_SECONDS = 60
_RATE = 40  # write units per second
_SAVED = 60 * _RATE  # that a new table has
_UNITS = 10
_PAUSE_SECONDS = 0.02  # between requests, so that no more than 500 units per second are asked for
# What one process may admit until it hears of the other: a second's worth of requests, tripled for a busy machine.
_SLACK = 1_500

FLAGS = ("--capacity", "enforce", "--test-clock")


@pytest.fixture(params=["workers", "servers"])
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Serving]]:
    """Two workers behind one port, or two servers on one database."""
    with ExitStack() as stack:
        if request.param == "workers":
            yield [stack.enter_context(serving("--data-dir", str(tmp_path), "--workers", "2", *FLAGS))]
        else:
            database = request.getfixturevalue("database")
            yield [stack.enter_context(serving("--engine", database, *FLAGS)) for _ in range(2)]


def create(server: Serving, name: str) -> None:
    throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": _RATE}
    request = {
        "TableName": name,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "ProvisionedThroughput": throughput,
    }
    assert server.post("CreateTable", request).status == 200


def wait_until_active(servers: list[Serving], name: str) -> None:
    def status(server: Serving) -> Any:
        body = server.post("DescribeTable", {"TableName": name}).body
        return body.get("Table", {}).get("TableStatus")

    assert eventually(lambda: all(status(server) == "ACTIVE" for server in servers), _PATIENCE_SECONDS)


def offer(servers: list[Serving], name: str, units: int) -> int:
    """Ask for so many units, of all processes by turns; give what was admitted.

    Every request has a connection of its own, and so comes to any worker.
    """
    admitted = 0
    for number in range(units // _UNITS):
        item = {"pk": {"S": str(number)}, "v": {"S": "x" * (_UNITS * 1024 - 50)}}
        answer = servers[number % len(servers)].post("PutItem", {"TableName": name, "Item": item})
        if answer.status == 200:
            admitted += _UNITS
        else:
            assert answer.error == "ProvisionedThroughputExceededException", answer.body
        time.sleep(_PAUSE_SECONDS)
    return admitted


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_together_they_admit_what_the_table_has(servers: list[Serving]) -> None:
    began = time.monotonic()
    create(servers[0], "ttt")
    wait_until_active(servers, "ttt")
    admitted = offer(servers, "ttt", 2 * _SAVED)
    allowed = _SAVED + _RATE * (time.monotonic() - began)
    # Each of two that do not hear of each other would admit all that was saved.
    assert _SAVED <= admitted <= allowed + _SLACK
    moved = servers[0].request("POST", "/_hashrange/clock", b'{"advance_seconds": 30}')
    assert moved.status == 200
    admitted += offer(servers, "ttt", _SAVED)
    allowed = _SAVED + _RATE * (30 + time.monotonic() - began)
    assert admitted <= allowed + 2 * _SLACK


@pytest.mark.parametrize(("lags", "is_told"), [((500, 0), True), ((0, 500), True), ((500, 500), False)])
def test_a_server_with_another_lag_says_so(database: str, lags: tuple[int, int], is_told: bool) -> None:
    flags = ("--engine", database, "--log-level", "warning", "--eventual-lag")
    with serving(*flags, str(lags[0])) as first, serving(*flags, str(lags[1])) as second:
        assert "eventual_lag.differs" not in first.log_text()
        assert ("eventual_lag.differs" in second.log_text()) is is_told
        if is_told:
            assert f"own_ms={lags[1]} other_ms={lags[0]}" in second.log_text()
