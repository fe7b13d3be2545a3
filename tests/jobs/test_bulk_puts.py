"""Bulk puts: items with and without conditions, written as PutItem writes them, and reports of the rest."""

import gzip
from typing import Any

import orjson
import pytest

from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.core.values import Item
from hashrange.storage import report_rows, store
from item_tables import index
from new_tables import request as new_table

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tab"


@pytest.fixture
def service() -> Clocked:
    service = Clocked(transition_ms=0)
    definition = new_table(
        "pk", TableName="tab", types={"g": "S"}, GlobalSecondaryIndexes=[index("by-g", "g")]
    )
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    service.call("CreateTable", **definition, StreamSpecification=stream)
    service.settle()
    service.make_bucket()
    service.make_bucket("reports")
    return service


def upload(service: Clocked, key: str, *records: Any) -> None:
    data = b"".join(
        record if isinstance(record, bytes) else orjson.dumps(record) + b"\n" for record in records
    )
    service.objects.bucket("bucket").put(key, data)


def record(number: int, value: str = "new", **more: Any) -> dict[str, Any]:
    return {"Item": {"pk": {"S": f"k{number}"}, "v": {"S": value}}, **more}


def begin(service: Clocked, **options: Any) -> Any:
    request: dict[str, Any] = {
        "TableName": "tab",
        "InputS3Configuration": {"S3Bucket": "bucket", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {
            "S3Bucket": "reports",
            "S3KeyPrefix": "some",
            "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
        },
        **options,
    }
    return service.call("StartBulkPutItems", **request)["BulkOperationDescription"]


def refused(service: Clocked, **options: Any) -> tuple[str, str | None]:
    with pytest.raises(ApiError) as caught:
        begin(service, **options)
    return caught.value.code, caught.value.message


def describe(service: Clocked, arn: str) -> Any:
    return service.call("DescribeBulkOperation", BulkOperationArn=arn)["BulkOperationDescription"]


def run(service: Clocked, **options: Any) -> Any:
    arn = begin(service, **options)["BulkOperationArn"]
    service.run_jobs()
    return describe(service, arn)


def content(service: Clocked, **options: Any) -> dict[str, Item]:
    return {item["pk"]["S"]: item for item in service.call("Scan", TableName="tab", **options)["Items"]}


def report(service: Clocked, description: Any, kind: str) -> list[Any]:
    """The lines of a report, by its manifest."""
    bucket = service.objects.bucket("reports")
    operation_id = description["BulkOperationArn"].rpartition("/")[2]
    manifest = orjson.loads(b"".join(bucket.read(f"some/AWSDynamoDB/{operation_id}/manifest.json")))
    assert manifest["bulkOperationArn"] == description["BulkOperationArn"]
    (found,) = [one for one in manifest["reports"] if one["outputType"] == kind]
    lines = [orjson.loads(line) for key in found["files"] for line in b"".join(bucket.read(key)).splitlines()]
    assert len(lines) == found["itemCount"]
    return lines


def stream_keys(service: Clocked) -> list[str]:
    arn = service.describe("tab")["LatestStreamArn"]
    keys = []
    for shard in service.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
        place = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = service.call("GetShardIterator", **place)["ShardIterator"]
        found = service.call("GetRecords", ShardIterator=iterator)["Records"]
        keys += [one["dynamodb"]["Keys"]["pk"]["S"] for one in found]
    return keys


def test_items_are_put_as_putitem_puts_them(service: Clocked) -> None:
    items = [record(number) for number in range(120)]
    items[7]["Item"]["g"] = {"S": "x"}
    upload(service, "a", *items[:60])
    upload(service, "b", *items[60:])
    service.call("PutItem", TableName="tab", Item={"pk": {"S": "k3"}, "old": {"S": "x"}})
    before = begin(service, MaxWriteRequestUnits=100_000, PerformanceTier="STANDARD", ClientToken="token")
    assert before["BulkOperationStatus"] == "IN_PROGRESS"
    assert "TotalInputBytes" not in before
    service.run_jobs()
    done = describe(service, before["BulkOperationArn"])
    assert content(service) == {one["Item"]["pk"]["S"]: one["Item"] for one in items}
    assert set(content(service, IndexName="by-g")) == {"k7"}
    assert sorted(stream_keys(service)) == sorted(["k3", *(f"k{number}" for number in range(120))])
    size = sum(found.size for found in service.objects.bucket("bucket").list())
    table = service.describe("tab")
    usage = {
        "TableName": "tab",
        "BulkPutBytes": table["TableSizeBytes"] + table["GlobalSecondaryIndexes"][0]["IndexSizeBytes"],
        "Table": {"BulkPutBytes": table["TableSizeBytes"]},
        "GlobalSecondaryIndexes": {
            "by-g": {"BulkPutBytes": table["GlobalSecondaryIndexes"][0]["IndexSizeBytes"]}
        },
    }
    assert done == {
        "BulkOperationArn": before["BulkOperationArn"],
        "BulkOperationStatus": "COMPLETED",
        "TableDetails": [{"TableName": "tab", "TableId": table["TableId"]}],
        "ClientToken": "token",
        "InputS3Configuration": {"S3Bucket": "bucket", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {
            "S3Bucket": "reports",
            "S3KeyPrefix": "some",
            "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"],
        },
        "StartTime": service.clock.now(),
        "EndTime": service.clock.now(),
        "ProcessedItemCount": 120,
        "FailedItemCount": 0,
        "ProcessedInputBytes": size,
        "TotalInputBytes": size,
        "BulkOperationUsage": [usage],
        "MaxWriteRequestUnits": 100_000,
        "PerformanceTier": "STANDARD",
    }


def test_conditions_that_fail_are_reported_with_both_items(service: Clocked) -> None:
    service.call("PutItem", TableName="tab", Item={"pk": {"S": "k1"}, "v": {"S": "old"}})
    unless_there = {"ConditionExpression": "attribute_not_exists(pk)"}
    only_if: dict[str, Any] = {
        "ConditionExpression": "#v = :v",
        "ExpressionAttributeNames": {"#v": "v"},
        "ExpressionAttributeValues": {":v": {"S": "old"}},
    }
    upload(
        service,
        "a",
        record(1, **unless_there),
        record(2, **unless_there),
        record(1, **only_if),
        record(3, **only_if),
    )
    done = run(service)
    assert done["BulkOperationStatus"] == "COMPLETED"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (4, 0)
    assert {key: item["v"]["S"] for key, item in content(service).items()} == {"k1": "new", "k2": "new"}

    def pointer(number: int) -> dict[str, Any]:
        return {"bucket": "bucket", "key": "a", "itemIndex": number}

    assert report(service, done, "CONDITION_CHECK_FAILURE") == [
        {
            "itemS3Pointer": pointer(0),
            "Item": record(1)["Item"],
            "ExistingItem": {"pk": {"S": "k1"}, "v": {"S": "old"}},
        },
        {"itemS3Pointer": pointer(3), "Item": record(3)["Item"]},
    ]
    assert report(service, done, "ERROR") == []


def test_errors_are_reported_and_garbage_ends_its_object(service: Clocked) -> None:
    upload(
        service,
        "a",
        record(1),
        {"Item": {"v": {"S": "x"}}},
        record(2, ConditionExpression="nonsense ("),
        record(3, ExpressionAttributeNames={"#a": "a"}),
        record(4),
        b"garbage\n",
        record(5),
    )
    upload(service, "b", record(6))
    done = run(service)
    assert done["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (7, 4)
    assert set(content(service)) == {"k1", "k4", "k6"}
    lines = report(service, done, "ERROR")
    assert [line["itemS3Pointer"]["itemIndex"] for line in lines] == [1, 2, 3, 5]
    assert lines[0]["errorMessages"] == [
        "One or more parameter values were invalid: Missing the key pk in the item"
    ]
    assert lines[0]["bulkOperationArn"] == done["BulkOperationArn"]


def test_ion_and_gzip(service: Clocked) -> None:
    text = b'$ion_1_0 {Item:{pk:"a",v:"1"}}\n'
    service.objects.bucket("bucket").put("x", gzip.compress(text))
    source = {"S3Bucket": "bucket", "InputFormat": "ION", "InputCompressionType": "GZIP"}
    assert run(service, InputS3Configuration=source)["BulkOperationStatus"] == "COMPLETED"
    assert content(service) == {"a": {"pk": {"S": "a"}, "v": {"S": "1"}}}


def test_a_cancelled_operation_keeps_what_it_has_written(service: Clocked) -> None:
    upload(service, "a", *(record(number) for number in range(300)))
    arn = begin(service)["BulkOperationArn"]
    for _ in range(2):
        service.bulk_putting.step(service.clock.now())
    answer = service.call("CancelBulkOperation", BulkOperationArn=arn)
    assert answer == {"BulkOperationArn": arn, "BulkOperationStatus": "CANCELLING"}
    service.run_jobs()
    done = describe(service, arn)
    assert done["BulkOperationStatus"] == "CANCELLED"
    assert 0 < done["ProcessedItemCount"] == len(content(service)) < 300
    assert 0 < done["ProcessedInputBytes"] <= done["TotalInputBytes"], (
        "an object that was read in part counts"
    )
    again = service.call("CancelBulkOperation", BulkOperationArn=arn)
    assert again["BulkOperationStatus"] == "CANCELLED"


def test_counts_and_reports_are_exact_after_crashes(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_rows, "_FILE_LINES", 7)
    records: list[Any] = [
        record(number % 50, ConditionExpression="attribute_not_exists(pk)") for number in range(100)
    ]
    for number in range(0, 100, 10):
        records[number] = {"Item": {"v": {"S": "x"}}}
    upload(service, "a", *records[:60])
    upload(service, "b", *records[60:])
    arn = begin(service)["BulkOperationArn"]
    for _ in range(40):
        for _ in range(3):
            service.bulk_putting.step(service.clock.now())
        service.bulk_putting.close()
        service.start_long_jobs()
    service.run_jobs()
    done = describe(service, arn)
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (100, 10)
    assert len(content(service)) == 45
    assert len(report(service, done, "ERROR")) == 10
    failures = [line["itemS3Pointer"] for line in report(service, done, "CONDITION_CHECK_FAILURE")]
    assert len({(one["key"], one["itemIndex"]) for one in failures}) == len(failures) == 45
    assert len(stream_keys(service)) == 45


def test_an_item_that_its_collection_has_no_room_for_is_an_error(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = new_table("pk", "sk", TableName="local", types={"l": "S"})
    service.call("CreateTable", **definition, LocalSecondaryIndexes=[index("by-l", "pk", "l")])
    service.settle()
    monkeypatch.setattr(store, "_COLLECTION_BYTES_MAX", 100)
    sizes = {"s1": 10, "s2": 200, "s3": 10}
    upload(
        service,
        "a",
        *(
            {"Item": {"pk": {"S": "p"}, "sk": {"S": key}, "v": {"S": "x" * size}}}
            for key, size in sizes.items()
        ),
    )
    done = run(service, TableName="local")
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (3, 1)
    found = service.call("Scan", TableName="local")["Items"]
    assert sorted(item["sk"]["S"] for item in found) == ["s1", "s3"]
    (line,) = report(service, done, "ERROR")
    assert line["itemS3Pointer"]["itemIndex"] == 1


def test_a_missing_bucket_fails_before_anything_is_written(service: Clocked) -> None:
    upload(service, "a", record(1))
    target = {"S3Bucket": "nowhere", "OutputType": ["ERROR"]}
    done = run(service, OutputS3Configuration=target)
    assert (done["BulkOperationStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    source = {"S3Bucket": "nowhere", "InputFormat": "ION"}
    assert run(service, InputS3Configuration=source)["FailureCode"] == "S3NoSuchBucket"
    assert content(service) == {}


def test_a_table_that_goes_away_fails_the_operation(service: Clocked) -> None:
    upload(service, "a", {"Item": {}}, *(record(number) for number in range(300)))
    arn = begin(service)["BulkOperationArn"]
    for _ in range(2):
        service.bulk_putting.step(service.clock.now())
    service.call("DeleteTable", TableName="tab")
    service.settle()
    done = describe(service, arn)
    assert done["FailureCode"] == "ResourceNotFound"
    assert len(report(service, done, "ERROR")) == 1


def test_requests_that_are_refused(service: Clocked) -> None:
    assert refused(service, TableName="missing")[0] == "ResourceNotFoundException"
    code, message = refused(service, MaxWriteRequestUnits=1023)
    assert (code, "greater than or equal to 1024" in str(message)) == ("ValidationException", True)
    source = {"S3Bucket": "bucket", "InputFormat": "CSV"}
    assert refused(service, InputS3Configuration=source)[0] == "ValidationException"
    target = {"S3Bucket": "reports", "OutputType": []}
    assert refused(service, OutputS3Configuration=target)[0] == "ValidationException"
    first = begin(service, ClientToken="once")
    assert begin(service, ClientToken="once")["BulkOperationArn"] == first["BulkOperationArn"]
    code, _ = refused(service, ClientToken="once", MaxWriteRequestUnits=2000)
    assert code == "IdempotentParameterMismatchException"
    unknown = f"{ARN}/bulk-operation/01699920000000-00000000"
    for operation in ("DescribeBulkOperation", "CancelBulkOperation"):
        code, _ = service.refused(operation, BulkOperationArn=unknown)
        assert code == "ResourceNotFoundException"
        assert service.refused(operation, BulkOperationArn="x" * 40)[1] == "Invalid Bulk Operation ARN"


def test_operations_are_listed_newest_first(service: Clocked) -> None:
    arns = []
    for _ in range(3):
        service.clock.advance(1)
        arns.append(begin(service)["BulkOperationArn"])
    page = service.call("ListBulkOperations", MaxResults=2)
    assert [one["BulkOperationArn"] for one in page["BulkOperationsSummaryList"]] == arns[:0:-1]
    rest = service.call("ListBulkOperations", NextToken=page["NextToken"])["BulkOperationsSummaryList"]
    assert rest == [
        {
            "BulkOperationArn": arns[0],
            "BulkOperationStatus": "IN_PROGRESS",
            "StartTime": service.clock.now() - 2,
        }
    ]
