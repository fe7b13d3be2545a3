"""`hashrange migrate`: there and back again, interrupted and resumed, checked, and never on half the data."""

import itertools
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from encrypted_store import encrypted_store, key_file
from hashrange.cli import main
from hashrange.storage import copying, layout
from hashrange.storage.copying import checksum
from hashrange.storage.engine import Transaction
from hashrange.storage.errors import OpenError
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.sqlite import SqliteEngine
from new_tables import request as new_table
from serving import serving

ROWS = layout.ROWS + b"\0\0\0\1\0\0"


def fill(path: Path) -> copying.Checksum:
    """Rows of all sizes, keys too long for an index, and counters."""

    def step(tx: Transaction) -> None:
        for number in range(1300):
            tx.put(ROWS + b"%06d" % number, b"v" * (number % 97))
        for number in range(5):
            tx.put(ROWS + b"large%d" % number, bytes(400_000))
            tx.put(ROWS + b"l" * 2500 + b"%d" % number, b"long")
        tx.add(layout.TABLE_NUMBER, 7)
        tx.add(layout.COUNT + b"gone", 0)
        tx.add(layout.COUNT + b"some", -3)

    with closing(SqliteEngine.open(path)) as engine:
        engine.write(step)
        return checksum(engine, lambda _: None)


def sum_of(url: str) -> copying.Checksum:
    with closing(PostgresEngine.open(url)) as engine:
        return checksum(engine, lambda _: None)


def run(source: object, target: object) -> int:
    return main(["migrate", "--from", str(source), "--to", str(target)])


