"""Imports: a new table with the items of a bucket's objects; what is rejected is counted and written down."""

import gzip
from typing import Any

import orjson
import pytest
import zstandard

from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.jobs import imports
from hashrange.storage import report_rows
from hashrange.storage.errors import Unavailable
from item_tables import definitions, index, key_schema

ACCOUNT = "arn:aws:dynamodb:us-east-1:000000000000"
FAILED_ITEMS = {
    "ImportStatus": "FAILED",
    "FailureCode": "ItemValidationError",
    "FailureMessage": "Some of the items failed validation checks and were not imported. Please check CloudWatch error "
    "logs for more details.",
}


@pytest.fixture
def service() -> Clocked:
    service = Clocked(transition_ms=0)
    service.make_bucket()
    return service


def upload(service: Clocked, key: str, data: bytes) -> None:
    service.objects.bucket("bucket").put(key, data)


def line(number: int, **more: Any) -> bytes:
    return orjson.dumps({"Item": {"pk": {"S": f"k{number}"}, **more}}) + b"\n"


def begin(service: Clocked, name: str = "tab", *, prefix: str | None = None, **options: Any) -> Any:
    """`parameters` are those of the table."""
    parameters = options.pop("parameters", {})
    source: dict[str, Any] = {"S3Bucket": "bucket"}
    if prefix is not None:
        source["S3KeyPrefix"] = prefix
    request = {
        "S3BucketSource": source,
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": {
            "TableName": name,
            "KeySchema": key_schema("pk"),
            "AttributeDefinitions": definitions(pk="S"),
            "BillingMode": "PAY_PER_REQUEST",
            **parameters,
        },
        **options,
    }
    return service.call("ImportTable", **request)["ImportTableDescription"]


def describe(service: Clocked, arn: str) -> Any:
    return service.call("DescribeImport", ImportArn=arn)["ImportTableDescription"]


def run(service: Clocked, name: str = "tab", **options: Any) -> Any:
    arn = begin(service, name, **options)["ImportArn"]
    service.run_jobs()
    return describe(service, arn)


def content(service: Clocked, name: str = "tab", **options: Any) -> dict[str, Item]:
    return {item["pk"]["S"]: item for item in service.call("Scan", TableName=name, **options)["Items"]}


def counts(description: Any) -> tuple[int, int, int]:
    return (
        description["ProcessedItemCount"],
        description["ImportedItemCount"],
        description["ErrorCount"],
    )


def rejected(service: Clocked) -> list[Any]:
    bucket = service.backups.bucket
    keys = [found.key for found in bucket.list("import-errors/")]
    return [orjson.loads(text) for key in keys for text in b"".join(bucket.read(key)).splitlines()]


