"""Work that goes on behind an answer is taken up again after kill -9: filling an index, clearing a table."""

import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from faults.line import Line, Refused
from faults.load import await_writes, under_load, writers
from faults.tables import FACTS, await_active, check_table, create, everything
from faults.writer import Writer, settle_after_crash
from hashrange.core import schema
from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Reader
from hashrange.storage.sqlite import SqliteEngine
from serving import serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

_ITEMS = 10_000
_KILLS = 3
_STARTS_MAX = 20


def _new_index(line: Line) -> None:
    line.call(
        "UpdateTable",
        {
            "TableName": FACTS,
            "AttributeDefinitions": [{"AttributeName": "late", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [
                {
                    "Create": {
                        "IndexName": "by-late",
                        "KeySchema": [{"AttributeName": "late", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                }
            ],
        },
    )


def _renew_index(line: Line) -> None:
    """Fill it once more, because it was complete before the server was killed."""
    line.call(
        "UpdateTable",
        {"TableName": FACTS, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by-late"}}]},
    )
    while any(index["IndexName"] == "by-late" for index in _indexes(line)):
        time.sleep(0.02)
    await_active(line, FACTS)
    _new_index(line)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_index_is_filled_in_spite_of_load_and_kills(tmp_path: Path, workers: int) -> None:
    working, bulk = writers(2, 4), Writer("bulk", Random(3))
    flags = ("--data-dir", str(tmp_path), "--log-level", "warning", "--workers", str(workers))
    with serving(*flags) as server, Line(server.port) as line:
        create(line)
        bulk.fill(line, _ITEMS)
        _new_index(line)
        with under_load(server.port, working):
            await_writes(working, 20)
            killed_halfway = int(_is_filling(line))
            server.process.kill()
    for _ in range(_STARTS_MAX):
        if killed_halfway > _KILLS:
            break
        with serving(*flags) as server, Line(server.port) as line:
            if not _is_filling(line):
                _renew_index(line)
            killed_halfway += _is_filling(line)
            server.process.kill()
    assert killed_halfway > _KILLS, "the index was always filled before the server was killed"
    with serving(*flags) as server, Line(server.port) as line:
        settle_after_crash([*working, bulk], everything(line))
        with under_load(server.port, working):
            await_active(line, FACTS)
        settle_after_crash([*working, bulk], everything(line))
        assert len(line.everything({"TableName": FACTS, "IndexName": "by-late"})) > _ITEMS / 4


def _indexes(line: Line) -> list[dict[str, Any]]:
    described: dict[str, Any] = line.call("DescribeTable", {"TableName": FACTS})["Table"]
    indexes: list[dict[str, Any]] = described["GlobalSecondaryIndexes"]
    return indexes


def _is_filling(line: Line) -> bool:
    return any(index["IndexStatus"] == "CREATING" for index in _indexes(line))


def test_a_deleted_table_is_cleared_in_spite_of_kills(tmp_path: Path) -> None:
    flags = ("--data-dir", str(tmp_path), "--log-level", "warning", "--transition-ms", "0")
    for _ in range(_STARTS_MAX):
        with serving(*flags) as server, Line(server.port) as line:
            _create_again(line)
            Writer("bulk", Random(4)).fill(line, _ITEMS)
            line.call("DeleteTable", {"TableName": FACTS})
            server.process.kill()
        if _garbage(tmp_path):
            break
    assert _garbage(tmp_path), "everything was always cleared before the server was killed"
    for _ in range(_KILLS):
        with serving(*flags) as server, Line(server.port) as line:
            with pytest.raises(Refused, match="ResourceNotFoundException"):
                line.call("DescribeTable", {"TableName": FACTS})
            time.sleep(0.05)  # some of it may be cleared, or all
            server.process.kill()
    with serving(*flags) as server, Line(server.port) as line:
        _create_again(line)
        assert check_table(line, FACTS) == []
        _await_cleared(tmp_path)
        assert server.stop() == 0
    assert not _garbage(tmp_path)


def _create_again(line: Line) -> None:
    for name in line.call("ListTables", {})["TableNames"]:
        line.call("DeleteTable", {"TableName": name})
    create(line)


def _await_cleared(folder: Path) -> None:
    """The file shrinks once the rows are gone."""
    deadline = time.monotonic() + 120
    file = next(folder.glob("*.db"))
    while file.stat().st_size > 2_000_000:
        assert time.monotonic() < deadline, f"{file.stat().st_size} bytes are left"
        time.sleep(0.1)


def _garbage(folder: Path) -> list[bytes]:
    """Rows of tables that the catalogue does not have, one per table, looked up in the data file itself."""
    engine = SqliteEngine.open(folder)

    def step(reader: Reader) -> list[bytes]:
        records = reader.scan(layout.CATALOGUE, encoding.prefix_end(layout.CATALOGUE))
        known = {layout.table_rows_prefix(schema.decode(value).number) for _, value in records}
        found = []
        start = layout.ROWS
        while row := next(reader.scan(start, encoding.prefix_end(layout.ROWS), limit=1), None):
            prefix = row[0][: len(layout.table_rows_prefix(0))]
            start = encoding.prefix_end(prefix)
            if prefix not in known:
                found.append(prefix)
        return found

    try:
        return engine.read(step)
    finally:
        engine.close()
