"""Two servers on one database, killed in turn while one imports, exports or puts in bulk: the other goes on."""

import gzip
import json
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from faults.line import Line
from scaleout.servers import Servers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

_ITEMS = 12_000
_BAD = range(0, _ITEMS, 1000)  # have no key
_BUCKET = "transfers"
_TABLE = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
_SOURCE = {"S3Bucket": _BUCKET, "S3KeyPrefix": "in/"}


@pytest.fixture
def buckets(tmp_path: Path) -> Path:
    """A folder of buckets, one of which has the input."""
    source = tmp_path / "buckets" / _BUCKET / "in"
    source.mkdir(parents=True)
    for part in range(2):
        numbers = range(part * _ITEMS // 2, (part + 1) * _ITEMS // 2)
        (source / f"{part}.json.gz").write_bytes(gzip.compress(b"".join(map(_line, numbers))))
    return tmp_path / "buckets"


@pytest.fixture
def servers(database: str, buckets: Path) -> Iterator[Servers]:
    both = Servers(2, "--engine", database, "--s3", str(buckets), "--backups", str(buckets / "backups"))
    try:
        yield both
    finally:
        both.close()
    assert not [log for log in both.logs if "Traceback" in log]


def _line(number: int) -> bytes:
    key = "nothing" if number in _BAD else "pk"
    return json.dumps({"Item": {key: {"S": f"k{number}"}, "v": {"S": "x" * 100}}}).encode() + b"\n"


def _call(servers: Servers, number: int, operation: str, **request: Any) -> dict[str, Any]:
    """An answer of one of the servers."""
    with Line(servers.ports()[number], timeout=60) as line:
        return line.call(operation, request)


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _interrupt(servers: Servers, progress: Callable[[int], int]) -> None:
    """Kill both in turn, each when the job has moved on, so that one of them has been at it."""
    for number in (0, 1, 0, 1):
        before = progress(number)
        _wait(partial(_has_moved, partial(progress, number), before))
        servers.kill(number)


def _has_moved(progress: Callable[[], int], before: int) -> bool:
    return progress() > before or progress() == _ITEMS


def _bulk_put(servers: Servers, table: str, **more: Any) -> str:
    started = _call(
        servers,
        0,
        "StartBulkPutItems",
        TableName=table,
        InputS3Configuration={**_SOURCE, "InputFormat": "DYNAMODB_JSON", "InputCompressionType": "GZIP"},
        OutputS3Configuration={"S3Bucket": _BUCKET, "S3KeyPrefix": "out", "OutputType": ["ERROR"]},
        **more,
    )
    return str(started["BulkOperationDescription"]["BulkOperationArn"])


def _bulk(servers: Servers, number: int, arn: str) -> dict[str, Any]:
    answer = _call(servers, number, "DescribeBulkOperation", BulkOperationArn=arn)
    description: dict[str, Any] = answer["BulkOperationDescription"]
    return description


def _create(servers: Servers, name: str) -> str:
    arn = _call(servers, 0, "CreateTable", TableName=name, **_TABLE)["TableDescription"]["TableArn"]
    _wait(lambda: _call(servers, 0, "DescribeTable", TableName=name)["Table"]["TableStatus"] == "ACTIVE")
    return str(arn)


def _error_lines(folder: Path, pattern: str) -> list[bytes]:
    return [line for file in folder.glob(pattern) for line in file.read_bytes().splitlines()]


def test_an_import_goes_on_when_its_server_dies(servers: Servers, buckets: Path) -> None:
    started = _call(
        servers,
        0,
        "ImportTable",
        S3BucketSource=_SOURCE,
        InputFormat="DYNAMODB_JSON",
        InputCompressionType="GZIP",
        TableCreationParameters={"TableName": "imported", **_TABLE},
    )
    arn = started["ImportTableDescription"]["ImportArn"]

    def described(number: int) -> dict[str, Any]:
        description: dict[str, Any] = _call(servers, number, "DescribeImport", ImportArn=arn)[
            "ImportTableDescription"
        ]
        return description

    _interrupt(servers, lambda number: int(described(number).get("ProcessedItemCount", 0)))
    _wait(lambda: described(0)["ImportStatus"] != "IN_PROGRESS")
    done = described(1)
    assert done["FailureCode"] == "ItemValidationError"
    assert done["ErrorCount"] == len(_BAD)
    assert done["ProcessedItemCount"] == _ITEMS
    assert _call(servers, 0, "Scan", TableName="imported", Select="COUNT")["Count"] > 0
    lines = _error_lines(buckets / "backups", "import-errors/**/*.jsonl")
    assert len(lines) == len(set(lines)) == len(_BAD)


def test_a_bulk_put_and_an_export_go_on_when_their_server_dies(servers: Servers, buckets: Path) -> None:
    table_arn = _create(servers, "bulk")
    _call(
        servers,
        0,
        "UpdateContinuousBackups",
        TableName="bulk",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )
    arn = _bulk_put(servers, "bulk")
    _interrupt(servers, lambda number: int(_bulk(servers, number, arn)["ProcessedItemCount"]))
    _wait(lambda: _bulk(servers, 0, arn)["BulkOperationStatus"] != "IN_PROGRESS")
    done = _bulk(servers, 1, arn)
    assert done["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
    assert (done["ProcessedItemCount"], done["FailedItemCount"]) == (_ITEMS, len(_BAD))
    assert len(_error_lines(buckets / _BUCKET, "out/**/errors/*.json")) == len(_BAD)

    started = _call(
        servers, 0, "ExportTableToPointInTime", TableArn=table_arn, S3Bucket=_BUCKET, S3Prefix="ex"
    )
    export = started["ExportDescription"]["ExportArn"]
    servers.kill(0)
    servers.kill(1)

    def status() -> dict[str, Any]:
        description: dict[str, Any] = _call(servers, 0, "DescribeExport", ExportArn=export)[
            "ExportDescription"
        ]
        return description

    _wait(lambda: status()["ExportStatus"] != "IN_PROGRESS")
    assert status()["ItemCount"] == _ITEMS - len(_BAD)
    files = list((buckets / _BUCKET / "ex").glob("AWSDynamoDB/*/data/*.json.gz"))
    assert sum(gzip.decompress(file.read_bytes()).count(b"\n") for file in files) == _ITEMS - len(_BAD)


def test_a_server_that_was_away_does_not_go_on_from_where_it_was(servers: Servers) -> None:
    """Stop the servers in turn, for longer than a lease: each has a position in memory that is of no use any more."""
    _create(servers, "stopped")
    arn = _bulk_put(servers, "stopped", MaxWriteRequestUnits=1024)

    def progress(number: int) -> int:
        return int(_bulk(servers, number, arn)["ProcessedItemCount"])

    for stopped in (0, 1, 0, 1):
        other = 1 - stopped
        servers.signal(stopped, signal.SIGSTOP)
        before = progress(other)
        _wait(partial(_has_moved, partial(progress, other), before))
        servers.signal(stopped, signal.SIGCONT)
    _wait(lambda: _bulk(servers, 0, arn)["BulkOperationStatus"] != "IN_PROGRESS")
    assert _bulk(servers, 1, arn)["ProcessedItemCount"] == _ITEMS
