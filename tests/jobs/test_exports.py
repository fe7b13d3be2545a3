"""Exports: the service's folders, manifests and lines, of a table as it was or of what has changed in it."""

import gzip
import hashlib
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import orjson
import pytest

from clocked import Clocked
from hashrange.core.values import Item
from hashrange.formats import data_files
from hashrange.objects.errors import Unreachable
from hashrange.storage import history
from new_tables import request as new_table

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tab"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Clocked:
    monkeypatch.setattr(history, "CHUNK_ROWS", 4)
    service = Clocked(transition_ms=0)
    service.call("CreateTable", **new_table("pk", TableName="tab"))
    service.settle()
    enable(service)
    service.make_bucket()
    return service


def enable(service: Clocked, *, on: bool = True) -> None:
    spec = {"PointInTimeRecoveryEnabled": on}
    service.call("UpdateContinuousBackups", TableName="tab", PointInTimeRecoverySpecification=spec)


def put(service: Clocked, *numbers: int, value: str = "x") -> None:
    for number in numbers:
        service.call("PutItem", TableName="tab", Item={"pk": {"S": f"k{number}"}, "v": {"S": value}})


def delete(service: Clocked, number: int) -> None:
    service.call("DeleteItem", TableName="tab", Key={"pk": {"S": f"k{number}"}})


def begin(service: Clocked, **options: Any) -> Any:
    request = {"TableArn": ARN, "S3Bucket": "bucket", **options}
    return service.call("ExportTableToPointInTime", **request)["ExportDescription"]


def describe(service: Clocked, arn: str) -> Any:
    return service.call("DescribeExport", ExportArn=arn)["ExportDescription"]


def export(service: Clocked, **options: Any) -> Any:
    arn = begin(service, **options)["ExportArn"]
    service.run_jobs()
    return describe(service, arn)


def content(service: Clocked) -> dict[str, Item]:
    return {item["pk"]["S"]: item for item in service.call("Scan", TableName="tab")["Items"]}


def read(service: Clocked, key: str) -> bytes:
    return b"".join(service.objects.bucket("bucket").read(key))


def manifest(service: Clocked, description: Any) -> tuple[Any, list[Any]]:
    """Summary and files, after a check of every checksum."""
    summary = orjson.loads(checked(service, description["ExportManifest"]))
    files = [
        orjson.loads(line) for line in checked(service, summary["manifestFilesS3Key"]).splitlines() if line
    ]
    return summary, files


def checked(service: Clocked, key: str) -> bytes:
    text = read(service, key)
    assert read(service, key.removesuffix(".json") + ".md5") == b64encode(hashlib.md5(text).digest())
    return text


def lines(service: Clocked, description: Any) -> list[Any]:
    summary, files = manifest(service, description)
    found: list[Any] = []
    for file in files:
        stored = read(service, file["dataFileS3Key"])
        assert b64encode(hashlib.md5(stored).digest()).decode() == file["md5Checksum"]
        own = [orjson.loads(line) for line in gzip.decompress(stored).splitlines()]
        assert len(own) == file["itemCount"]
        found += own
    assert summary["itemCount"] == len(found) == description["ItemCount"]
    return found


def exported(service: Clocked, description: Any) -> dict[str, Item]:
    found = [line["Item"] for line in lines(service, description)]
    items = {item["pk"]["S"]: item for item in found}
    assert len(items) == len(found)
    return items


def test_a_full_export_is_the_table_at_the_moment_of_the_request(service: Clocked) -> None:
    put(service, *range(40))
    expected = content(service)
    description = begin(service, S3Prefix="some/where")
    assert description["ExportStatus"] == "IN_PROGRESS"
    assert "ItemCount" not in description
    number = 0
    while service.exporting.step(service.clock.now()) < 1 and number < 30:
        put(service, number, 100 + number, value="later")
        delete(service, 39 - number % 40)
        number += 1
    service.run_jobs()
    done = describe(service, description["ExportArn"])
    assert done["ExportStatus"] == "COMPLETED"
    assert exported(service, done) == expected


