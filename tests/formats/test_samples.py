"""Exports as the service makes them, written down by hand from its documentation and from tools that read real ones."""

import base64
import gzip
import hashlib
import json
from typing import Any

import pytest

from hashrange.core.values import Item
from hashrange.formats import dynamodb_json, manifest
from hashrange.formats.readers import InputFormat, InputOptions, item_rows
from hashrange.formats.records import Row, changes
from schemas import table

BOOKS = table("Id:N")
FOLDER = "AWSDynamoDB/01693685827463-2d8752fd/"
JSON_LINES = b"""\
{"Item":{"Authors":{"SS":["Author1","Author2"]},"Dimensions":{"S":"8.5 x 11.0 x 1.5"},"ISBN":{"S":"333-3333333333"},\
"Id":{"N":"103"},"InPublication":{"BOOL":false},"PageCount":{"N":"600"},"Price":{"N":"2000"},\
"ProductCategory":{"S":"Book"},"Title":{"S":"Book 103 Title"}}}
{"Item":{"Id":{"N":"-1.5E-3"},"Blob":{"B":"3q2+7w=="},"Nothing":{"NULL":true},"Nested":{"M":{"l":{"L":[{"N":"0"}]}}}}}
"""
ION_LINES = b"""\
$ion_1_0 {Item:{Authors:$dynamodb_SS::["Author1","Author2"],Dimensions:"8.5 x 11.0 x 1.5",ISBN:"333-3333333333",\
Id:103.,InPublication:false,PageCount:6d2,Price:2d3,ProductCategory:"Book",Title:"Book 103 Title"}}
$ion_1_0 {Item:{Id:-0.0015,Blob:{{3q2+7w==}},Nothing:null,Nested:{l:[0.]}}}
"""
ITEMS: list[Item] = [
    {
        "Authors": {"SS": ["Author1", "Author2"]},
        "Dimensions": {"S": "8.5 x 11.0 x 1.5"},
        "ISBN": {"S": "333-3333333333"},
        "Id": {"N": "103"},
        "InPublication": {"BOOL": False},
        "PageCount": {"N": "600"},
        "Price": {"N": "2000"},
        "ProductCategory": {"S": "Book"},
        "Title": {"S": "Book 103 Title"},
    },
    {
        "Id": {"N": "-0.0015"},
        "Blob": {"B": "3q2+7w=="},
        "Nothing": {"NULL": True},
        "Nested": {"M": {"l": {"L": [{"N": "0"}]}}},
    },
]


def md5(content: bytes) -> str:
    return base64.b64encode(hashlib.md5(content).digest()).decode()


def export(lines: bytes, output_format: str) -> dict[str, bytes]:
    """The objects of a full export: a file with the items, and one of a partition that has none."""
    packed = [gzip.compress(lines), gzip.compress(b"")]
    ending = "json" if output_format == "DYNAMODB_JSON" else "ion"
    keys = [f"{FOLDER}data/{letter * 26}.{ending}.gz" for letter in "ab"]
    entries: list[dict[str, Any]] = [
        {
            "itemCount": count,
            "md5Checksum": md5(data),
            "etag": f"{hashlib.md5(data).hexdigest()}-1",
            "dataFileS3Key": key,
        }
        for count, data, key in zip([2, 0], packed, keys, strict=True)
    ]
    files = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
    summary = json.dumps(
        {
            "version": "2020-06-30",
            "exportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Books/export/01693685827463-2d8752fd",
            "startTime": "2023-09-02T20:17:07.463Z",
            "endTime": "2023-09-02T20:22:12.421Z",
            "tableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Books",
            "tableId": "12345a12-abcd-123a-ab12-1234abc12345",
            "exportTime": "2023-09-02T20:17:07.463Z",
            "s3Bucket": "bucket",
            "s3Prefix": None,
            "s3SseAlgorithm": "AES256",
            "s3SseKmsKeyId": None,
            "manifestFilesS3Key": f"{FOLDER}manifest-files.json",
            "billedSizeBytes": 0,
            "itemCount": 2,
            "outputFormat": output_format,
            "aMemberOfTomorrow": {"x": 1},
        }
    ).encode()
    return {
        f"{FOLDER}_started": b"",
        f"{FOLDER}manifest-summary.json": summary,
        f"{FOLDER}manifest-summary.md5": md5(summary).encode(),
        f"{FOLDER}manifest-files.json": files,
        f"{FOLDER}manifest-files.md5": md5(files).encode(),
        **dict(zip(keys, packed, strict=True)),
    }


@pytest.mark.parametrize(("lines", "form"), [(JSON_LINES, "DYNAMODB_JSON"), (ION_LINES, "ION")])
def test_an_export_of_the_service_is_imported(lines: bytes, form: InputFormat) -> None:
    objects = export(lines, form)
    summary = manifest.read_summary(
        objects[f"{FOLDER}manifest-summary.json"], objects[f"{FOLDER}manifest-summary.md5"]
    )
    assert not summary.is_incremental
    assert summary.output_format == form
    files = manifest.read_files(
        objects[summary.manifest_files_s3_key], objects[f"{FOLDER}manifest-files.md5"], summary
    )
    items = []
    for file in files:
        chunks = manifest.verified([objects[file.data_file_s3_key]], file)
        rows = list(item_rows(chunks, InputOptions(input_format=form, compression="GZIP"), BOOKS))
        manifest.check_count(file, len(rows))
        items += [row.command.item for row in rows if isinstance(row, Row)]
    assert items == ITEMS


def test_an_incremental_export_of_the_service_is_read() -> None:
    lines = b"""\
{"Metadata":{"WriteTimestampMicros":{"N":"1680109764000000"}},"Keys":{"PK":{"S":"CUST#100"}},\
"NewImage":{"PK":{"S":"CUST#100"},"Name":{"S":"Jane"}}}
{"Metadata":{"WriteTimestampMicros":{"N":"1680109765000000"}},"Keys":{"PK":{"S":"CUST#200"}},\
"OldImage":{"PK":{"S":"CUST#200"}},"NewImage":{"PK":{"S":"CUST#200"},"Name":{"S":"Joe"}}}
{"Metadata":{"WriteTimestampMicros":{"N":"1680109766000000"}},"Keys":{"PK":{"S":"CUST#300"}},\
"OldImage":{"PK":{"S":"CUST#300"}}}
{"Metadata":{"WriteTimestampMicros":{"N":"1680109767000000"}},"Keys":{"PK":{"S":"CUST#400"}}}
"""
    found = list(changes(dynamodb_json.records([lines])))
    assert [change.written_at_micros for change in found] == [
        1680109764000000 + step * 10**6 for step in range(4)
    ]
    assert [(change.old_image is not None, change.new_image is not None) for change in found] == [
        (False, True),
        (True, True),
        (True, False),
        (False, False),
    ]