def test_there_and_back_everything_is_the_same(
    tmp_path: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = fill(tmp_path / "one")
    assert before.rows == 1310
    assert run(tmp_path / "one", database) == 0
    assert sum_of(database) == before
    assert run(database, tmp_path / "two") == 0
    out, err = capsys.readouterr()
    assert out.count(before.digest) == 2
    assert "copied" in err
    with closing(SqliteEngine.open(tmp_path / "two")) as engine:
        assert checksum(engine, lambda _: None) == before
        assert engine.read(lambda reader: reader.counter(layout.TABLE_NUMBER)) == 7


def test_a_copy_that_was_interrupted_goes_on_where_it_stopped(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fill(tmp_path / "data")
    written: list[int] = []
    copy_chunk = copying._copy_chunk

    def tripping(*arguments: Any) -> Any:
        if len(written) in (1, 2):
            written.append(0)
            raise OpenError("the cable was pulled")
        further = copy_chunk(*arguments)
        written.append(0 if further is None else further.rows - arguments[2].rows)
        return further

    monkeypatch.setattr(copying, "_copy_chunk", tripping)
    assert [run(tmp_path / "data", database) for _ in range(3)] == [1, 1, 0]
    assert sum(written) == before.rows  # nothing was copied twice
    assert sum_of(database) == before


def test_a_server_does_not_start_on_half_a_copy(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "data")

    def trip(*_: Any) -> None:
        raise OpenError("the cable was pulled")

    monkeypatch.setattr(copying, "_copy_counters", trip)
    assert run(tmp_path / "data", database) == 1
    with pytest.raises(RuntimeError, match="not complete"), serving("--engine", database):
        pass
    monkeypatch.undo()
    assert run(tmp_path / "data", database) == 0
    with serving("--engine", database) as server:
        assert server.post("ListTables", {}).status == 200


def test_a_copy_that_differs_is_found_out(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "data")
    copy_counters = copying._copy_counters

    def spoil(source: Any, target: Any) -> None:
        copy_counters(source, target)
        target.write(lambda tx: tx.put(ROWS + b"000007", b"other"))

    monkeypatch.setattr(copying, "_copy_counters", spoil)
    assert run(tmp_path / "data", database) == 1
    assert "differs" in capsys.readouterr().err


def test_a_source_that_was_used_meanwhile_is_found_out_and_the_way_out_is_named(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "data")
    copy_chunk = copying._copy_chunk
    chunks = itertools.count(1)

    def interrupted(*arguments: Any) -> Any:
        if next(chunks) == 3:
            raise KeyboardInterrupt
        return copy_chunk(*arguments)

    monkeypatch.setattr(copying, "_copy_chunk", interrupted)
    assert run(tmp_path / "data", database) == 130
    assert "again to go on" in capsys.readouterr().err.splitlines()[-1]
    with closing(SqliteEngine.open(tmp_path / "data")) as engine:
        engine.write(lambda tx: tx.delete(ROWS + b"000001"))
    assert run(tmp_path / "data", database) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert "1309 rows in SQLite" in said
    assert "empty the target and begin again" in said


def test_places_that_are_none(tmp_path: Path, database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(database, tmp_path / "new") == 1  # a database that is empty
    assert "no data" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    fill(tmp_path / "data")
    assert run(tmp_path / "data", "mysql://me:secret@host/db") == 1
    assert "mysql://me:***@host/db is neither a directory nor a URL" in capsys.readouterr().err
    assert run(tmp_path / "data", database) == 0
    assert run(database, database) == 1
    assert "the same" in capsys.readouterr().err


def test_only_an_empty_place_is_copied_to(
    tmp_path: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "data")
    fill(tmp_path / "other")
    assert run(tmp_path / "data", tmp_path / "other") == 1
    assert "not empty" in capsys.readouterr().err
    assert run(tmp_path / "nothing", database) == 1
    assert "no data" in capsys.readouterr().err


def test_tables_of_a_server_live_on_after_the_move(tmp_path: Path, database: str) -> None:
    definition = {
        "TableName": "moved",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "g", "AttributeType": "N"},
        ],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by-g",
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    with serving("--data-dir", str(tmp_path / "data"), "--transition-ms", "0") as server:
        assert server.post("CreateTable", definition).status == 200
        for number in range(30):
            item = {"pk": {"S": f"item {number}"}, "g": {"N": str(number % 3)}}
            assert server.post("PutItem", {"TableName": "moved", "Item": item}).status == 200
        before = server.post("Scan", {"TableName": "moved"}).body
    assert run(tmp_path / "data", database) == 0
    with serving("--engine", database, "--transition-ms", "0") as server:
        assert server.post("Scan", {"TableName": "moved"}).body == before
        assert server.post("DescribeTable", {"TableName": "moved"}).body["Table"]["ItemCount"] == 30
        query = {
            "TableName": "moved",
            "IndexName": "by-g",
            "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": {":g": {"N": "1"}},
        }
        assert server.post("Query", query).body["Count"] == 10
        assert server.post("CreateTable", {**definition, "TableName": "another"}).status == 200
        assert main(["migrate", "--from", database, "--to", str(tmp_path / "back")]) == 1


def test_encrypted_data_goes_there_and_back_and_changes_its_root_key_there(
    tmp_path: Path, database: str
) -> None:
    old, new = key_file(tmp_path, 1), key_file(tmp_path, 2)
    with encrypted_store(tmp_path / "one", None) as service:
        service.call("CreateTable", **new_table("pk", TableName="one"))
        service.settle()
        service.call("PutItem", TableName="one", Item={"pk": {"S": "a"}, "v": {"S": "canary"}})
    assert main(["migrate", "--from", str(tmp_path / "one"), "--to", database, *root_key(old)]) == 0
    with closing(PostgresEngine.open(database)) as engine:
        rows = engine.read(lambda reader: list(reader.scan(b"\0", b"\xff")))
    assert [key for key, value in rows if b"canary" in value] == []
    assert main(["verify", database, *root_key(old)]) == 0
    rotation = ("--from", f"file:{old}", "--to", f"file:{new}", "--no-backups")
    assert main(["root-key", "rotate", database, *rotation]) == 0
    assert run(database, tmp_path / "two") == 0
    with encrypted_store(tmp_path / "two", new) as service:
        item = service.call("GetItem", TableName="one", Key={"pk": {"S": "a"}})["Item"]
        assert item["v"] == {"S": "canary"}


def root_key(path: Path) -> tuple[str, str]:
    return "--root-key", f"file:{path}"
