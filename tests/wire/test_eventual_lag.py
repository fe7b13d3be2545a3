"""--eventual-lag on a real server: all workers see the same past, and it survives a restart."""

from pathlib import Path
from typing import Any

import pytest

from serving import Serving, serving

pytestmark = pytest.mark.slow

KEY = {"pk": {"S": "k"}}
LAG = ("--eventual-lag", "60000", "--test-clock")


def get(server: Serving, *, consistent: bool) -> Any:
    # Every request has a connection of its own, and so comes to any worker.
    answer = server.post("GetItem", {"TableName": "ttt", "Key": KEY, "ConsistentRead": consistent})
    assert answer.status == 200, answer.body
    return answer.body.get("Item")


def make(server: Serving) -> None:
    made = server.post(
        "CreateTable",
        {
            "TableName": "ttt",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    assert made.status == 200, made.body


def advance(server: Serving, seconds: int) -> None:
    moved = server.request("POST", "/_hashrange/clock", b'{"advance_seconds": %d}' % seconds)
    assert moved.status == 200


def test_all_workers_are_behind_alike(tmp_path: Path) -> None:
    flags = ("--data-dir", str(tmp_path / "data"), "--workers", "2", *LAG)
    with serving(*flags) as server:
        make(server)
        advance(server, 1)
        assert server.post("PutItem", {"TableName": "ttt", "Item": KEY}).status == 200
        assert [get(server, consistent=False) for _ in range(10)] == [None] * 10
        assert [get(server, consistent=True) for _ in range(10)] == [KEY] * 10
        server.stop()
    with serving(*flags) as server:
        assert get(server, consistent=False) is None
        advance(server, 61)
        assert [get(server, consistent=False) for _ in range(10)] == [KEY] * 10