def test_the_layout_is_the_services_own(service: Clocked) -> None:
    put(service, 1, 2, 3)
    description = export(service, S3Prefix="foo")
    arn = description["ExportArn"]
    export_id = arn.removeprefix(f"{ARN}/export/")
    assert re.fullmatch(r"[0-9]{14}-[0-9a-f]{8}", export_id)
    keys = [found.key for found in service.objects.bucket("bucket").list()]
    folder = f"foo/AWSDynamoDB/{export_id}"
    data = [key for key in keys if key.startswith(f"{folder}/data/")]
    names = ("_started", "manifest-files.json", "manifest-files.md5", "manifest-summary.json")
    assert sorted(set(keys) - set(data)) == [
        *(f"{folder}/{name}" for name in names),
        f"{folder}/manifest-summary.md5",
    ]
    assert len(data) == 4, "one for each partition of an on-demand table"
    for key in data:
        assert re.fullmatch(r"[a-z2-7]{26}\.json\.gz", key.rpartition("/")[2])
    summary, files = manifest(service, description)
    assert sorted(file["dataFileS3Key"] for file in files) == sorted(data)
    assert summary == {
        "version": "2020-06-30",
        "exportArn": arn,
        "startTime": "2023-11-14T00:00:02.000Z",
        "endTime": "2023-11-14T00:00:02.000Z",
        "exportTime": "2023-11-14T00:00:02.000Z",
        "tableArn": ARN,
        "tableId": service.describe("tab")["TableId"],
        "s3Bucket": "bucket",
        "s3Prefix": "foo",
        "s3SseAlgorithm": "AES256",
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": f"{folder}/manifest-files.json",
        "billedSizeBytes": service.describe("tab")["TableSizeBytes"],
        "itemCount": 3,
        "outputFormat": "DYNAMODB_JSON",
    }
    assert description | {"ClientToken": ""} == {
        "ExportArn": arn,
        "ExportStatus": "COMPLETED",
        "StartTime": service.clock.now(),
        "EndTime": service.clock.now(),
        "ExportTime": service.clock.now(),
        "ExportManifest": f"{folder}/manifest-summary.json",
        "TableArn": ARN,
        "TableId": summary["tableId"],
        "ClientToken": "",
        "S3Bucket": "bucket",
        "S3Prefix": "foo",
        "S3SseAlgorithm": "AES256",
        "ExportFormat": "DYNAMODB_JSON",
        "BilledSizeBytes": summary["billedSizeBytes"],
        "ItemCount": 3,
        "DestinationType": "S3",
    }


def test_an_empty_table_has_files_without_lines(service: Clocked) -> None:
    description = export(service)
    assert lines(service, description) == []
    assert len(manifest(service, description)[1]) == 4


def test_everything_of_the_second_that_is_asked_for_is_included(service: Clocked) -> None:
    put(service, 1)
    second = int(service.clock.now())
    service.clock.advance(0.9)
    put(service, 2)
    service.clock.advance(0.2)
    put(service, 3)
    service.clock.advance(100)
    assert set(exported(service, export(service, ExportTime=second))) == {"k1", "k2"}


def test_ion(service: Clocked) -> None:
    put(service, 1)
    description = export(service, ExportFormat="ION")
    summary, files = manifest(service, description)
    assert summary["outputFormat"] == "ION"
    stored = b"".join(gzip.decompress(read(service, file["dataFileS3Key"])) for file in files)
    assert stored == b'$ion_1_0 {Item:{pk:"k1",v:"x"}}\n'
    assert all(file["dataFileS3Key"].endswith(".ion.gz") for file in files)


