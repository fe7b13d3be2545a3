"""From files into tables and back: exports of the service, CSV, JSON lines, buckets."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from export_samples import incremental_export, sample_export, write_objects
from item_tables import make_table, unique
from moto_server import ACCESS_KEY, SECRET_KEY, moto_server, s3_client
from serving import Serving
from transfers import Transfer, contents, full_table
from value_strategies import values

ITEMS = [{"Id": {"N": str(number)}, "v": {"S": "full"}} for number in range(5)]


@pytest.mark.parametrize("form", ["DYNAMODB_JSON", "ION"])
def test_an_export_of_the_service_is_imported(
    transfer: Transfer, other: Any, other_server: Serving, folder: Path, form: str
) -> None:
    write_objects(folder / "bucket", sample_export(form))
    target = f"{other_server.endpoint}/{unique('books')}"
    ended = transfer("import", "--from", "bucket", "--to", target, "--key", "Id:N", "--verify")
    assert ended.status == 0, ended.err
    items = contents(other, target.rpartition("/")[2])
    assert {item["Id"]["N"]: item.get("Blob") for item in items} == {
        "103": None,
        "-0.0015": {"B": b"\xde\xad\xbe\xef"},
    }


@pytest.mark.parametrize("view", ["NEW_IMAGE", "NEW_AND_OLD_IMAGES"])
def test_incremental_exports_are_applied_in_order(
    transfer: Transfer, other: Any, other_server: Serving, folder: Path, view: str
) -> None:
    objects = sample_export("DYNAMODB_JSON", items=ITEMS)
    # Later by its times, though earlier by its name.
    objects |= incremental_export(
        "01700000000001-aaaaaaaa", ("02", "03"), [("1", "second"), ("3", None), ("9", None)], view
    )
    objects |= incremental_export(
        "01700000000002-bbbbbbbb", ("01", "02"), [("1", "first"), ("2", None), ("7", "new"), ("3", "x")], view
    )
    write_objects(folder / "bucket", objects)
    target = f"{other_server.endpoint}/{unique('chain')}"
    ended = transfer("import", "--from", "bucket", "--to", target, "--key", "Id:N", "--verify")
    assert ended.status == 0, ended.err
    state = {item["Id"]["N"]: item["v"]["S"] for item in contents(other, target.rpartition("/")[2])}
    assert state == {"0": "full", "1": "second", "4": "full", "7": "new"}
    assert "both sides have 4 items" in ended.out


def test_a_gap_between_exports_is_refused(transfer: Transfer, other_server: Serving, folder: Path) -> None:
    objects = sample_export("DYNAMODB_JSON", items=ITEMS)
    objects |= incremental_export("01700000000001-aaaaaaaa", ("02", "03"), [("1", "x")], "NEW_IMAGE")
    write_objects(folder / "bucket", objects)
    ended = transfer("import", "--from", "bucket", "--to", f"{other_server.endpoint}/gap", "--key", "Id:N")
    assert ended.status == 1
    assert "an incremental export is missing" in ended.err


def test_the_folder_of_one_export_is_enough(
    transfer: Transfer, other: Any, other_server: Serving, folder: Path
) -> None:
    objects = sample_export("DYNAMODB_JSON", items=ITEMS)
    objects |= incremental_export("01700000000001-aaaaaaaa", ("01", "02"), [("1", "x")], "NEW_IMAGE")
    write_objects(folder / "bucket", objects)
    table = make_table(other, "Id", types={"Id": "N"})
    place = f"{other_server.endpoint}/{table}"
    assert (
        transfer("import", "--from", "bucket/AWSDynamoDB/01700000000001-aaaaaaaa", "--to", place).status == 0
    )
    assert contents(other, table) == [{"Id": {"N": "1"}, "v": {"S": "x"}}]


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("data/aaaaaaaaaaaaaaaaaaaaaaaaaa.json.gz", lambda data: data[:-4], "checksum"),
        ("data/aaaaaaaaaaaaaaaaaaaaaaaaaa.json.gz", lambda _: gzip.compress(b'{"Item":1}\n'), "Item"),
        ("data/aaaaaaaaaaaaaaaaaaaaaaaaaa.json.gz", lambda _: gzip.compress(b""), "checksum"),
        ("data/aaaaaaaaaaaaaaaaaaaaaaaaaa.json.gz", None, "which its manifest names"),
        ("manifest-files.json", lambda data: data + b" ", "checksum"),
        ("manifest-summary.json", None, "is not complete"),
    ],
)
def test_a_damaged_export_is_refused(
    transfer: Transfer, other_server: Serving, folder: Path, name: str, spoil: Any, message: str
) -> None:
    objects = sample_export("DYNAMODB_JSON")
    key = next(key for key in objects if key.endswith(name))
    if spoil is None:
        del objects[key]
    else:
        objects[key] = spoil(objects[key])
    write_objects(folder / "bucket", objects)
    target = f"{other_server.endpoint}/{unique('damaged')}"
    ended = transfer("import", "--from", "bucket", "--to", target, "--key", "Id:N")
    assert ended.status == 1
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_csv_has_the_types_of_the_keys(
    transfer: Transfer, other: Any, other_server: Serving, folder: Path
) -> None:
    (folder / "rows.csv").write_text('pk;sk;note\na;1;"x;y"\na;2;\nb;none;z\na;1;last\n', "utf-8")
    table = unique("csv")
    target = ("--to", f"{other_server.endpoint}/{table}", "--key", "pk:S,sk:N")
    ended = transfer("import", "--from", "rows.csv", *target, "--delimiter", ";", "--verify")
    assert ended.status == 3, ended.err
    assert "rows.csv, record 3" in ended.err
    assert "both sides have 2 items" in ended.out
    notes = {item["sk"]["N"]: item["note"]["S"] for item in contents(other, table)}
    assert notes == {"1": "last", "2": ""}


def test_csv_without_a_header_in_a_folder(
    transfer: Transfer, other: Any, other_server: Serving, folder: Path
) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "1.csv").write_text("a,1\nb,2\n", "utf-8")
    (folder / "in" / "2.csv.gz").write_bytes(gzip.compress(b"b,3\n"))
    table = unique("csv")
    ended = transfer(
        "import",
        *("--from", "in", "--to", f"{other_server.endpoint}/{table}", "--key", "pk:S", "--header", "pk,v"),
    )
    assert ended.status == 0, ended.err
    assert {item["pk"]["S"]: item["v"]["S"] for item in contents(other, table)} == {"a": "1", "b": "3"}


def test_plain_json_lines(transfer: Transfer, other: Any, other_server: Serving, folder: Path) -> None:
    lines = [json.dumps({"pk": f"k{number}", "v": [number, None]}) for number in range(1500)]
    (folder / "in.jsonl").write_text("\n".join(lines), "utf-8")
    table = unique("plain")
    place = ("--to", f"{other_server.endpoint}/{table}", "--key", "pk:S")
    ended = transfer("import", "--from", "in.jsonl", *place, "--json-plain", "--verify")
    assert ended.status == 0, ended.err
    assert len(contents(other, table)) == 1500


def test_a_line_that_is_no_item_ends_the_import_with_its_place(
    transfer: Transfer, other_server: Serving, folder: Path
) -> None:
    (folder / "in.json").write_text('{"Item":{"pk":{"S":"a"}}}\n{"Item":\n', "utf-8")
    ended = transfer(
        "import", "--from", "in.json", "--to", f"{other_server.endpoint}/{unique('bad')}", "--key", "pk:S"
    )
    assert ended.status == 1
    assert ended.err.startswith("hashrange: in.json, record 2: The line is not valid JSON")


@pytest.mark.parametrize("form", ["dynamodb-json", "ion"])
def test_an_export_comes_back_as_it_was(
    transfer: Transfer, client: Any, other: Any, server: Serving, other_server: Serving, form: str
) -> None:
    source = full_table(client, 300)
    ended = transfer(
        "export", "--from", f"{server.endpoint}/{source}", "--to", "out", "--format", form, "--verify"
    )
    assert ended.status == 0, ended.err
    target = unique("back")
    ended = transfer("import", "--from", "out", "--to", f"{other_server.endpoint}/{target}", "--verify")
    assert ended.status == 0, ended.err
    assert contents(other, target) == contents(client, source)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(attributes=st.lists(values, min_size=1, max_size=20))
def test_any_value_comes_back_as_it_was(
    transfer: Transfer,
    client: Any,
    other: Any,
    server: Serving,
    other_server: Serving,
    attributes: list[Any],
) -> None:
    source = make_table(client, "pk")
    for number, value in enumerate(attributes):
        server.post("PutItem", {"TableName": source, "Item": {"pk": {"S": str(number)}, "v": value}})
    assert transfer("export", "--from", f"{server.endpoint}/{source}", "--to", source).status == 0
    ended = transfer("import", "--from", source, "--to", f"{other_server.endpoint}/{source}", "--verify")
    assert ended.status == 0, ended.err
    assert contents(other, source) == contents(client, source)


def test_a_bucket_is_written_and_read(
    transfer: Transfer,
    client: Any,
    other: Any,
    server: Serving,
    other_server: Serving,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    source, target = full_table(client, 50), unique("s3")
    with moto_server() as s3:
        s3_client(s3).create_bucket(Bucket="exports")
        for prefix in ("a/b", "a/bc"):
            ended = transfer(
                "export",
                *("--from", f"{server.endpoint}/{source}", "--to", f"s3://exports/{prefix}"),
                *("--s3", s3, "--verify"),
            )
            assert ended.status == 0, ended.err
            assert f" to s3://exports/{prefix}/AWSDynamoDB/" in ended.out
        place = ("--to", f"{other_server.endpoint}/{target}", "--s3", s3)
        ended = transfer("import", "--from", "s3://exports/a/b", *place, "--verify")
        assert ended.status == 0, ended.err
        missing = transfer("import", "--from", "s3://nothing/a", *place)
        assert missing.status == 1
        assert "The specified bucket does not exist" in missing.err
        assert "several full exports" in transfer("import", "--from", "s3://exports", *place).err
    assert contents(other, target) == contents(client, source)
