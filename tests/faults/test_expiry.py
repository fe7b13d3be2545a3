"""Expiry in spite of kill -9: no item is deleted that has not expired, none that has stays, each is counted once."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from faults.line import Line
from faults.tables import FACTS, create, everything
from hashrange import cli
from serving import Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

_EXPIRED = 6000
_FRESH = 500
_BATCH = 25
_PATIENCE_SECONDS = 120


def _fill(line: Line) -> None:
    """Most items have expired; the setting is younger than half of them."""
    now = int(time.time())
    for start in range(0, _EXPIRED + _FRESH, _BATCH):
        if start == _EXPIRED // 2:
            specification = {"AttributeName": "expires", "Enabled": True}
            line.call("UpdateTimeToLive", {"TableName": FACTS, "TimeToLiveSpecification": specification})
        items = [_item(number, now) for number in range(start, start + _BATCH)]
        requests = [{"PutRequest": {"Item": item}} for item in items]
        line.call("BatchWriteItem", {"RequestItems": {FACTS: requests}})


def _item(number: int, now: int) -> dict[str, Any]:
    expires = now - 3600 + number % 600 if number < _EXPIRED else now + 86_400
    return {
        "pk": {"S": f"p{number % 50}"},
        "sk": {"N": str(number)},
        "rank": {"N": str(number % 7)},
        "group": {"S": f"g{number % 5}"},
        "version": {"N": "1"},
        "expires": {"N": str(expires)},
    }


def _deleted(server: Serving) -> int:
    page = server.request("GET", "/metrics").body.decode()
    found = re.search(r"^hashrange_ttl_deleted_items_total\{[^}]*\} ([0-9]+)$", page, re.MULTILINE)
    return int(found[1]) if found else 0


def _await_deleted(server: Serving, count: int) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while _deleted(server) < count:
        assert time.monotonic() < deadline, f"{_deleted(server)} are deleted"
        time.sleep(0.05)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sweep_goes_on_after_every_kill(tmp_path: Path, workers: int) -> None:
    flags = ("--data-dir", str(tmp_path), "--log-level", "warning", "--workers", str(workers))
    with serving(*flags, "--ttl-lag", "30d") as server, Line(server.port) as line:
        create(line)
        _fill(line)
        assert _deleted(server) == 0
        server.process.kill()
    for kill in range(1, 4):
        with serving(*flags) as server:
            _await_deleted(server, kill * 400)
            server.process.kill()
        assert cli.main(["verify", str(tmp_path)]) == 0
    with serving(*flags) as server, Line(server.port) as line:
        _await_deleted(server, _EXPIRED)
        left = {int(item["sk"]["N"]) for item in line.everything({"TableName": FACTS})}
        assert left == set(range(_EXPIRED, _EXPIRED + _FRESH))
        for name in ("by-rank", "by-group", "brief"):
            assert len(line.everything({"TableName": FACTS, "IndexName": name})) == _FRESH
        assert line.call("DescribeTable", {"TableName": FACTS})["Table"]["ItemCount"] == _FRESH
        assert _deleted(server) == _EXPIRED
        assert len(everything(line)) == _FRESH
        assert server.stop() == 0
    assert cli.main(["verify", str(tmp_path)]) == 0
