"""`hashrange import` of exports that a server with a root key has encrypted."""

from pathlib import Path
from typing import Any

import pytest

from encrypted_store import encrypted_store, key_file
from export_samples import sample_export, write_objects
from item_tables import make_table, unique
from sealed_exports import SECRET, export, fill
from serving import Serving
from transfers import Transfer, contents


@pytest.fixture
def key(tmp_path: Path) -> str:
    return f"file:{key_file(tmp_path, 1)}"


@pytest.fixture
def exported(tmp_path: Path, key: str) -> Path:
    """The bucket's folder with a full export and an incremental one behind it."""
    with encrypted_store(tmp_path / "data", Path(key.removeprefix("file:"))) as service:
        fill(service, tmp_path / "data")
        start = service.clock.now()
        export(service)
        service.clock.advance(1000)
        service.call("PutItem", TableName="one", Item={"pk": {"S": "new"}, "v": {"S": f"{SECRET}-new"}})
        service.clock.advance(1)
        window = {"ExportFromTime": start, "ExportToTime": start + 1001}
        export(service, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=window)
    return tmp_path / "data" / "buckets" / "bucket"


def test_a_folder_of_encrypted_exports_is_imported(
    transfer: Transfer, other: Any, other_server: Serving, exported: Path, key: str
) -> None:
    table = unique("opened")
    words = ("import", "--from", str(exported), "--to", f"{other_server.endpoint}/{table}", "--key", "pk:S")
    ended = transfer(*words, "--root-key", key, "--verify")
    assert ended.status == 0, ended.err
    found = sorted(item["v"]["S"] for item in contents(other, table))
    assert found == sorted(f"{SECRET}-{name}" for name in [*range(10), "new"])


def test_without_the_key_or_with_another_one_nothing_is_imported(
    transfer: Transfer, other: Any, other_server: Serving, exported: Path, tmp_path: Path
) -> None:
    table = make_table(other, "pk")
    words = ("import", "--from", str(exported), "--to", f"{other_server.endpoint}/{table}")
    wrong = f"file:{key_file(tmp_path, 2)}"
    for flags, message in (
        ((), "there is no root key: name it with --root-key"),
        (("--root-key", wrong), "under the root key with the id"),
        (("--root-key", "file:nothing"), "cannot be read"),
    ):
        ended = transfer(*words, *flags)
        assert ended.status in (1, 2)
        assert message in ended.err
    assert contents(other, table) == []


def test_an_export_in_the_clear_is_refused_with_a_root_key(
    transfer: Transfer, other: Any, other_server: Serving, folder: Path, key: str
) -> None:
    write_objects(folder / "bucket", sample_export("DYNAMODB_JSON"))
    table = make_table(other, "Id", types={"Id": "N"})
    words = ("import", "--from", "bucket", "--to", f"{other_server.endpoint}/{table}", "--root-key", key)
    ended = transfer(*words)
    assert ended.status == 1
    assert "it is in the clear" in ended.err
    assert contents(other, table) == []