def test_a_table_with_its_indexes(service: Clocked) -> None:
    upload(service, "data/1", b"".join(line(number, g={"S": f"g{number % 3}"}) for number in range(120)))
    upload(service, "data/2", b"".join(line(number) for number in range(120, 130)))
    parameters = {
        "AttributeDefinitions": definitions(pk="S", g="S"),
        "GlobalSecondaryIndexes": [index("by-g", "g")],
    }
    description = begin(service, prefix="data", parameters=parameters, ClientToken="token")
    assert description["ImportStatus"] == "IN_PROGRESS"
    assert description["TableArn"] == f"{ACCOUNT}:table/tab"
    assert service.refused("DescribeTable", TableName="tab")[0] == "ResourceNotFoundException"
    service.importing.step(service.clock.now())
    assert service.describe("tab")["TableStatus"] == "CREATING"
    assert service.refused("DeleteTable", TableName="tab")[0] == "ResourceInUseException"
    assert (
        service.refused("PutItem", TableName="tab", Item={"pk": {"S": "x"}})[0] == "ResourceNotFoundException"
    )
    service.run_jobs()
    assert service.describe("tab")["TableStatus"] == "ACTIVE"
    assert service.describe("tab")["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    assert service.describe("tab")["ItemCount"] == 130
    assert len(content(service)) == 130
    assert len(content(service, IndexName="by-g")) == 120
    done = describe(service, description["ImportArn"])
    size = sum(found.size for found in service.objects.bucket("bucket").list())
    assert done == {
        "ImportArn": description["ImportArn"],
        "ImportStatus": "COMPLETED",
        "TableArn": f"{ACCOUNT}:table/tab",
        "TableId": service.describe("tab")["TableId"],
        "ClientToken": "token",
        "S3BucketSource": {
            "S3BucketOwner": "000000000000",
            "S3Bucket": "bucket",
            "S3KeyPrefix": "data",
        },
        "ErrorCount": 0,
        "CloudWatchLogGroupArn": "arn:aws:logs:us-east-1:000000000000:log-group:/aws-dynamodb/imports:*",
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "NONE",
        "TableCreationParameters": {
            "TableName": "tab",
            "KeySchema": key_schema("pk"),
            "BillingMode": "PAY_PER_REQUEST",
            **parameters,
        },
        "StartTime": service.clock.now(),
        "EndTime": service.clock.now(),
        "ProcessedSizeBytes": size,
        "ProcessedItemCount": 130,
        "ImportedItemCount": 130,
    }


@pytest.mark.parametrize("compression", ["GZIP", "ZSTD", "NONE"])
@pytest.mark.parametrize(
    ("input_format", "text"),
    [
        ("DYNAMODB_JSON", b'{"Item":{"pk":{"S":"a"},"v":{"S":"1"}}}\n'),
        ("ION", b'$ion_1_0 {Item:{pk:"a",v:"1"}}\n'),
        ("CSV", b"pk,v\na,1\n"),
    ],
)
def test_formats(service: Clocked, input_format: str, text: bytes, compression: str) -> None:
    packed = {"GZIP": gzip.compress(text), "ZSTD": zstandard.ZstdCompressor().compress(text), "NONE": text}
    upload(service, "x", packed[compression])
    description = run(service, InputFormat=input_format, InputCompressionType=compression)
    assert description["ImportStatus"] == "COMPLETED"
    assert content(service) == {"a": {"pk": {"S": "a"}, "v": {"S": "1"}}}


@pytest.mark.parametrize(
    ("input_format", "text"),
    [
        (
            "DYNAMODB_JSON",
            (
                b'{"Item":{"Id":{"N":"103"},"Authors":{"SS":["Author1","Author2"]},"InPublication":{"BOOL":false},'
                b'"PageCount":{"N":"600"},"Title":{"S":"Book 103 Title"}}}\n'
            ),
        ),
        (
            "ION",
            (
                b'$ion_1_0 {Item:{Id:103.,Authors:$dynamodb_SS::["Author1","Author2"],InPublication:false,'
                b'PageCount:6d2,Title:"Book 103 Title"}}\n'
            ),
        ),
    ],
)
def test_an_export_as_the_service_makes_it(service: Clocked, input_format: str, text: bytes) -> None:
    """The lines of the developer guide's sample, with the file of an empty partition beside them."""
    folder = "AWSDynamoDB/01693685827463-2d8752fd/data/"
    upload(service, f"{folder}asdl123456789012345678abcd.gz", gzip.compress(text))
    upload(service, f"{folder}zsdl123456789012345678abcd.gz", gzip.compress(b""))
    parameters = {"KeySchema": key_schema("Id"), "AttributeDefinitions": definitions(Id="N")}
    description = run(
        service,
        prefix=folder,
        parameters=parameters,
        InputFormat=input_format,
        InputCompressionType="GZIP",
    )
    assert (description["ImportStatus"], counts(description)) == ("COMPLETED", (1, 1, 0))
    assert service.call("Scan", TableName="tab")["Items"] == [
        {
            "Id": {"N": "103"},
            "Authors": {"SS": ["Author1", "Author2"]},
            "InPublication": {"BOOL": False},
            "PageCount": {"N": "600"},
            "Title": {"S": "Book 103 Title"},
        }
    ]


def test_csv_options(service: Clocked) -> None:
    upload(service, "x", b"a;1\nb;2\n")
    options = {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "n"]}}
    parameters = {
        "AttributeDefinitions": definitions(pk="S", n="N"),
        "GlobalSecondaryIndexes": [index("by-n", "n")],
    }
    description = run(service, InputFormat="CSV", InputFormatOptions=options, parameters=parameters)
    assert description["InputFormatOptions"] == options
    assert content(service) == {
        "a": {"pk": {"S": "a"}, "n": {"N": "1"}},
        "b": {"pk": {"S": "b"}, "n": {"N": "2"}},
    }


