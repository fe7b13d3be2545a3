"""`hashrange verify`: a sound store has no problems, and every kind of damage is reported."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from clocked import Clocked
from faults.stores import fact, fill, opened
from faults.tables import FACTS, NOTES
from hashrange import cli
from hashrange.core import items
from hashrange.core.schema import changed
from hashrange.storage import catalogue, expiry, layout, store
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.errors import Corrupt
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine
from hashrange.storage.sqlite.schema import PAGE_BYTES
from hashrange.storage.verification import rows
from hashrange.storage.verification.report import Problem
from hashrange.storage.verification.tables import Tables
from postgres_server import PostgresServer
from storage.damage import flip, pages_with, run_sql


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A data directory that nobody uses."""
    with opened(tmp_path / "data") as service:
        fill(service)
    return tmp_path / "data"


def verify(place: Path | str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    capsys.readouterr()
    status = cli.main(["verify", "--json", str(place)])
    return status, json.loads(capsys.readouterr().out)


def kinds(place: Path | str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    status, report = verify(place, capsys)
    assert status == 1
    assert not report["ok"]
    return {problem["kind"] for problem in report["problems"]}


def test_a_sound_store_has_no_problems(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (directory / "hashrange.db").read_bytes()
    status, report = verify(directory, capsys)
    assert (status, report["ok"], report["problems"], report["skipped"]) == (0, True, [], [])
    assert report["tables"] == 2
    assert report["rows"] > 200
    assert (directory / "hashrange.db").read_bytes() == before
    assert cli.main(["verify", str(directory)]) == 0
    assert "of 2 tables" in capsys.readouterr().out


def test_a_store_in_use_is_verified_beside_its_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(tmp_path) as service:
        fill(service)
        assert verify(tmp_path, capsys)[0] == 0
        service.call("PutItem", TableName=FACTS, Item=fact(1000))
        assert verify(tmp_path, capsys)[0] == 0


_COUNTERS = {layout.TABLE_NUMBER, layout.COUNT, layout.SIZE, layout.EXPIRED_ITEMS}


@pytest.mark.parametrize("prefix", sorted(layout._NAMES.keys() - _COUNTERS))
def test_every_kind_of_row_is_known(prefix: bytes) -> None:
    """A report's lines that wait for a file were taken for rows of nobody."""

    def step(reader: Reader) -> list[Problem]:
        problems: list[Problem] = []
        with suppress(Corrupt):  # the value has nothing in it
            problems += rows.problems_of(reader, Tables(b"", {}, ()), prefix + b"0" * 20, b"")
        return problems

    engine = MemoryEngine()
    try:
        problems = engine.read(step)
    finally:
        engine.close()
    assert [problem for problem in problems if "no known kind" in problem.detail] == []


def damage(directory: Path, step: Any) -> None:
    """Write something wrong through the engine, so that all checksums are right."""
    engine = SqliteEngine.open(directory)
    try:
        tables = {table.name: table for table in catalogue.Catalogue(engine).tables()}
        engine.write(lambda tx: step(tx, tables))
    finally:
        engine.close()


def first(tx: Transaction, prefix: bytes) -> tuple[bytes, bytes]:
    return next(iter(tx.scan(prefix, prefix + b"\xff" * 8, limit=1)))


def lose_index_entry(tx: Transaction, tables: Any) -> None:
    tx.delete(first(tx, layout.rows_prefix(tables[NOTES].number, 1))[0])


def lose_item(tx: Transaction, tables: Any) -> None:
    tx.delete(first(tx, layout.rows_prefix(tables[NOTES].number, 0))[0])


def change_item(tx: Transaction, tables: Any) -> None:
    key, value = first(tx, layout.rows_prefix(tables[FACTS].number, 0))
    item = items.decode(value) | {"text": {"S": "changed"}}
    tx.put(key, items.encode(item, items.item_size(item), 1.0))


def move_item(tx: Transaction, tables: Any) -> None:
    key, value = first(tx, layout.rows_prefix(tables[NOTES].number, 0))
    tx.put(key + b"x", value)


def wrong_size(tx: Transaction, tables: Any) -> None:
    key, value = first(tx, layout.rows_prefix(tables[NOTES].number, 0))
    tx.put(key, items.encode(items.decode(value), 7, 1.0))


def wrong_count(tx: Transaction, tables: Any) -> None:
    tx.add(layout.count_key(tables[NOTES].number, 0), 1)


def wrong_collection(tx: Transaction, tables: Any) -> None:
    key, _ = first(tx, layout.rows_prefix(tables[FACTS].number, layout.COLLECTION_SLOT))
    tx.put(key, (5).to_bytes(8, "big"))


def orphans(tx: Transaction, _tables: Any) -> None:
    tx.put(layout.rows_prefix(999, 0) + b"key", b"value")
    tx.put(b"\x7f?", b"value")
    tx.add(layout.count_key(998, 0), 1)


def wrong_sequence(tx: Transaction, _tables: Any) -> None:
    tx.add(layout.TABLE_NUMBER, -1)


def wrong_version(tx: Transaction, tables: Any) -> None:
    tx.put(layout.version_key(tables[NOTES].number), (77).to_bytes(4, "big"))


def expiry_prefix(tables: Any) -> bytes:
    table = tables[FACTS]
    return layout.rows_prefix(table.number, table.ttl.slot)


def lose_expiry_row(tx: Transaction, tables: Any) -> None:
    tx.delete(first(tx, expiry_prefix(tables))[0])


def move_expiry_row(tx: Transaction, tables: Any) -> None:
    row, _ = first(tx, expiry_prefix(tables))
    second, key = expiry.split_row_key(row)
    table = tables[FACTS]
    tx.delete(row)
    tx.put(expiry.row_key(table.number, table.ttl.slot, second + 1, key), b"")


def lose_ttl(tx: Transaction, tables: Any) -> None:
    catalogue.save(tx, changed(tables[FACTS], ttl=None), 1.0)


def orphan_progress(tx: Transaction, tables: Any) -> None:
    tx.put(layout.backfill_key(tables[FACTS].number, tables[FACTS].ttl.slot + 1), b"x")


def lost_expiry(tx: Transaction, _tables: Any) -> None:
    tx.delete(first(tx, layout.TOKEN_EXPIRY)[0])


def no_json(tx: Transaction, tables: Any) -> None:
    tx.put(store.row_key(tables[NOTES], b"12345678key"), b"\2" * 16 + b"{")


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (lose_index_entry, {"missing index entry", "wrong counter"}),
        (lose_item, {"extra index entry", "wrong counter"}),
        (change_item, {"wrong index entry", "wrong counter", "wrong collection size"}),
        (move_item, {"misplaced row", "wrong counter"}),
        (wrong_size, {"wrong size", "wrong counter"}),
        (wrong_count, {"wrong counter"}),
        (wrong_collection, {"wrong collection size"}),
        (orphans, {"orphan row", "orphan counter"}),
        (wrong_sequence, {"wrong sequence"}),
        (wrong_version, {"wrong version"}),
        (lost_expiry, {"missing row"}),
        (lose_expiry_row, {"missing expiry row"}),
        (move_expiry_row, {"missing expiry row", "extra expiry row"}),
        (lose_ttl, {"orphan row"}),
        (orphan_progress, {"orphan row"}),
        (no_json, {"unreadable value", "wrong counter"}),
    ],
)
def test_what_does_not_fit_together_is_reported(
    directory: Path, capsys: pytest.CaptureFixture[str], step: Any, expected: set[str]
) -> None:
    damage(directory, step)
    assert kinds(directory, capsys) == expected


def test_a_damaged_row_is_reported_by_table_and_key_and_the_rest_is_verified(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, before = verify(directory, capsys)
    change = "UPDATE rows SET v = CAST(substr(v, 1, 30) || x'00' || substr(v, 32) AS BLOB)"
    run_sql(directory, f"{change} WHERE k = (SELECT min(k) FROM rows WHERE k > x'10')")
    status, report = verify(directory, capsys)
    assert status == 1
    (problem,) = report["problems"]
    assert problem["kind"] == "damaged row"
    assert problem["place"].startswith(f"table {FACTS} (us-east-1), key ")
    assert report["rows"] == before["rows"] - 1
    assert len(report["skipped"]) == 1


def test_a_damaged_page_is_reported_and_the_walk_goes_on_behind_it(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, before = verify(directory, capsys)
    (page, *_) = pages_with(directory, b"[30][30]")
    flip(directory / "hashrange.db", page * PAGE_BYTES + 4000)
    status, report = verify(directory, capsys)
    assert status == 1
    assert {"damaged page", "damaged structure"} <= {problem["kind"] for problem in report["problems"]}
    assert before["rows"] // 2 < report["rows"] < before["rows"]


@pytest.mark.slow
def test_a_store_on_postgresql(postgres: PostgresServer, capsys: pytest.CaptureFixture[str]) -> None:
    postgres.execute("DROP SCHEMA IF EXISTS hashrange CASCADE")
    engine = PostgresEngine.open(postgres.url())
    try:
        fill(Clocked(engine))
        assert verify(postgres.url(), capsys)[0] == 0
        first_row = "(SELECT min(k) FROM hashrange.rows WHERE k > '\\x10')"
        postgres.execute(f"UPDATE hashrange.rows SET v = v || 'x'::bytea WHERE k = {first_row}")
        assert kinds(postgres.url(), capsys) == {"damaged row"}
    finally:
        engine.close()
        postgres.execute("DROP SCHEMA IF EXISTS hashrange CASCADE")
