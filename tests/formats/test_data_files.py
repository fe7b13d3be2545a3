"""Data files and whole exports in a folder: what is written is found, verified and read back."""

import hashlib
import secrets
from pathlib import Path

import msgspec
import orjson
import pytest

from formats.test_manifest import SUMMARY
from hashrange.formats import dynamodb_json, ion_writer, manifest
from hashrange.formats.data_files import DataFiles
from hashrange.formats.errors import Damaged
from hashrange.formats.export_names import ExportNames, checksum_name, data_file_name
from hashrange.formats.readers import InputOptions, item_rows
from hashrange.formats.records import Row
from hashrange.objects.folder import FolderBucket, FolderStore
from schemas import table

NAMES = ExportNames("p", "01693685827463-2d8752fd")
ITEMS = [{"pk": {"S": f"key-{number}"}, "text": {"S": "x" * number}} for number in range(200)]
TABLE = table("pk:S")


@pytest.fixture
def bucket(tmp_path: Path) -> FolderBucket:
    (tmp_path / "bucket").mkdir()
    return FolderStore(tmp_path).bucket("bucket")


def new_files(bucket: FolderBucket, bytes_max: int, export_format: str = "DYNAMODB_JSON") -> DataFiles:
    return DataFiles(
        lambda: bucket.writer(NAMES.data(data_file_name(secrets.token_bytes(16), export_format))),
        bytes_max=bytes_max,
    )


def content(bucket: FolderBucket, key: str) -> bytes:
    return b"".join(bucket.read(key))


@pytest.mark.parametrize("export_format", ["DYNAMODB_JSON", "ION"])
def test_an_export_is_read_back_from_its_manifests(bucket: FolderBucket, export_format: str) -> None:
    writing = new_files(bucket, 5000, export_format)
    for item in ITEMS:
        json_line = dynamodb_json.item_line(orjson.dumps(item))
        writing.add(json_line if export_format == "DYNAMODB_JSON" else ion_writer.item_line(item))
    files = writing.finish()
    assert len(files) > 3
    manifest_content = manifest.encode_files(files)
    bucket.put(NAMES.files, manifest_content)
    bucket.put(checksum_name(NAMES.files), manifest.checksum(manifest_content))

    summary = msgspec.structs.replace(SUMMARY, item_count=len(ITEMS))
    read = manifest.read_files(
        content(bucket, NAMES.files), content(bucket, checksum_name(NAMES.files)), summary
    )
    items = []
    options = InputOptions(input_format=export_format, compression="GZIP")  # type: ignore[arg-type]
    for file in read:
        rows = list(item_rows(manifest.verified(bucket.read(file.data_file_s3_key), file), options, TABLE))
        manifest.check_count(file, len(rows))
        assert bucket.head(file.data_file_s3_key).etag == file.etag
        items += [row.command.item for row in rows if isinstance(row, Row)]
    assert items == ITEMS


def test_an_export_without_items_has_a_file_without_lines(bucket: FolderBucket) -> None:
    (file,) = new_files(bucket, 5000).finish()
    assert file.item_count == 0
    stored = content(bucket, file.data_file_s3_key)
    assert file.md5_checksum == manifest.md5_text(hashlib.md5(stored).digest())
    assert (
        list(item_rows([stored], InputOptions(input_format="DYNAMODB_JSON", compression="GZIP"), TABLE)) == []
    )


def test_a_file_that_is_given_up_is_not_there_and_the_others_are(bucket: FolderBucket) -> None:
    writing = new_files(bucket, 100)
    writing.add(b"x" * 100)
    writing.add(b"y" * 50)
    writing.abort()
    assert [info.key for info in bucket.list()] == [file.data_file_s3_key for file in writing.files]
    assert [file.item_count for file in writing.files] == [1]


def test_a_spoilt_data_file_is_refused(bucket: FolderBucket) -> None:
    writing = new_files(bucket, 5000)
    writing.add(dynamodb_json.item_line(orjson.dumps(ITEMS[0])))
    (file,) = writing.finish()
    other = new_files(bucket, 5000)
    other.add(dynamodb_json.item_line(orjson.dumps(ITEMS[1])))
    bucket.put(file.data_file_s3_key, content(bucket, other.finish()[0].data_file_s3_key))
    with pytest.raises(Damaged):
        list(manifest.verified(bucket.read(file.data_file_s3_key), file))
