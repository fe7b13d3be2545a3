"""`hashrange clock`: moves the time of a server, its workers and its neighbours, and only of those that allow it."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import warm
from postgres_server import PostgresServer
from serving import Answer, Serving, serving
from wiring import eventually

pytestmark = pytest.mark.slow

_PATIENCE_SECONDS = 60
_PATH = "/_hashrange/clock"
_DAY = 86_400


def clock(server: Serving, *arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.run("clock", *arguments, "--endpoint", server.endpoint)


def shown(server: Serving) -> Any:
    answer = server.request("GET", _PATH)
    assert answer.status == 200
    return answer.body


def advance(server: Serving, seconds: float) -> Any:
    answer = server.request("POST", _PATH, b'{"advance_seconds": %f}' % seconds)
    assert answer.status == 200
    return answer.body


def refusal(*flags: str) -> str:
    """What a server says that does not start."""
    with pytest.raises(RuntimeError) as failure, serving(*flags):
        pass
    return str(failure.value)


def create(server: Serving, name: str = "sessions") -> None:
    request = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    assert server.post("CreateTable", request).status == 200
    assert eventually(lambda: status(server, name) == "ACTIVE", _PATIENCE_SECONDS)
    specification = {"AttributeName": "expires", "Enabled": True}
    change = {"TableName": name, "TimeToLiveSpecification": specification}
    assert server.post("UpdateTimeToLive", change).status == 200


def status(server: Serving, name: str) -> str:
    return str(server.post("DescribeTable", {"TableName": name}).body["Table"]["TableStatus"])


def put(server: Serving, key: str, expires_in: float) -> None:
    item = {"pk": {"S": key}, "expires": {"N": str(int(shown(server)["epoch_seconds"] + expires_in))}}
    assert server.post("PutItem", {"TableName": "sessions", "Item": item}).status == 200


def keys(server: Serving) -> set[str]:
    items = server.post("Scan", {"TableName": "sessions", "ConsistentRead": True}).body["Items"]
    return {item["pk"]["S"] for item in items}


def test_the_command_shows_and_moves_the_clock() -> None:
    with serving("--in-memory", "--test-clock") as server:
        assert clock(server, "show").stdout.endswith(", moved ahead by 0s\n")
        moved = clock(server, "advance", "36h")
        assert (moved.returncode, moved.stderr) == (0, "")
        assert moved.stdout.endswith(", moved ahead by 1d12h\n")
        assert shown(server)["epoch_seconds"] > time.time() + 1.4 * _DAY
        assert clock(server, "set", "2040-02-03T04:05:06Z").stdout.startswith("2040-02-03T04:05:0")
        back = clock(server, "set", "2039-01-01")
        assert (back.returncode, back.stdout) == (1, "")
        assert back.stderr == "hashrange: the clock never goes back, and it is later already\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["advance", "soon"], "must be a time such as 90s"),
        (["set", "tomorrow"], "must be a time such as 2027-01-31T12:00:00Z"),
        (["advance"], "the following arguments are required: DURATION"),
        ([], "the following arguments are required: ACTION"),
        (["show", "--endpoint", "nowhere"], "nowhere is no endpoint"),
        (["show", "--endpoint", "http://127.0.0.1:1"], "there is no server at http://127.0.0.1:1"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments: list[str], message: str) -> None:
    ended = warm.run("clock", *arguments)
    assert ended.returncode != 0
    assert message in ended.stderr


def test_a_server_without_the_flag_refuses(server: Serving) -> None:
    reason = b"this server's clock cannot be moved: start it with --test-clock\n"
    for method in ("GET", "POST"):
        answer = server.request(method, _PATH, b'{"advance_seconds": 1}')
        assert (answer.status, answer.body) == (403, reason)
    assert clock(server, "show").stderr == f"hashrange: {reason.decode()}"


def test_bad_requests_move_nothing() -> None:
    with serving("--in-memory", "--test-clock") as server:

        def post(body: bytes, **headers: str) -> Answer:
            return server.request("POST", _PATH, body, headers)

        rule = b'send {"advance_seconds": 3600} or {"set_epoch_seconds": 1800000000}\n'
        for body in (
            b"",
            b"{}",
            b"[]",
            b"{",
            b'{"advance_seconds": "1"}',
            b'{"advance": 1}',
            b'{"advance_seconds": null}',
            b'{"advance_seconds": 1e999}',
            b'{"advance_seconds": NaN}',
            b'{"advance_seconds": 1, "set_epoch_seconds": 4000000000}',
        ):
            answer = post(body)
            assert (answer.status, answer.body) == (400, rule), body
        assert post(b'{"advance_seconds": -1}').status == 400
        assert post(b'{"advance_seconds": 1e12}').status == 400
        assert post(b'{"set_epoch_seconds": -5}').status == 400
        foreign = post(b'{"advance_seconds": 1}', Origin="http://evil.example")
        assert (foreign.status, foreign.error) == (403, "AccessDeniedException")
        assert server.request("DELETE", _PATH).status == 404
        assert server.request("GET", _PATH + "/x").status == 404
        assert shown(server)["ahead_seconds"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_items_expire_when_the_clock_is_moved(tmp_path: Path, workers: str) -> None:
    flags = ("--data-dir", str(tmp_path), "--workers", workers, "--transition-ms", "0")
    with serving(*flags, "--test-clock") as server:
        create(server)
        put(server, "hour", 3600)
        put(server, "week", 7 * _DAY)
        advance(server, 1800)
        assert keys(server) == {"hour", "week"}
        advance(server, 2 * _DAY)
        # Every connection goes to another worker.
        ahead = [shown(server)["ahead_seconds"] for _ in range(4)]
        assert ahead == [2 * _DAY + 1800] * 4
        assert eventually(lambda: keys(server) == {"week"}, _PATIENCE_SECONDS)
    with serving(*flags, "--test-clock") as server:
        assert shown(server)["ahead_seconds"] == 2 * _DAY + 1800
        assert "clock.ahead ahead=2d30m" in server.log_text()
    assert "was moved ahead by 2d30m: start the server with --test-clock" in refusal(*flags)


@pytest.mark.slow
def test_all_servers_on_a_database_move_together_or_do_not_start(postgres: PostgresServer) -> None:
    postgres.execute("DROP SCHEMA IF EXISTS hashrange CASCADE")
    flags = ("--engine", postgres.url(), "--transition-ms", "0")
    try:
        with serving(*flags, "--test-clock") as one, serving(*flags, "--test-clock") as two:
            create(one)
            put(two, "hour", 3600)
            put(two, "week", 7 * _DAY)
            advance(two, _DAY)
            assert eventually(lambda: shown(one)["ahead_seconds"] == _DAY, _PATIENCE_SECONDS)
            assert abs(shown(one)["epoch_seconds"] - shown(two)["epoch_seconds"]) < _PATIENCE_SECONDS
            assert eventually(lambda: keys(one) == {"week"}, _PATIENCE_SECONDS)
            assert "was moved ahead by 1d: start the server with --test-clock" in refusal(*flags)
    finally:
        postgres.execute("DROP SCHEMA IF EXISTS hashrange CASCADE")
