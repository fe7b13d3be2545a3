"""Damaged data behind a running server: a clear error for who needs it, a line in the log, and all else works."""

import contextlib
from pathlib import Path
from typing import Any

import pytest

from faults.line import Line, Refused
from faults.stores import fill, note, opened
from faults.tables import NOTES
from hashrange.storage.sqlite.schema import PAGE_BYTES
from serving import serving
from storage.damage import flip, pages_with, run_sql

pytestmark = pytest.mark.slow


def refused(line: Line, operation: str, request: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="Stored data is damaged; the server's log says which") as refusal:
        line.call(operation, request)
    assert (refusal.value.status, refusal.value.code) == (500, "InternalServerError")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_damaged_item(tmp_path: Path, workers: str) -> None:
    with opened(tmp_path) as service:
        fill(service)
    wanted = note(30)["text"]["S"][:20].encode()
    run_sql(
        tmp_path,
        "UPDATE rows SET v = CAST(substr(v, 1, 30) || x'7f' || substr(v, 32) AS BLOB) "
        "WHERE substr(k, 1, 1) = x'10' AND instr(v, ?) AND substr(k, 6, 2) = x'0000'",
        (wanted,),
    )
    with serving("--data-dir", str(tmp_path), "--workers", workers) as server, Line(server.port) as line:
        key = {"TableName": NOTES, "Key": {"pk": {"S": "n30"}}}
        for _ in range(20):
            refused(line, "GetItem", key)
            refused(line, "DeleteItem", key)
            refused(line, "PutItem", {"TableName": NOTES, "Item": note(30)})
        refused(line, "BatchGetItem", {"RequestItems": {NOTES: {"Keys": [{"pk": {"S": "n30"}}]}}})
        refused(line, "Scan", {"TableName": NOTES, "FilterExpression": "attribute_exists(pk)"})
        for number in range(1, 60):
            if number != 30:
                item = line.call("GetItem", {"TableName": NOTES, "Key": {"pk": {"S": f"n{number}"}}})["Item"]
                assert item == note(number)
        line.call("PutItem", {"TableName": NOTES, "Item": note(31)})
        log = server.log_text()
    assert "Traceback" not in log
    assert f"storage.damaged operation=GetItem table={NOTES} reason=" in log
    assert "wrong checksum: table number" in log
    assert len(log.splitlines()) < 15


def test_a_damaged_page_met_by_a_scan(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        fill(service)
    (page, *_) = pages_with(tmp_path, note(30)["text"]["S"][:100].encode())
    flip(tmp_path / "hashrange.db", page * PAGE_BYTES + 5000)
    with serving("--data-dir", str(tmp_path)) as server, Line(server.port) as line:
        for _ in range(10):
            refused(line, "Scan", {"TableName": NOTES})
        readable = 0
        for number in range(1, 60):
            with contextlib.suppress(Refused):
                item = line.call("GetItem", {"TableName": NOTES, "Key": {"pk": {"S": f"n{number}"}}})["Item"]
                assert item == note(number)
                readable += 1
        assert readable > 40
        log = server.log_text()
    assert "Traceback" not in log
    assert f"storage.damaged operation=Scan table={NOTES} reason=" in log
    assert f"page {page + 1} of {tmp_path / 'hashrange.db'}; table number 2, item, key" in log
    assert log.count("storage.damaged") == 1  # it is one page, whatever is read from it
