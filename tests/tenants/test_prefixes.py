"""Exports and imports: every tenant has a prefix in a bucket, and gets neither out of it nor into another's table."""

from typing import Any

import pytest

from item_tables import definitions, key_schema
from tenants.conftest import BUCKET
from tenants.shared_house import CANARY, TABLES, House, allow
from tenants.signed_callers import Reply, SignedCaller
from transfers import until

DENIED = "AccessDeniedException"
MINE, THEIRS = "red_books", "blue_books"
OBJECTS = f"arn:aws:s3:::{BUCKET}"
SCHEMA: dict[str, Any] = {"KeySchema": key_schema("id"), "AttributeDefinitions": definitions(id="S")}


@pytest.fixture(scope="session")
def red(house: House) -> SignedCaller:
    for name in (MINE, THEIRS):
        house.table(name, **SCHEMA)
        secret = CANARY if name == THEIRS else "own"
        house.must("PutItem", TableName=name, Item={"id": {"S": "1"}, "secret": {"S": secret}})
        recovery = {"PointInTimeRecoveryEnabled": True}
        house.must("UpdateContinuousBackups", TableName=name, PointInTimeRecoverySpecification=recovery)
    return house.user(
        "red",
        allow("dynamodb:*", resource=f"{TABLES}/${{aws:username}}_*"),
        allow("s3:*", resource=f"{OBJECTS}/${{aws:username}}/*"),
        allow("s3:ListBucket", resource=OBJECTS),
    )


def exported(house: House, caller: SignedCaller, table: str, prefix: str) -> Any:
    request = {"S3Bucket": BUCKET, "S3Prefix": prefix, "TableArn": f"{TABLES}/{table}"}
    reply = caller.ask("ExportTableToPointInTime", request)
    assert reply.status == 200, reply.raw
    return _ended(house, "Export", reply.body["ExportDescription"]["ExportArn"])


def imported(caller: SignedCaller, prefix: str, table: str) -> Reply:
    request = {
        "S3BucketSource": {"S3Bucket": BUCKET, "S3KeyPrefix": prefix},
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "GZIP",
        "TableCreationParameters": {"TableName": table, "BillingMode": "PAY_PER_REQUEST", **SCHEMA},
    }
    return caller.ask("ImportTable", request)


def _ended(house: House, word: str, arn: str) -> Any:
    member = {"Export": "ExportDescription", "Import": "ImportTableDescription"}[word]

    def described() -> Any:
        return house.must(f"Describe{word}", **{f"{word}Arn": arn})[member]

    until(lambda: described()[f"{word}Status"] != "IN_PROGRESS")
    return described()


def test_an_export_is_reached_by_its_own_name_only(house: House, red: SignedCaller) -> None:
    export = exported(house, house.admin, THEIRS, "blue/")["ExportArn"]
    foreign = red.ask("DescribeExport", {"ExportArn": export})
    assert (foreign.error, CANARY.encode() in foreign.raw) == (DENIED, False)
    mixed = red.ask("DescribeExport", {"ExportArn": export.replace(THEIRS, MINE)})
    assert mixed.error == "ExportNotFoundException"


@pytest.mark.parametrize(
    "prefix", [None, "", "blue", "blue/", "blue/red/", "redx", "red", "r", "/red/", "Red/"]
)
def test_nothing_is_exported_beyond_the_prefix(red: SignedCaller, prefix: str | None) -> None:
    request = {"S3Bucket": BUCKET, "TableArn": f"{TABLES}/{MINE}"}
    if prefix is not None:
        request["S3Prefix"] = prefix
    assert red.ask("ExportTableToPointInTime", request).error == DENIED
    other = {**request, "S3Bucket": "other", "S3Prefix": "red/"}
    assert red.ask("ExportTableToPointInTime", other).error == DENIED


def test_exports_and_imports_work_within_the_prefix(house: House, red: SignedCaller) -> None:
    export = exported(house, red, MINE, "red/books/")
    assert export["ExportStatus"] == "COMPLETED", export
    data = export["ExportManifest"].rpartition("/")[0] + "/data/"
    reply = imported(red, data, "red_imported")
    assert reply.status == 200, reply.raw
    done = _ended(house, "Import", reply.body["ImportTableDescription"]["ImportArn"])
    assert (done["ImportStatus"], done["ImportedItemCount"]) == ("COMPLETED", 1)


@pytest.mark.parametrize("prefix", ["blue", "blue/", "", "b", "/red/", "red", "RED/"])
def test_nothing_is_imported_from_beyond_the_prefix(red: SignedCaller, prefix: str) -> None:
    assert imported(red, prefix, "red_stolen").error == DENIED
    assert imported(red, "red/", "blue_planted").error == DENIED


@pytest.mark.parametrize("climb", ["red/../blue/", "red/./../blue/", "red//../blue/", "red/%2e%2e/blue/"])
def test_dots_do_not_climb_out_of_the_prefix(house: House, red: SignedCaller, climb: str) -> None:
    """To S3 they are names like any other; on a disk they must not be more."""
    theirs = exported(house, house.admin, THEIRS, "blue/")["ExportManifest"].removeprefix("blue/")
    assert theirs.startswith("AWSDynamoDB/")
    number = len(climb)
    reply = imported(red, climb + theirs.rpartition("/")[0] + "/data/", f"red_climbed{number}")
    assert reply.status == 200, reply.raw
    done = _ended(house, "Import", reply.body["ImportTableDescription"]["ImportArn"])
    assert _is_empty(done), done
    planted = exported(house, red, MINE, climb)["ExportManifest"].removeprefix(climb).rpartition("/")[0]
    found = imported(house.admin, f"blue/{planted}", f"found{number}")
    assert _is_empty(_ended(house, "Import", found.body["ImportTableDescription"]["ImportArn"]))


def _is_empty(done: Any) -> bool:
    """Whether an import has found no object at all."""
    return (done["ImportStatus"], done["ProcessedSizeBytes"], done["ProcessedItemCount"]) == (
        "COMPLETED",
        0,
        0,
    )
