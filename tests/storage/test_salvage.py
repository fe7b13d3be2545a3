"""`hashrange salvage`: what can be read of a damaged store is whole again in the copy, and the rest is named."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from clocked import Clocked
from faults.stores import FACTS_COUNT, NOTES_COUNT, answers, fact, fill, note, opened
from faults.tables import FACTS, NOTES
from hashrange import cli
from hashrange.storage import layout
from hashrange.storage.engine import Transaction
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.sqlite.schema import PAGE_BYTES
from item_tables import definitions, key_schema
from postgres_server import PostgresServer
from storage.damage import flip, pages_with, run_sql

pytestmark = pytest.mark.slow

FACTS_NUMBER, NOTES_NUMBER = 1, 2
NOTES_STORED = NOTES_COUNT + 2  # one was deleted, three were added in transactions


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A data directory that a test may damage."""
    with opened(tmp_path / "damaged") as service:
        fill(service)
    return tmp_path / "damaged"


def salvage(
    source: Path | str, target: Path | str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[str]]:
    """Status and lines; the copy has no problems."""
    capsys.readouterr()
    status = cli.main(["salvage", "--from", str(source), "--to", str(target)])
    lines = capsys.readouterr().out.splitlines()
    assert cli.main(["verify", str(target)]) == 0, capsys.readouterr().out
    return status, lines


def break_row(directory: Path, number: int, slot: int, word: bytes) -> None:
    """Change a byte of the values in a table or index that contain a word."""
    prefix = layout.rows_prefix(number, slot)
    run_sql(
        directory,
        "UPDATE rows SET v = CAST(substr(v, 1, 30) || x'7f' || substr(v, 32) AS BLOB) "
        "WHERE substr(k, 1, 7) = ? AND instr(v, ?)",
        (prefix, word),
    )


