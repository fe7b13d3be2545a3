"""Exports as the service writes them, as the objects of a bucket."""

import base64
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

FULL = "AWSDynamoDB/01693685827463-2d8752fd/"
ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/Books"
JSON_LINES = b"""\
{"Item":{"Authors":{"SS":["Author1","Author2"]},"Id":{"N":"103"},"InPublication":{"BOOL":false}}}
{"Item":{"Id":{"N":"-1.5E-3"},"Blob":{"B":"3q2+7w=="},"Nothing":{"NULL":true},"Nested":{"M":{"l":{"L":[{"N":"0"}]}}}}}
"""
ION_LINES = b"""\
$ion_1_0 {Item:{Authors:$dynamodb_SS::["Author1","Author2"],Id:103.,InPublication:false}}
$ion_1_0 {Item:{Id:-0.0015,Blob:{{3q2+7w==}},Nothing:null,Nested:{l:[0.]}}}
"""


def md5(content: bytes) -> str:
    return base64.b64encode(hashlib.md5(content).digest()).decode()


def sample_export(form: str, items: list[Any] | None = None) -> dict[str, bytes]:
    """A full export of midnight: a file with the items, and one of a partition that has none."""
    lines = JSON_LINES if form == "DYNAMODB_JSON" else ION_LINES
    if items is not None:
        lines = b"".join(json.dumps({"Item": item}).encode() + b"\n" for item in items)
    ending = "json" if form == "DYNAMODB_JSON" else "ion"
    files = {
        f"{FULL}data/{letter * 26}.{ending}.gz": gzip.compress(content)
        for letter, content in (("a", lines), ("b", b""))
    }
    members = {"version": "2020-06-30", "exportTime": "2023-09-03T01:00:00.000Z", "outputFormat": form}
    return files | _manifests(FULL, files, [lines.count(b"\n"), 0], members) | {f"{FULL}_started": b""}


def incremental_export(
    export_id: str, hours: tuple[str, str], changes: list[tuple[str, str | None]], view: str
) -> dict[str, bytes]:
    """An incremental export from one hour to another: new values by id, None for items that are gone."""
    lines = b"".join(_change(key, value, view) + b"\n" for key, value in changes)
    files = {f"AWSDynamoDB/data/{export_id[-1] * 26}.json.gz": gzip.compress(lines)}
    members = {
        "version": "2023-08-01",
        "exportFromTime": f"2023-09-03T{hours[0]}:00:00.000Z",
        "exportToTime": f"2023-09-03T{hours[1]}:00:00.000Z",
        "outputFormat": "DYNAMODB_JSON",
        "outputView": view,
        "exportType": "INCREMENTAL_EXPORT",
    }
    return files | _manifests(f"AWSDynamoDB/{export_id}/", files, [len(changes)], members)


def _change(key: str, value: str | None, view: str) -> bytes:
    keys = {"Id": {"N": key}}
    line: dict[str, Any] = {"Metadata": {"WriteTimestampMicros": {"N": "1693703000000000"}}, "Keys": keys}
    if view == "NEW_AND_OLD_IMAGES":
        line["OldImage"] = {**keys, "v": {"S": "old"}}
    if value is not None:
        line["NewImage"] = {**keys, "v": {"S": value}}
    return json.dumps(line).encode()


def _manifests(
    folder: str, files: dict[str, bytes], counts: list[int], members: dict[str, str]
) -> dict[str, bytes]:
    entries = [
        {"itemCount": count, "md5Checksum": md5(data), "etag": "0-1", "dataFileS3Key": key}
        for count, (key, data) in zip(counts, files.items(), strict=True)
    ]
    listed = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
    summary = json.dumps(
        {
            "exportArn": f"{ARN}/export/{folder.split('/')[1]}",
            "startTime": "2023-09-03T04:00:00.000Z",
            "endTime": "2023-09-03T04:05:00.000Z",
            "tableArn": ARN,
            "tableId": "12345a12-abcd-123a-ab12-1234abc12345",
            "s3Bucket": "bucket",
            "s3Prefix": None,
            "s3SseAlgorithm": "AES256",
            "s3SseKmsKeyId": None,
            "manifestFilesS3Key": f"{folder}manifest-files.json",
            "billedSizeBytes": 0,
            "itemCount": sum(counts),
            **members,
        }
    ).encode()
    return {
        f"{folder}manifest-summary.json": summary,
        f"{folder}manifest-summary.md5": md5(summary).encode(),
        f"{folder}manifest-files.json": listed,
        f"{folder}manifest-files.md5": md5(listed).encode(),
    }


def write_objects(folder: Path, objects: dict[str, bytes]) -> None:
    for key, content in objects.items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