def test_an_item_without_its_key_is_skipped_and_written_down(service: Clocked) -> None:
    lines = [line(number) for number in range(10)]
    lines[5] = b'{"Item":{"other":{"S":"x"}}}\n'
    upload(service, "x", b"".join(lines))
    description = run(service)
    assert counts(description) == (10, 9, 1)
    assert description | FAILED_ITEMS == description
    assert service.describe("tab")["TableStatus"] == "ACTIVE"
    assert len(content(service)) == 9
    assert rejected(service) == [
        {
            "itemS3Pointer": {"bucket": "bucket", "key": "x", "itemIndex": 5},
            "importArn": description["ImportArn"],
            "errorMessages": ["One or more parameter values were invalid: Missing the key pk in the item"],
        }
    ]


def test_garbage_stops_its_object_alone(service: Clocked) -> None:
    lines = [line(number) for number in range(10)]
    lines[5] = b"garbage\n"
    upload(service, "x", b"".join(lines))
    upload(service, "y", line(100))
    description = run(service)
    assert counts(description) == (7, 6, 1)
    assert set(content(service)) == {"k0", "k1", "k2", "k3", "k4", "k100"}


def test_no_objects_make_an_empty_table(service: Clocked) -> None:
    description = run(service, prefix="nothing")
    assert description["ImportStatus"] == "COMPLETED"
    assert content(service) == {}


