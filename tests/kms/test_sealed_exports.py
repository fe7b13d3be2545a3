"""Encrypted exports: nothing of an item is in their files, they come back, and no change of them goes unnoticed."""

import base64
import gzip
import hashlib
import json
import random
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from clocked import Clocked
from encrypted_store import encrypted_store, key_file
from hashrange.cli import main
from hashrange.formats import data_files
from hashrange.objects.errors import ObjectStoreError
from hashrange.objects.folder import FolderBucket, FolderStore
from hashrange.objects.opened_bucket import OpenedBucket
from hashrange.objects.sealed_exports import KEY_NAME
from hashrange.storage import history
from hashrange.storage.export_rows import EXPORTS
from sealed_exports import SECRET, begin, export, fill, imported, use_buckets, values

_FLIPS = 25
EXPECTED = sorted(f"{SECRET}-{number}" for number in range(10))


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return key_file(tmp_path, 1)


@pytest.fixture
def service(tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clocked]:
    monkeypatch.setattr(history, "CHUNK_ROWS", 4)
    with encrypted_store(tmp_path / "data", key) as opened:
        fill(opened, tmp_path / "data")
        yield opened


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    return tmp_path / "data" / "buckets" / "bucket"


def folder_of(bucket: Path, export_id: str) -> Path:
    return bucket / "AWSDynamoDB" / export_id


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def data_files_of(bucket: Path, export_id: str) -> list[Path]:
    """Largest first: some partitions have no items."""
    found = files(folder_of(bucket, export_id) / "data")
    return sorted(found, key=lambda path: path.stat().st_size, reverse=True)


def decrypted(folder: Path, copy: Path, key: Path) -> int:
    return main(["root-key", "decrypt", str(folder), "--to", str(copy), "--root-key", f"file:{key}"])


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_an_export_has_no_value_and_comes_back(service: Clocked, bucket: Path) -> None:
    export_id = export(service)
    folder = folder_of(bucket, export_id)
    assert {path.name for path in folder.iterdir()} == {
        *("_started", KEY_NAME, "data", "manifest-files.json", "manifest-files.md5"),
        *("manifest-summary.json", "manifest-summary.md5"),
    }
    for path in files(folder):
        content = path.read_bytes()
        assert not content.startswith((b"\x1f\x8b", b'{"v'))
        assert SECRET.encode() not in content
        assert b"one" not in content.partition(b"sealed export")[0]
    ended = imported(service, export_id)
    assert (ended["ImportStatus"], ended["ImportedItemCount"]) == ("COMPLETED", 10)
    assert values(service) == EXPECTED


def test_a_decrypted_copy_has_the_services_format_and_its_manifests_are_right(
    service: Clocked, bucket: Path, tmp_path: Path, key: Path
) -> None:
    export_id = export(service)
    copy = tmp_path / "copy"
    assert decrypted(folder_of(bucket, export_id), copy, key) == 0
    summary = (copy / "manifest-summary.json").read_bytes()
    assert json.loads(summary)["itemCount"] == 10
    listed = (copy / "manifest-files.json").read_bytes()
    for content, name in ((summary, "manifest-summary.md5"), (listed, "manifest-files.md5")):
        assert (copy / name).read_bytes() == base64.b64encode(hashlib.md5(content).digest())
    found = []
    for file in map(json.loads, listed.splitlines()):
        path = copy / "data" / Path(file["dataFileS3Key"]).name
        digest = hashlib.md5(path.read_bytes())
        assert (file["md5Checksum"], file["etag"]) == (
            base64.b64encode(digest.digest()).decode(),
            digest.hexdigest(),
        )
        assert len(lines(path)) == file["itemCount"]
        found += lines(path)
    assert sorted(line["Item"]["v"]["S"] for line in found) == EXPECTED
    assert {path.name for path in copy.iterdir()} == {
        *("_started", "data", "manifest-files.json", "manifest-files.md5"),
        *("manifest-summary.json", "manifest-summary.md5"),
    }
    assert [path for path in files(copy) if stat.S_IMODE(path.stat().st_mode) != 0o600] == []


