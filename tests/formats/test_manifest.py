"""Manifests: as the service writes them, and read only if everything fits."""

import hashlib
import json

import msgspec
import pytest

from hashrange.formats import manifest
from hashrange.formats.errors import Damaged
from hashrange.formats.export_names import ExportNames, checksum_name, data_file_name, iso_time, job_id
from hashrange.formats.manifest import DataFile, Summary

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/books"
SUMMARY = Summary(
    version=manifest.FULL_VERSION,
    export_arn=f"{ARN}/export/01693685827463-2d8752fd",
    start_time=iso_time(1693685827.463),
    end_time=iso_time(1693685900.0),
    export_time=iso_time(1693685800.5),
    table_arn=ARN,
    table_id="12345678-1234-1234-1234-123456789012",
    s3_bucket="bucket",
    s3_prefix=None,
    s3_sse_algorithm="AES256",
    s3_sse_kms_key_id=None,
    manifest_files_s3_key="AWSDynamoDB/01693685827463-2d8752fd/manifest-files.json",
    billed_size_bytes=0,
    item_count=8,
    output_format="DYNAMODB_JSON",
)
FILES = [
    DataFile(
        item_count=5,
        md5_checksum="sQMSpEILNgoQmarvDFonGQ==",
        etag="af83d6f217c19b8b0fff8023d8ca4716-1",
        data_file_s3_key="AWSDynamoDB/01693685827463-2d8752fd/data/asdl123dasas.json.gz",
    ),
    DataFile(item_count=3, md5_checksum="sQMSpEILNgoQmarvDFonGQ==", etag=None, data_file_s3_key="k"),
]


def test_a_full_export_has_the_service_s_members_on_one_line() -> None:
    content = manifest.encode_summary(SUMMARY)
    assert b"\n" not in content
    assert json.loads(content) == {
        "version": "2020-06-30",
        "exportArn": f"{ARN}/export/01693685827463-2d8752fd",
        "startTime": "2023-09-02T20:17:07.463Z",
        "endTime": "2023-09-02T20:18:20.000Z",
        "exportTime": "2023-09-02T20:16:40.500Z",
        "tableArn": ARN,
        "tableId": "12345678-1234-1234-1234-123456789012",
        "s3Bucket": "bucket",
        "s3Prefix": None,
        "s3SseAlgorithm": "AES256",
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": "AWSDynamoDB/01693685827463-2d8752fd/manifest-files.json",
        "billedSizeBytes": 0,
        "itemCount": 8,
        "outputFormat": "DYNAMODB_JSON",
    }


def test_an_incremental_export_says_its_window_and_view() -> None:
    summary = msgspec.structs.replace(
        SUMMARY,
        version=manifest.INCREMENTAL_VERSION,
        export_time=msgspec.UNSET,
        export_from_time=iso_time(1.0),
        export_to_time=iso_time(901.0),
        output_view="NEW_AND_OLD_IMAGES",
        export_type="INCREMENTAL_EXPORT",
    )
    members = json.loads(manifest.encode_summary(summary))
    assert "exportTime" not in members
    assert members["exportFromTime"] == "1970-01-01T00:00:01.000Z"
    assert (members["outputView"], members["exportType"]) == ("NEW_AND_OLD_IMAGES", "INCREMENTAL_EXPORT")
    assert summary.is_incremental
    assert not SUMMARY.is_incremental


def test_what_was_written_is_read() -> None:
    summary, files = manifest.encode_summary(SUMMARY), manifest.encode_files(FILES)
    assert manifest.read_summary(summary, manifest.checksum(summary) + b"\n") == SUMMARY
    assert manifest.read_files(files, manifest.checksum(files), SUMMARY) == FILES
    assert files.count(b"\n") == 2


def test_a_checksum_is_the_base64_of_the_md5() -> None:
    assert manifest.checksum(b"") == b"1B2M2Y8AsgTpgAmY7PhCfg=="


@pytest.mark.parametrize("content", [b"{}", b"[]", b"x", b"\xff", b"", b'{"version":1}', b"[" * 100_000])
def test_a_manifest_that_is_none_is_damaged(content: bytes) -> None:
    with pytest.raises(Damaged, match=r"manifest-summary.json cannot be read"):
        manifest.read_summary(content, manifest.checksum(content))
    if content:
        with pytest.raises(Damaged, match=r"manifest-files.json cannot be read"):
            manifest.read_files(content, manifest.checksum(content), SUMMARY)


def test_one_changed_byte_is_noticed() -> None:
    content = manifest.encode_summary(SUMMARY)
    with pytest.raises(Damaged, match="checksum"):
        manifest.read_summary(content.replace(b"8", b"9", 1), manifest.checksum(content))


def test_counts_have_to_agree() -> None:
    files = manifest.encode_files(FILES[:1])
    with pytest.raises(Damaged, match=r"manifest-files.json has 5 items, manifest-summary.json 8"):
        manifest.read_files(files, manifest.checksum(files), SUMMARY)
    manifest.check_count(FILES[0], 5)
    with pytest.raises(Damaged, match=r"has 4 items, manifest-files\.json says 5"):
        manifest.check_count(FILES[0], 4)


def test_a_data_file_is_verified_while_it_is_read() -> None:
    digest = manifest.md5_text(hashlib.md5(b"hello").digest())
    file = DataFile(item_count=0, md5_checksum=digest, data_file_s3_key="k")
    assert b"".join(manifest.verified([b"he", b"llo"], file)) == b"hello"
    reading = manifest.verified([b"he", b"llO"], file)
    assert [next(reading), next(reading)] == [b"he", b"llO"]
    with pytest.raises(Damaged, match="k does not have the checksum"):
        next(reading)


def test_names_are_the_service_s() -> None:
    export_id = job_id(1693685827463, bytes.fromhex("2d8752fd"))
    assert export_id == "01693685827463-2d8752fd"
    names = ExportNames("some/prefix/", export_id)
    folder = "some/prefix/AWSDynamoDB/01693685827463-2d8752fd/"
    assert names.started == folder + "_started"
    assert names.summary == folder + "manifest-summary.json"
    assert checksum_name(names.summary) == folder + "manifest-summary.md5"
    assert checksum_name(names.files) == folder + "manifest-files.md5"
    assert names.data("x.json.gz") == folder + "data/x.json.gz"
    assert ExportNames(None, export_id, incremental=True).data("x") == "AWSDynamoDB/data/x"
    assert ExportNames("", export_id).started == "AWSDynamoDB/01693685827463-2d8752fd/_started"


def test_data_files_have_26_characters_and_their_endings() -> None:
    assert data_file_name(bytes(16), "DYNAMODB_JSON") == "a" * 26 + ".json.gz"
    assert data_file_name(b"\xff" * 16, "ION") == "7" * 25 + "4.ion.gz"
    assert data_file_name(bytes(16), "ION", "NONE") == "a" * 26 + ".ion"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1.9984, "1970-01-01T00:00:01.998Z"),
        (1.9999, "1970-01-01T00:00:02.000Z"),
    ],
)
def test_times_have_milliseconds(seconds: float, text: str) -> None:
    assert iso_time(seconds) == text
