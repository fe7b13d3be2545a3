"""Requests for exports: what is refused, in which words, and what a repeated request gets."""

from typing import Any

import pytest

from clocked import Clocked
from hashrange.core.errors import Refused
from new_tables import request as new_table

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tab"
HOUR = 3600


@pytest.fixture
def service() -> Clocked:
    service = Clocked(transition_ms=0)
    service.call("CreateTable", **new_table("pk", TableName="tab"))
    service.settle()
    recovery(service, on=True)
    service.make_bucket()
    service.clock.advance(30 * HOUR)
    return service


def recovery(service: Clocked, *, on: bool) -> None:
    spec = {"PointInTimeRecoveryEnabled": on}
    service.call("UpdateContinuousBackups", TableName="tab", PointInTimeRecoverySpecification=spec)


def begin(service: Clocked, **options: Any) -> Any:
    request = {"TableArn": ARN, "S3Bucket": "bucket", **options}
    return service.call("ExportTableToPointInTime", **request)["ExportDescription"]


def refused(service: Clocked, **options: Any) -> tuple[str, str | None]:
    return service.refused("ExportTableToPointInTime", **{"TableArn": ARN, "S3Bucket": "bucket", **options})


def window(start: float | None, end: float | None = None, **options: Any) -> dict[str, Any]:
    spec = {"ExportFromTime": start, "ExportToTime": end, **options}
    present = {name: value for name, value in spec.items() if value is not None}
    return {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": present}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"TableArn": "tab"}, "One or more parameter values were invalid: tableArn is not a valid ARN"),
        ({"TableArn": f"{ARN}/index/i"}, "Invalid Request: Table ARN is invalid."),
        (
            {"S3SseKmsKeyId": "key"},
            "Invalid Request: KMS Key Id is not supported for this encryption type",
        ),
        (
            {"IncrementalExportSpecification": {}},
            (
                "Invalid Request: Export Type expected to be Incremental Export when incremental export specification "
                "is provided"
            ),
        ),
        (
            {"ExportType": "FULL_EXPORT", "IncrementalExportSpecification": {}},
            (
                "Invalid Request: When Export Type is Full Export , Incremental Export Specification should not be "
                "provided"
            ),
        ),
        (
            {"ExportType": "INCREMENTAL_EXPORT"},
            (
                "Invalid Request: Incremental Export Specification expected when export type is set as Incremental "
                "Export"
            ),
        ),
        (
            window(None),
            "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification",
        ),
        (
            {"FilterSpecification": {}},
            "Invalid Request: Invalid FilterSpecification: The specification can not be empty",
        ),
    ],
)
def test_wrong_requests_are_refused_in_the_services_words(
    service: Clocked, options: dict[str, Any], message: str
) -> None:
    assert refused(service, **options) == ("ValidationException", message)


def test_wrong_filters_are_refused(service: Clocked) -> None:
    for spec in (
        {"FilterExpression": "v ="},
        {"FilterExpression": "v = :v"},
        {"KeyConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": {"S": "x"}}},
        {"ExpressionAttributeNames": {"#a": "a"}},
    ):
        with pytest.raises(Refused):
            begin(service, FilterSpecification=spec)


def test_a_table_must_be_there_and_have_recovery(service: Clocked) -> None:
    missing = ARN.replace("tab", "other", 2).replace("otherle", "table")
    assert refused(service, TableArn=missing) == ("TableNotFoundException", f"Table not found: {missing}")
    stranger = ARN.replace("000000000000", "111111111111")
    assert refused(service, TableArn=stranger) == ("AccessDeniedException", "Access is denied")
    recovery(service, on=False)
    assert refused(service) == (
        "PointInTimeRecoveryUnavailableException",
        "Point in time recovery is not enabled for table 'tab'",
    )