def scanned(service: Clocked, table: str, **options: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = service.call("Scan", TableName=table, **options)["Items"]
    return items


def note_word(number: int) -> bytes:
    text: str = note(number)["text"]["S"]
    return text[:60].encode()


def test_a_sound_store_is_copied_as_it_is(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(damaged) as service:
        expected = answers(service)
    status, lines = salvage(damaged, tmp_path / "new", capsys)
    assert status == 0
    assert lines == [f"{FACTS_COUNT + NOTES_STORED} items of 2 tables copied: nothing is lost"]
    with opened(tmp_path / "new") as service:
        assert answers(service) == expected
        service.call("CreateTable", **{**NEW_TABLE, "TableName": "third"})
        table = service.catalogue.find("000000000000", "us-east-1", "third")
        assert table is not None
        assert table.number == 3
        put = {"Put": {"TableName": NOTES, "Item": note(NOTES_COUNT)}}
        service.call("TransactWriteItems", TransactItems=[put], ClientRequestToken="token-0")


NEW_TABLE = {
    "KeySchema": key_schema("p"),
    "AttributeDefinitions": definitions(p="S"),
    "BillingMode": "PAY_PER_REQUEST",
}


def test_a_damaged_item_is_left_out_with_its_index_entries_and_can_be_put_again(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_row(damaged, NOTES_NUMBER, layout.BASE_SLOT, note_word(30))
    before = (damaged / "hashrange.db").read_bytes()
    status, lines = salvage(damaged, tmp_path / "new", capsys)
    assert (damaged / "hashrange.db").read_bytes() == before
    assert status == 1
    assert len(lines) == 2
    assert lines[0].startswith(f"lost: table {NOTES} (us-east-1), key ")
    assert "wrong checksum" in lines[0]
    with opened(tmp_path / "new") as service:
        assert "Item" not in service.call("GetItem", TableName=NOTES, Key={"pk": {"S": "n30"}})
        for options in ({}, {"IndexName": "by-group"}):
            assert len(scanned(service, NOTES, **options)) == NOTES_STORED - 1
        assert service.describe(NOTES)["ItemCount"] == NOTES_STORED - 1
        service.call("PutItem", TableName=NOTES, Item=note(30))
        assert service.call("GetItem", TableName=NOTES, Key={"pk": {"S": "n30"}})["Item"] == note(30)
    assert cli.main(["verify", str(tmp_path / "new")]) == 0


def test_an_item_is_recovered_from_an_index_that_has_all_of_it(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_row(damaged, FACTS_NUMBER, layout.BASE_SLOT, fact(17)["text"]["S"].encode())
    status, lines = salvage(damaged, tmp_path / "new", capsys)
    count = FACTS_COUNT + NOTES_STORED
    assert (status, lines) == (
        0,
        [f"{count} items of 2 tables copied, 1 of them from an index: nothing is lost"],
    )
    with opened(tmp_path / "new") as service:
        key = {name: fact(17)[name] for name in ("pk", "sk")}
        assert service.call("GetItem", TableName=FACTS, Key=key)["Item"] == fact(17)


def test_damaged_index_entries_lose_nothing(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(damaged) as service:
        expected = answers(service)
    for slot in (1, 2, 3, layout.COLLECTION_SLOT):
        run_sql(
            damaged, "UPDATE rows SET v = x'00' WHERE substr(k, 1, 7) = ?", (layout.rows_prefix(1, slot),)
        )
    run_sql(damaged, "DELETE FROM rows WHERE substr(k, 1, 7) = ?", (layout.rows_prefix(2, 1),))
    assert salvage(damaged, tmp_path / "new", capsys)[0] == 0
    with opened(tmp_path / "new") as service:
        assert answers(service) == expected


def test_what_is_on_a_damaged_page_is_left_out(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (page, *_) = pages_with(damaged, note_word(30))
    flip(damaged / "hashrange.db", page * PAGE_BYTES + 5000)
    status, lines = salvage(damaged, tmp_path / "new", capsys)
    assert status == 1
    assert any("what is on a damaged page, from" in line for line in lines)
    with opened(tmp_path / "new") as service:
        stored = scanned(service, NOTES)
        assert NOTES_STORED - 20 < len(stored) < NOTES_STORED
        assert service.describe(NOTES)["ItemCount"] == len(stored)
        assert len(scanned(service, NOTES, IndexName="by-group")) == len(stored)
        for item in stored:
            assert item == note(int(item["pk"]["S"][1:]))
        assert len(scanned(service, FACTS)) == FACTS_COUNT


def test_a_table_whose_record_is_damaged_is_named_and_its_number_is_not_given_again(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = layout.catalogue_key("000000000000", "us-east-1", NOTES)
    run_sql(damaged, "UPDATE rows SET v = x'00000000' WHERE k = ?", (key,))
    run_sql(damaged, "UPDATE counters SET n = n + 1 WHERE k = ?", (layout.TABLE_NUMBER,))
    status, lines = salvage(damaged, tmp_path / "new", capsys)
    assert status == 1
    assert f"lost: record of table 000000000000/us-east-1/{NOTES}: " in lines[0]
    assert f"lost: all rows of table number {NOTES_NUMBER}: there is no record of it" in lines
    assert any(line.startswith("lost: counters: ") for line in lines)
    with opened(tmp_path / "new") as service:
        assert len(scanned(service, FACTS)) == FACTS_COUNT
        service.call("CreateTable", **{**NEW_TABLE, "TableName": NOTES})
        table = service.catalogue.find("000000000000", "us-east-1", NOTES)
        assert table is not None
        assert table.number == NOTES_NUMBER + 1


def test_a_damaged_token_is_forgotten_and_the_others_still_expire(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_sql(
        damaged,
        "UPDATE rows SET v = x'00' WHERE substr(k, 1, 1) = ? AND instr(k, 'token-1')",
        (layout.TOKEN,),
    )
    run_sql(damaged, "UPDATE rows SET v = x'00' WHERE substr(k, 1, 1) = ?", (layout.TOKEN_EXPIRY,))
    status, lines = salvage(damaged, tmp_path / "new", capsys)
    assert status == 1
    assert sum("idempotency token" in line for line in lines) == 4
    with opened(tmp_path / "new") as service:
        service.clock.advance(100_000)
        service.run_jobs()
        assert service.engine.read(lambda reader: list(reader.scan(layout.TOKEN, layout.TABLE_NUMBER))) == []


def test_a_target_with_data_and_a_source_in_use_are_refused(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(damaged, other)
    assert cli.main(["salvage", "--from", str(damaged), "--to", str(other)]) == 2
    assert "is not empty" in capsys.readouterr().err
    with opened(damaged):
        assert cli.main(["salvage", "--from", str(damaged), "--to", str(tmp_path / "new")]) == 2
        assert "a server is running on" in capsys.readouterr().err
    assert cli.main(["salvage", "--from", str(tmp_path / "none"), "--to", str(tmp_path / "new")]) == 2
    assert "there is no data in" in capsys.readouterr().err


def test_postgres_is_salvaged_into_a_directory(
    postgres: PostgresServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    postgres.execute("CREATE DATABASE salvaged")
    url = postgres.url("salvaged")
    engine = PostgresEngine.open(url)
    service = Clocked(engine)
    service.clock.advance(1000)
    fill(service)
    row = layout.rows_prefix(NOTES_NUMBER, layout.BASE_SLOT)
    key = next(key for key, value in everything(engine, row) if note_word(30) in value)
    engine.close()
    sql = f"UPDATE hashrange.rows SET v = set_byte(v, 40, 1) WHERE k = '\\x{key.hex()}'"
    postgres.execute(sql, "salvaged")
    status, lines = salvage(url, tmp_path / "new", capsys)
    assert status == 1
    assert len(lines) == 2
    with opened(tmp_path / "new") as copy:
        assert len(scanned(copy, NOTES)) == NOTES_STORED - 1


def everything(engine: PostgresEngine, prefix: bytes) -> list[tuple[bytes, bytes]]:
    def rows(tx: Transaction) -> list[tuple[bytes, bytes]]:
        return list(tx.scan(prefix, prefix + b"\xff"))

    return engine.write(rows)
