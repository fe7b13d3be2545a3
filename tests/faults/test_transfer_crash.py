"""kill -9 during exports, imports and bulk puts: they go on, and nothing is lost or doubled."""

import gzip
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from hashrange import cli
from serving import Serving, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

ITEMS = 12_000
KILLS = 5
_SECONDS = 60


def call(server: Serving, operation: str, **request: Any) -> Any:
    answer = server.post(operation, request)
    assert answer.status == 200, answer.body
    return answer.body


def until(server: Serving, ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not ready():
        assert time.monotonic() < deadline, server.log_text()
        time.sleep(0.01)


class Jobs:
    """A data directory, its bucket with objects to read, and the jobs that were begun."""

    def __init__(self, folder: Path) -> None:
        self.flags = ("--data-dir", str(folder), "--log-level", "warning")
        self.bucket = folder / "buckets" / "bucket"
        self.arns: dict[str, str] = {}
        (self.bucket / "in").mkdir(parents=True)
        for part in range(4):
            own = range(part * ITEMS // 4, (part + 1) * ITEMS // 4)
            items = [{"pk": {"S": f"k{number}"}, "v": {"N": str(number)}} for number in own]
            lines = b"".join(orjson.dumps({"Item": item}) + b"\n" for item in items)
            (self.bucket / "in" / f"{part}.gz").write_bytes(gzip.compress(lines))

    def begin_import(self, server: Serving) -> None:
        begun = call(
            server,
            "ImportTable",
            S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": "in/"},
            InputFormat="DYNAMODB_JSON",
            InputCompressionType="GZIP",
            TableCreationParameters={
                "TableName": "tab",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        self.arns["Import"] = begun["ImportTableDescription"]["ImportArn"]

    def begin_bulk(self, server: Serving) -> None:
        source = {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"}
        begun = call(
            server,
            "StartBulkPutItems",
            TableName="tab",
            InputS3Configuration={**source, "InputCompressionType": "GZIP"},
            OutputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "out", "OutputType": ["ERROR"]},
        )
        self.arns["BulkOperation"] = begun["BulkOperationDescription"]["BulkOperationArn"]

    def begin_export(self, server: Serving) -> Path:
        spec = {"PointInTimeRecoveryEnabled": True}
        call(server, "UpdateContinuousBackups", TableName="tab", PointInTimeRecoverySpecification=spec)
        table_arn = call(server, "DescribeTable", TableName="tab")["Table"]["TableArn"]
        begun = call(server, "ExportTableToPointInTime", TableArn=table_arn, S3Bucket="bucket")
        self.arns["Export"] = begun["ExportDescription"]["ExportArn"]
        return self.bucket / "AWSDynamoDB" / self.arns["Export"].rpartition("/")[2]

    def description(self, server: Serving, job: str) -> Any:
        member = "ImportTableDescription" if job == "Import" else f"{job}Description"
        return call(server, f"Describe{job}", **{f"{job}Arn": self.arns[job]})[member]

    def processed(self, server: Serving, job: str) -> int:
        return int(self.description(server, job)["ProcessedItemCount"])

    def crash(self, job: str) -> None:
        """Kill the server a few times in the middle of a job."""
        step = ITEMS // (KILLS + 2)
        for goal in range(step, KILLS * step, step):
            with serving(*self.flags) as server:
                until(server, lambda server=server, goal=goal: self.processed(server, job) >= goal)
                server.process.kill()
                server.process.wait(60)

    def complete(self, server: Serving, job: str) -> Any:
        until(server, lambda: self.description(server, job)[f"{job}Status"] == "COMPLETED")
        return self.description(server, job)


def test_jobs_go_on_after_crashes(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    with serving(*jobs.flags) as server:
        jobs.begin_import(server)
    jobs.crash("Import")
    with serving(*jobs.flags) as server:
        assert jobs.complete(server, "Import")["ProcessedItemCount"] == ITEMS
        table = call(server, "DescribeTable", TableName="tab")["Table"]
        assert (table["ItemCount"], table["TableStatus"]) == (ITEMS, "ACTIVE")
        jobs.begin_bulk(server)
    jobs.crash("BulkOperation")
    with serving(*jobs.flags) as server:
        assert jobs.complete(server, "BulkOperation")["ProcessedItemCount"] == ITEMS
        folder = jobs.begin_export(server)
        until(server, (folder / "_started").exists)
        server.process.kill()
        server.process.wait(60)
    with serving(*jobs.flags) as server:
        assert jobs.complete(server, "Export")["ItemCount"] == ITEMS
        assert "Traceback" not in server.log_text()
    found = [
        orjson.loads(line)["Item"]["pk"]["S"]
        for path in (folder / "data").iterdir()
        for line in gzip.decompress(path.read_bytes()).splitlines()
    ]
    assert sorted(found) == sorted(f"k{number}" for number in range(ITEMS))
    assert cli.main(["verify", str(tmp_path)]) == 0
