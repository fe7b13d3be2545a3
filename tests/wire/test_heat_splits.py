"""Splits for heat on a real server: a hot range is divided and serves more, one hot item is not; it lasts."""

import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from serving import Serving, serving
from wiring import eventually

_PATIENCE_SECONDS = 90
_MINUTES_MAX = 40
_ITEM_UNITS = 400
_CHECK_UNITS = 2 * _ITEM_UNITS  # of a condition in a transaction, which writes nothing
_PARTITION_UNITS = 1_000  # that a partition serves per second
_SORT_KEYS = 10
# So soon the third request must follow, or what the first two took has come back.
_CONCLUSIVE_SECONDS = 0.5
_FLAGS = ("--test-clock", "--capacity", "enforce", "--transition-ms", "0")


def create(server: Serving, table: str) -> None:
    request = {
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    }
    assert server.post("CreateTable", request).status == 200


def fill(server: Serving, table: str) -> None:
    for number in range(_SORT_KEYS):
        item = {**key(number), "v": {"S": "x" * (1024 * _ITEM_UNITS - 100)}}
        assert server.post("PutItem", {"TableName": table, "Item": item}).status == 200
        advance(server, 1)


def key(number: int) -> dict[str, Any]:
    return {"pk": {"S": "hot"}, "sk": {"S": f"{number:02}"}}


def advance(server: Serving, seconds: float) -> None:
    moved = server.request("POST", "/_hashrange/clock", b'{"advance_seconds": %f}' % seconds)
    assert moved.status == 200, moved.body


def is_admitted(server: Serving, table: str, number: int) -> bool:
    """Whether 800 write units are, at one item, by a transaction that only checks."""
    check = {"TableName": table, "Key": key(number), "ConditionExpression": "attribute_exists(pk)"}
    answer = server.post("TransactWriteItems", {"TransactItems": [{"ConditionCheck": check}]})
    if answer.status == 200:
        return True
    assert "ThrottlingError" in answer.body["Message" if "Message" in answer.body else "message"], answer.body
    return False


def heat(server: Serving, table: str) -> Any:
    answer = server.request("GET", f"/_hashrange/heat?table={table}")
    assert answer.status == 200
    return answer.body


def partitions(server: Serving, table: str) -> int:
    shown = len(heat(server, table)["partitions"])
    page = server.request("GET", "/metrics").body.decode()
    (counted,) = re.findall(rf'hashrange_table_partitions\{{[^}}]*table="{table}",index=""\}} (\d+)', page)
    assert int(counted) == shown
    return shown


def is_third_admitted(server: Serving, table: str) -> bool:
    """Whether the last item is, after the first one has taken all that one partition has."""
    for _ in range(100):
        advance(server, 10)
        began = time.monotonic()
        assert is_admitted(server, table, 0)
        assert is_admitted(server, table, 0)
        if not is_admitted(server, table, _SORT_KEYS - 1):
            return False
        if time.monotonic() - began < _CONCLUSIVE_SECONDS:
            return True
    raise AssertionError("the machine is too slow to tell")


def heat_up(server: Serving, draw: random.Random) -> int:
    """A minute in which one table has one hot collection and the other one hot item; gives what each was served.

    The server's clock goes on by itself, too, and is moved by what is left: on a busy machine the requests would
    otherwise take so much of each minute that nothing in it is hot.
    """
    pause = 2 * _CHECK_UNITS / _PARTITION_UNITS
    served, moved, began = 0, 0.0, time.monotonic()
    for number in range(1, int(60 / pause) + 1):
        for _ in range(2):
            served += _CHECK_UNITS * is_admitted(server, "ranges", draw.randrange(_SORT_KEYS))
            is_admitted(server, "items", 3)
        left = number * pause - moved - (time.monotonic() - began)
        if left > 0:
            advance(server, left)
            moved += left
    return served


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_hot_range_is_split_and_a_hot_item_is_not(tmp_path: Path) -> None:
    flags = ("--data-dir", str(tmp_path), *_FLAGS)
    with serving(*flags) as server:
        for table in ("ranges", "items"):
            create(server, table)
            fill(server, table)
        assert partitions(server, "ranges") == 4
        assert not is_third_admitted(server, "ranges")
        draw = random.Random(20261116)
        minutes = 0
        while partitions(server, "ranges") == 4:
            assert minutes < _MINUTES_MAX, heat(server, "ranges")
            assert heat_up(server, draw) >= 0.8 * 60 * _PARTITION_UNITS
            minutes += 1
        assert minutes >= 5, "heat must last"
        shown = heat(server, "ranges")
        assert shown["hottest_keys"][0]["key"] == {"pk": {"S": "hot"}}
        hot = [row for row in shown["partitions"] if row["share"]]
        assert len(hot) == 2, "each half has a part of the traffic"
        assert eventually(lambda: is_third_admitted(server, "ranges"), _PATIENCE_SECONDS)
        assert partitions(server, "items") == 4
        assert "partition.split" in server.log_text()
        count = partitions(server, "ranges")
        assert server.stop() == 0
    with serving(*flags) as server:
        assert partitions(server, "ranges") == count
        assert partitions(server, "items") == 4
        assert is_third_admitted(server, "ranges")
        assert not is_third_admitted(server, "items")