def test_what_cannot_be_decrypted_is_said(
    service: Clocked, bucket: Path, tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export_id = export(service)
    folder, copy = folder_of(bucket, export_id), tmp_path / "copy"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    data = data_files_of(bucket, export_id)[0]
    for source, target, root_key, words in (
        (folder, copy, key_file(tmp_path, 2), "under the root key with the id"),
        (folder, tmp_path / "full", key, "is not empty"),
        (folder, folder / "copy", key, "would be in the folder"),
        (folder / "nothing", copy, key, "is no folder"),
        (folder / "data", copy, key, KEY_NAME),
    ):
        shutil.rmtree(copy, ignore_errors=True)
        assert decrypted(source, target, root_key) == 1
        assert words in capsys.readouterr().err
    data.unlink()
    shutil.rmtree(copy, ignore_errors=True)
    assert decrypted(folder, copy, key) == 1
    assert f"has no file data/{data.name}" in capsys.readouterr().err
    assert main(["root-key", "decrypt", str(folder), "--root-key", f"file:{key}"]) == 1
    assert "--to" in capsys.readouterr().err


def opened(service: Clocked, bucket: Path, path: Path) -> bytes:
    """A file of an export in the clear."""
    stored = FolderBucket("bucket", bucket)
    reading = OpenedBucket(stored, service.backups.seals, must_be_sealed=lambda _: True)
    return b"".join(reading.read(str(path.relative_to(bucket))))


def test_a_changed_bit_anywhere_is_found(service: Clocked, bucket: Path) -> None:
    export_id = export(service)
    folder = folder_of(bucket, export_id)
    key = folder / KEY_NAME
    sealed = [data_files_of(bucket, export_id)[0], *folder.glob("manifest*")]
    plain = {path: opened(service, bucket, path) for path in sealed}
    assert len(plain) == 5
    chance = random.Random(5)
    for path in (key, *sealed):
        content = path.read_bytes()
        for _ in range(_FLIPS):
            bit = chance.randrange(8 * len(content))
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            if path != key:
                with pytest.raises(ObjectStoreError):
                    opened(service, bucket, path)
                continue
            # In the one file that is no ciphertext a bit may mean nothing: base64 ends with some.
            with suppress(ObjectStoreError):
                assert opened(service, bucket, sealed[0]) == plain[sealed[0]]
        path.write_bytes(content)
    assert {path: opened(service, bucket, path) for path in sealed} == plain


def test_a_damaged_data_file_fails_an_import(service: Clocked, bucket: Path) -> None:
    export_id = export(service)
    path = data_files_of(bucket, export_id)[0]
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    ended = imported(service, export_id)
    assert (ended["ImportStatus"], ended["FailureCode"]) == ("FAILED", "S3BadDigest")
    assert ended["FailureMessage"].endswith(f"{path.name} is not what was encrypted")


def test_files_that_were_exchanged_are_found(service: Clocked, bucket: Path) -> None:
    export_id = export(service)
    one, two, *_ = data_files_of(bucket, export_id)
    contents = one.read_bytes(), two.read_bytes()
    two.write_bytes(contents[0])
    one.write_bytes(contents[1])
    assert imported(service, export_id)["FailureCode"] == "S3BadDigest"


def test_the_files_of_another_export_in_its_place_are_refused(service: Clocked, bucket: Path) -> None:
    older = export(service)
    service.clock.advance(1)
    newer = export(service)
    shutil.rmtree(folder_of(bucket, newer))
    shutil.copytree(folder_of(bucket, older), folder_of(bucket, newer))
    assert imported(service, newer)["FailureCode"] == "S3BadDigest"
    assert imported(service, older, "older")["ImportStatus"] == "COMPLETED"


@pytest.mark.parametrize("without_key", [False, True])
def test_files_in_the_clear_in_place_of_encrypted_ones_are_refused(
    service: Clocked, bucket: Path, *, without_key: bool
) -> None:
    export_id = export(service)
    planted = gzip.compress(b'{"Item": {"pk": {"S": "forged"}}}\n')
    for path in data_files_of(bucket, export_id):
        path.write_bytes(planted)
    if without_key:  # then the database knows
        (folder_of(bucket, export_id) / KEY_NAME).unlink()
    ended = imported(service, export_id)
    assert (ended["ImportStatus"], ended["FailureCode"]) == ("FAILED", "S3BadDigest")
    assert ended["ImportedItemCount"] == 0


def test_a_decrypted_copy_is_imported_from_another_bucket_only(
    service: Clocked, bucket: Path, key: Path
) -> None:
    export_id = export(service)
    assert decrypted(bucket, bucket.with_name("plain"), key) == 0
    assert imported(service, export_id, bucket="plain")["ImportStatus"] == "COMPLETED"
    assert values(service) == EXPECTED
    shutil.rmtree(bucket)
    bucket.with_name("plain").rename(bucket)
    assert imported(service, export_id, "again-2")["FailureCode"] == "S3BadDigest"


def test_another_account_cannot_import_it(service: Clocked, bucket: Path) -> None:
    export_id = export(service)
    service.context.account_id = "111111111111"
    ended = imported(service, export_id)
    assert (ended["ImportStatus"], ended["FailureCode"]) == ("FAILED", "S3AccessDenied")
    # Whoever says in the file that the key is theirs has files that do not open.
    path = folder_of(bucket, export_id) / KEY_NAME
    path.write_text(path.read_text().replace("000000000000", "111111111111"))
    ended = imported(service, export_id, "again-2")
    assert (ended["ImportStatus"], ended["FailureCode"]) == ("FAILED", "S3BadDigest")
    assert ended["ImportedItemCount"] == 0


def test_without_the_root_key_or_with_another_one_it_is_not_imported(
    service: Clocked, bucket: Path, tmp_path: Path
) -> None:
    export_id = export(service)
    for name, key in (("without", None), ("other", key_file(tmp_path, 2))):
        with encrypted_store(tmp_path / name, key) as other:
            shutil.copytree(bucket, use_buckets(other, tmp_path / name), dirs_exist_ok=True)
            ended = imported(other, export_id)
            assert (ended["ImportStatus"], ended["FailureCode"]) == ("FAILED", "S3AccessDenied")
            assert "is encrypted, and cannot be opened" in ended["FailureMessage"]


def test_another_store_with_the_same_key_imports_it(
    service: Clocked, bucket: Path, tmp_path: Path, key: Path
) -> None:
    export_id = export(service)
    with encrypted_store(tmp_path / "other", key) as other:
        shutil.copytree(bucket, use_buckets(other, tmp_path / "other"), dirs_exist_ok=True)
        assert imported(other, export_id)["ImportStatus"] == "COMPLETED"
        assert values(other) == EXPECTED


def test_an_export_goes_on_under_the_same_key_after_a_crash(
    service: Clocked, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files.DataFiles.__init__, "__defaults__", ("GZIP", 1))  # each item is a file
    export_id = begin(service)
    for _ in range(2):
        service.exporting.step(service.clock.now())
    before = (folder_of(bucket, export_id) / KEY_NAME).read_bytes()
    finished = {path: path.read_bytes() for path in data_files_of(bucket, export_id)}
    assert finished
    service.start_long_jobs()
    service.run_jobs()
    assert (folder_of(bucket, export_id) / KEY_NAME).read_bytes() == before
    assert all(path.read_bytes() == content for path, content in finished.items())
    assert imported(service, export_id)["ImportedItemCount"] == 10


def test_the_row_of_a_finished_export_has_no_key(service: Clocked) -> None:
    export(service)
    ((_, row),) = service.engine.read(lambda reader: list(EXPORTS.everywhere(reader)))
    assert (row.sealed, row.keys) == (True, {})


def test_a_bulk_put_reads_an_encrypted_export(service: Clocked) -> None:
    export_id = export(service)
    for number in range(10):
        service.call("DeleteItem", TableName="one", Key={"pk": {"S": f"k{number}"}})
    source = {"S3Bucket": "bucket", "S3KeyPrefix": f"AWSDynamoDB/{export_id}/data/"}
    service.call(
        "StartBulkPutItems",
        TableName="one",
        InputS3Configuration={**source, "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "GZIP"},
        OutputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "reports", "OutputType": ["ERROR"]},
    )
    service.run_jobs()
    assert values(service, "one") == EXPECTED


def test_an_incremental_export_is_decrypted_with_the_folder_that_all_share(
    service: Clocked, bucket: Path, tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = service.clock.now()
    service.clock.advance(1000)
    service.call("PutItem", TableName="one", Item={"pk": {"S": "new"}, "v": {"S": f"{SECRET}-new"}})
    service.clock.advance(1)
    window = {"ExportFromTime": start + 10, "ExportToTime": start + 1001}
    export_id = export(service, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=window)
    assert decrypted(bucket / "AWSDynamoDB", tmp_path / "copy", key) == 0
    found = [line for path in files(tmp_path / "copy" / "data") for line in lines(path)]
    assert [line["NewImage"]["v"]["S"] for line in found] == [f"{SECRET}-new"]
    assert decrypted(folder_of(bucket, export_id), tmp_path / "other", key) == 1
    assert "has no file" in capsys.readouterr().err


class OthersStore(FolderStore):
    """Stands for a store at an endpoint."""

    @property
    def is_local(self) -> bool:
        return False


def test_an_export_into_a_store_of_others_is_in_the_clear(
    service: Clocked, bucket: Path, tmp_path: Path
) -> None:
    service.objects = OthersStore(bucket.parent)
    service.start_long_jobs()
    export_id = export(service)
    assert len([line for path in data_files_of(bucket, export_id) for line in lines(path)]) == 10
    assert not (folder_of(bucket, export_id) / KEY_NAME).exists()
    assert imported(service, export_id)["ImportStatus"] == "COMPLETED"


def test_without_a_root_key_exports_are_in_the_clear(tmp_path: Path) -> None:
    with encrypted_store(tmp_path / "plain", None) as plain:
        fill(plain, tmp_path / "plain")
        export_id = export(plain)
        bucket = tmp_path / "plain" / "buckets" / "bucket"
        assert len([line for path in data_files_of(bucket, export_id) for line in lines(path)]) == 10
        assert imported(plain, export_id)["ImportStatus"] == "COMPLETED"