def test_a_missing_bucket_leaves_no_table(service: Clocked) -> None:
    description = run(service, S3BucketSource={"S3Bucket": "nowhere"})
    assert (description["ImportStatus"], description["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert description["TableArn"] == f"{ACCOUNT}:table/tab"
    assert service.refused("DescribeTable", TableName="tab")[0] == "ResourceNotFoundException"


def test_of_two_imports_into_one_name_the_second_fails(service: Clocked) -> None:
    upload(service, "x", line(1))
    first, second = begin(service), begin(service)
    service.run_jobs()
    ends = {describe(service, one["ImportArn"])["ImportStatus"] for one in (first, second)}
    assert ends == {"COMPLETED", "FAILED"}
    codes = {describe(service, one["ImportArn"]).get("FailureCode") for one in (first, second)}
    assert codes == {None, "TableAlreadyExists"}
    assert set(content(service)) == {"k1"}


def test_counts_are_exact_after_crashes(service: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_rows, "_FILE_LINES", 7)
    lines = [line(number) for number in range(700)]
    for number in range(0, 700, 10):
        lines[number] = b'{"Item":{"other":{"S":"x"}}}\n'
    for part in range(7):
        upload(service, f"part-{part}", gzip.compress(b"".join(lines[part * 100 : part * 100 + 100])))
    arn = begin(service, InputCompressionType="GZIP")["ImportArn"]
    for _ in range(30):
        for _ in range(4):
            service.importing.step(service.clock.now())
        service.importing.close()
        service.start_long_jobs()
    service.run_jobs()
    description = describe(service, arn)
    assert counts(description) == (700, 630, 70)
    assert service.describe("tab")["ItemCount"] == 630
    pointers = [
        (found["itemS3Pointer"]["key"], found["itemS3Pointer"]["itemIndex"]) for found in rejected(service)
    ]
    assert pointers == [(f"part-{part}", number) for part in range(7) for number in range(0, 100, 10)]


def test_who_sees_that_an_import_is_over_finds_its_table(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(service, "x", line(1))
    arn = begin(service)["ImportArn"]
    refresh = service.catalogue.refresh
    seen: list[tuple[str, str]] = []

    def refreshed(account_id: str, region: str, name: str) -> Table | None:
        table = refresh(account_id, region, name)
        seen.append((describe(service, arn)["ImportStatus"], "" if table is None else table.status))
        return table

    monkeypatch.setattr(service.catalogue, "refresh", refreshed)
    service.run_jobs()
    assert seen[-1] == ("IN_PROGRESS", "ACTIVE")
    assert describe(service, arn)["ImportStatus"] == "COMPLETED"


def test_a_table_that_was_opened_before_a_crash_is_not_written_to_again(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(service, "x", line(1))
    arn = begin(service)["ImportArn"]

    def killed(*_: object, **__: object) -> None:
        raise Unavailable("killed")

    with monkeypatch.context() as patch:
        patch.setattr(imports, "_ended", killed)
        service.run_jobs()
    assert service.describe("tab")["TableStatus"] == "ACTIVE"
    assert describe(service, arn)["ImportStatus"] == "IN_PROGRESS"
    service.call("PutItem", TableName="tab", Item={"pk": {"S": "k2"}, "v": {"S": "client"}})
    upload(service, "y", line(2))
    service.start_long_jobs()
    service.run_jobs()
    assert counts(describe(service, arn))[1] == 1
    assert describe(service, arn)["ImportStatus"] == "COMPLETED"
    assert content(service)["k2"]["v"] == {"S": "client"}


def test_an_object_that_changes_fails_the_import(service: Clocked) -> None:
    upload(service, "x", b'{"Item":{}}\n' + b"".join(line(number) for number in range(200)))
    arn = begin(service)["ImportArn"]
    for _ in range(2):
        service.importing.step(service.clock.now())
    service.start_long_jobs()
    upload(service, "x", line(1))
    service.run_jobs()
    assert describe(service, arn)["FailureCode"] == "S3PreconditionFailed"
    assert len(rejected(service)) == describe(service, arn)["ErrorCount"] == 1
    assert service.describe("tab")["TableStatus"] == "ACTIVE"


def test_requests_that_are_refused(service: Clocked) -> None:
    def refused(**options: Any) -> tuple[str, str | None]:
        with pytest.raises(ApiError) as caught:
            begin(service, **options)
        return caught.value.code, caught.value.message

    assert refused(InputFormatOptions={}) == (
        "ValidationException",
        "Invalid Request: Unsupported InputFormatOptions for the given input format: DYNAMODB_JSON.",
    )
    code, message = refused(InputCompressionType="ZIP")
    assert code == "ValidationException"
    assert "enum value set: [ZSTD, NONE, GZIP]" in str(message)
    assert refused(parameters={"BillingMode": "PROVISIONED"})[0] == "ValidationException"
    begin(service, ClientToken="once")
    assert refused(name="other", ClientToken="once") == (
        "ImportConflictException",
        "Import conflict: Duplicate request detected with conflicting parameters",
    )
    first = begin(service, ClientToken="once", prefix="ignored")
    assert "S3KeyPrefix" not in first["S3BucketSource"]
    service.run_jobs()
    assert refused() == ("ResourceInUseException", "Table already exists: tab")


def test_imports_are_listed_and_outlive_their_tables(service: Clocked) -> None:
    arns = []
    for number in range(3):
        service.clock.advance(1)
        arns.append(run(service, f"tab-{number}")["ImportArn"])
    service.call("DeleteTable", TableName="tab-0")
    service.settle()
    page = service.call("ListImports", PageSize=2)
    assert [found["ImportArn"] for found in page["ImportSummaryList"]] == arns[:0:-1]
    rest = service.call("ListImports", PageSize=2, NextToken=page["NextToken"])
    assert [found["ImportArn"] for found in rest["ImportSummaryList"]] == arns[:1]
    assert "NextToken" not in rest
    own = service.call("ListImports", TableArn=f"{ACCOUNT}:table/tab-0")["ImportSummaryList"]
    assert [found["ImportArn"] for found in own] == arns[:1]
    unknown = f"{ACCOUNT}:table/tab-0/import/01699920000000-00000000"
    assert service.refused("DescribeImport", ImportArn=unknown)[0] == "ImportNotFoundException"
    assert service.refused("DescribeImport", ImportArn="x" * 40) == (
        "ValidationException",
        "Invalid Import ARN",
    )