def test_windows(service: Clocked) -> None:
    now = service.clock.now()
    prefix = "Incremental export period"
    for options, message in (
        (
            window(0, now),
            f"{prefix} from time cannot be less than the table creation time : 1970-01-01T00:00:00Z",
        ),
        (
            window(now - HOUR, now + 10),
            f"{prefix} to time cannot be greater than the current time : 2023-11-15T06:00:12Z",
        ),
        (
            window(now - 899, now),
            "Difference between export period from time and export period to time is less than 15 minutes",
        ),
        (
            window(now - 24 * HOUR - 1, now),
            "Difference between export period from time and export period to time is greater than 24 hours",
        ),
    ):
        assert refused(service, **options) == ("InvalidExportTimeException", message)
    for good in (window(now - 900, now), window(now - 24 * HOUR, now), window(now - 20 * 60)):
        begin(service, **good)
    resolved = begin(service, **window(now - HOUR))["IncrementalExportSpecification"]
    assert resolved["ExportToTime"] == now - 300


def test_export_times_lie_in_the_recovery_window(service: Clocked) -> None:
    now = service.clock.now()
    for moment in (now + 1, now - 40 * 24 * HOUR, 1e300, -1e300):
        assert refused(service, ExportTime=moment)[0] == "InvalidExportTimeException"
    assert begin(service, ExportTime=now - HOUR)["ExportTime"] == now - HOUR


def test_a_hostile_bucket_name_is_refused_at_once(service: Clocked) -> None:
    code, message = refused(service, S3Bucket="a" * 100_000 + "!")
    assert code == "ValidationException"
    assert str(message).startswith("2 validation errors detected: Value 'aaa")
    assert refused(service, S3Bucket="../up")[0] == "ValidationException"


def test_a_token_stands_for_its_request(service: Clocked) -> None:
    first = begin(service, ClientToken="once")
    assert first["ClientToken"] == "once"
    assert begin(service, ClientToken="once")["ExportArn"] == first["ExportArn"]
    service.run_jobs()
    assert begin(service, ClientToken="once")["ExportStatus"] == "COMPLETED"
    assert refused(service, ClientToken="once", S3Prefix="other") == (
        "ExportConflictException",
        "Export conflict: Duplicate request detected with conflicting parameters",
    )
    service.clock.advance(8 * HOUR + 1)
    assert begin(service, ClientToken="once")["ExportArn"] != first["ExportArn"]


def test_exports_are_listed_newest_first_in_pages(service: Clocked) -> None:
    arns = []
    for _ in range(12):
        service.clock.advance(1)
        arns.append(begin(service)["ExportArn"])
    page = service.call("ListExports", TableArn=ARN)
    found = page["ExportSummaries"]
    assert len(found) == 10
    assert found[0] == {"ExportArn": arns[-1], "ExportStatus": "IN_PROGRESS", "ExportType": "FULL_EXPORT"}
    token = page["NextToken"]
    assert set(token) <= set("0123456789abcdef")
    rest = service.call("ListExports", TableArn=ARN, NextToken=token)
    assert "NextToken" not in rest
    assert [one["ExportArn"] for one in found + rest["ExportSummaries"]] == arns[::-1]
    assert len(service.call("ListExports", MaxResults=2)["ExportSummaries"]) == 2
    for bad in ("zz", "00", "ff" * 56, ""):
        assert service.refused("ListExports", NextToken=bad) == (
            "ValidationException",
            f"Invalid Request: Provided nextToken is invalid: {bad}",
        )


def test_unknown_exports(service: Clocked) -> None:
    arn = f"{ARN}/export/01699920000000-00000000"
    assert service.refused("DescribeExport", ExportArn=arn) == (
        "ExportNotFoundException",
        f"Export not found: Export not found: {arn}",
    )
    elsewhere = arn.replace("us-east-1", "eu-west-1")
    assert service.refused("DescribeExport", ExportArn=elsewhere) == (
        "ExportNotFoundException",
        "Export not found: Invalid export arn",
    )
    garbage = "x" * 40
    assert service.refused("DescribeExport", ExportArn=garbage) == (
        "ValidationException",
        "Invalid Export ARN",
    )