def incremental(service: Clocked, start: float, end: float | None = None, **options: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"ExportFromTime": start, **options}
    if end is not None:
        spec["ExportToTime"] = end
    return {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": spec}


def test_an_incremental_export_tells_the_difference_of_two_moments(service: Clocked) -> None:
    put(service, 1, 2, 3, value="old")
    service.clock.advance(1000)
    start = service.clock.now()
    put(service, 1, value="between")
    service.clock.advance(10)
    put(service, 1, 4, 5, value="new")
    written_at = int(service.clock.now() * 1_000_000)
    delete(service, 2)
    delete(service, 5)
    service.clock.advance(1000)
    end = service.clock.now()
    put(service, 1, 3, 9, value="too late")
    service.clock.advance(10)
    description = export(service, **incremental(service, start, end))
    found = {line["Keys"]["pk"]["S"]: line for line in lines(service, description)}

    def item(number: int, value: str) -> Item:
        return {"pk": {"S": f"k{number}"}, "v": {"S": value}}

    metadata = {"WriteTimestampMicros": {"N": str(written_at)}}
    assert found == {
        "k1": {
            "Metadata": metadata,
            "Keys": {"pk": {"S": "k1"}},
            "OldImage": item(1, "old"),
            "NewImage": item(1, "new"),
        },
        "k2": {"Metadata": metadata, "Keys": {"pk": {"S": "k2"}}, "OldImage": item(2, "old")},
        "k4": {"Metadata": metadata, "Keys": {"pk": {"S": "k4"}}, "NewImage": item(4, "new")},
    }
    summary, files = manifest(service, description)
    assert summary["outputView"] == "NEW_AND_OLD_IMAGES"
    assert summary["exportType"] == "INCREMENTAL_EXPORT"
    assert summary["version"] == "2023-08-01"
    assert summary["billedSizeBytes"] == 10_000_000
    assert "exportTime" not in summary
    assert all(file["dataFileS3Key"].startswith("AWSDynamoDB/data/") for file in files)
    assert description["ExportType"] == "INCREMENTAL_EXPORT"
    assert "ExportTime" not in description
    assert description["IncrementalExportSpecification"] == {
        "ExportFromTime": start,
        "ExportToTime": end,
        "ExportViewType": "NEW_AND_OLD_IMAGES",
    }


def test_new_images_only(service: Clocked) -> None:
    put(service, 1, 2)
    start = service.clock.now() + 1
    service.clock.advance(10)
    put(service, 1, value="new")
    delete(service, 2)
    service.clock.advance(1000)
    options = incremental(service, start, service.clock.now(), ExportViewType="NEW_IMAGE")
    found = lines(service, export(service, **options))
    assert {line["Keys"]["pk"]["S"]: set(line) for line in found} == {
        "k1": {"Metadata", "Keys", "NewImage"},
        "k2": {"Metadata", "Keys"},
    }


def test_a_filter_keeps_some_items_and_some_attributes(service: Clocked) -> None:
    put(service, *range(9))
    put(service, 3, 4, value="y")
    spec = {
        "FilterExpression": "v = :v",
        "ProjectionExpression": "#p",
        "ExpressionAttributeNames": {"#p": "pk"},
        "ExpressionAttributeValues": {":v": {"S": "y"}},
    }
    description = export(service, FilterSpecification=spec)
    assert description["FilterSpecification"] == spec
    assert exported(service, description) == {"k3": {"pk": {"S": "k3"}}, "k4": {"pk": {"S": "k4"}}}
    spec = {"KeyConditionExpression": "pk = :k", "ExpressionAttributeValues": {":k": {"S": "k5"}}}
    assert set(exported(service, export(service, FilterSpecification=spec))) == {"k5"}


def test_an_export_goes_on_after_a_crash_behind_its_finished_files(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files.DataFiles.__init__, "__defaults__", ("GZIP", 200))
    put(service, *range(60))
    expected = content(service)
    arn = begin(service)["ExportArn"]
    for _ in range(40):
        for _ in range(3):
            service.exporting.step(service.clock.now())
        service.exporting.close()
        service.start_long_jobs()
        put(service, *range(10), value="later")
    service.run_jobs()
    done = describe(service, arn)
    assert exported(service, done) == expected
    summary, files = manifest(service, done)
    folder = str(Path(summary["manifestFilesS3Key"]).parent / "data")
    keys = {found.key for found in service.objects.bucket("bucket").list(folder)}
    assert keys == {file["dataFileS3Key"] for file in files}, "nothing is left of what was cut off"
    assert len(files) > 8


def test_a_missing_bucket_fails_the_export_and_lets_go_of_the_past(service: Clocked) -> None:
    description = export(service, S3Bucket="nowhere")
    assert description["ExportStatus"] == "FAILED"
    assert description["FailureCode"] == "S3NoSuchBucket"
    assert description["FailureMessage"].startswith(
        "The specified bucket does not exist (Service: Amazon S3;"
    )
    table = service.catalogue.refresh("000000000000", "us-east-1", "tab")
    assert table is not None
    assert not table.held


def test_an_unreachable_store_holds_up_nobody_else(service: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = begin(service, S3Bucket="unreachable"), begin(service)
    bucket = service.objects.bucket

    def some(name: str, *rest: Any) -> Any:
        if name == "unreachable":
            raise Unreachable("no answer")
        return bucket(name, *rest)

    monkeypatch.setattr(service.objects, "bucket", some)
    service.run_jobs()
    assert describe(service, good["ExportArn"])["ExportStatus"] == "COMPLETED"
    assert describe(service, bad["ExportArn"])["ExportStatus"] == "IN_PROGRESS"


def test_an_export_outlives_its_table(service: Clocked) -> None:
    put(service, *range(20))
    expected = content(service)
    arn = begin(service)["ExportArn"]
    service.call("DeleteTable", TableName="tab")
    service.settle()
    assert exported(service, describe(service, arn)) == expected
    assert service.call("ListExports", TableArn=ARN)["ExportSummaries"] == []
    assert [found["ExportArn"] for found in service.call("ListExports")["ExportSummaries"]] == [arn]
