"""Long work that a request only begins, for bench/stalls.py: a shape is over when the work is."""

from collections.abc import Callable
from itertools import count
from typing import Any

import orjson
from stall_services import BUCKET, Call
from stall_shapes import Shape, item, put_into, schema, string_list

TABLE = "stalls-jobs"
_ARN = f"arn:aws:dynamodb:us-east-1:000000000000:table/{TABLE}"
_ROWS = 10_000
_EXPIRED_ROWS = 3_000
_DENSE_ROWS = 3
_BATCH = 25


class _Jobs:
    """A table with many small rows and a few of very many values, and what is made of it."""

    def __init__(self) -> None:
        self._call: Call | None = None
        self._numbers = count(1)
        self._table = self._index = self._arn = ""  # that the last request was about

    def fill(self, call: Call) -> None:
        """Make the table."""
        self._call = call
        self._create(TABLE, _ROWS)
        for number in range(_DENSE_ROWS):
            status, answer = call("PutItem", put_into(TABLE, item("dense", number, l=string_list(390_000))))
            if status != 200:
                raise SystemExit(f"PutItem: {answer[:300].decode()}")
        enabled = {"PointInTimeRecoveryEnabled": True}
        self.ask(
            "UpdateContinuousBackups",
            {"TableName": TABLE, "PointInTimeRecoverySpecification": enabled},
        )

    def _create(self, table: str, rows: int) -> None:
        self.ask("CreateTable", {**schema(), "TableName": table})
        for first in range(0, rows, _BATCH):
            puts = [{"PutRequest": {"Item": _row(number)}} for number in range(first, first + _BATCH)]
            self.ask("BatchWriteItem", {"RequestItems": {table: puts}})

    def ask(self, operation: str, request: dict[str, Any]) -> Any:
        """What an operation answers; it has to."""
        if self._call is None:
            raise SystemExit("the table has not been filled")
        status, answer = self._call(operation, orjson.dumps(request))
        if status != 200:
            raise SystemExit(f"{operation}: {answer[:300].decode()}")
        return orjson.loads(answer)

    def backup(self) -> dict[str, Any]:
        return {"TableName": TABLE, "BackupName": f"backup-{next(self._numbers)}"}

    def backup_is_made(self) -> bool:
        backups = self.ask("ListBackups", {"TableName": TABLE})["BackupSummaries"]
        return all(backup["BackupStatus"] == "AVAILABLE" for backup in backups)

    def restored_backup(self) -> dict[str, Any]:
        backups = self.ask("ListBackups", {"TableName": TABLE})["BackupSummaries"]
        return {"BackupArn": backups[0]["BackupArn"], "TargetTableName": self._new_table()}

    def restored_moment(self) -> dict[str, Any]:
        return {
            "SourceTableName": TABLE,
            "TargetTableName": self._new_table(),
            "UseLatestRestorableTime": True,
        }

    def _new_table(self) -> str:
        self._table = f"{TABLE}-{next(self._numbers)}"
        return self._table

    def table_is_active(self) -> bool:
        return self._described(self._table)["TableStatus"] == "ACTIVE"

    def _described(self, table: str) -> Any:
        return self.ask("DescribeTable", {"TableName": table})["Table"]

    def export(self, export_format: str) -> dict[str, Any]:
        return {"TableArn": _ARN, "S3Bucket": BUCKET, "ExportFormat": export_format}

    def exports_are_over(self) -> bool:
        exports = self.ask("ListExports", {"TableArn": _ARN})["ExportSummaries"]
        return all(export["ExportStatus"] != "IN_PROGRESS" for export in exports)

    def index(self) -> dict[str, Any]:
        self._index = f"index-{next(self._numbers)}"
        index = {
            "IndexName": self._index,
            "KeySchema": [{"AttributeName": "sk", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        return {
            "TableName": TABLE,
            "AttributeDefinitions": schema()["AttributeDefinitions"],
            "GlobalSecondaryIndexUpdates": [{"Create": index}],
        }

    def index_is_active(self) -> bool:
        indexes = self._described(TABLE)["GlobalSecondaryIndexes"]
        return all(index["IndexStatus"] == "ACTIVE" for index in indexes)

    def expiry(self) -> dict[str, Any]:
        table = self._new_table()
        self._create(table, _EXPIRED_ROWS)
        return {
            "TableName": table,
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expired"},
        }

    def table_is_empty(self) -> bool:
        return bool(self._described(self._table)["ItemCount"] == 0)


def _row(number: int) -> dict[str, Any]:
    return {
        "pk": {"S": f"row {number}"},
        "sk": {"N": str(number)},
        "t": {"S": "x" * 100},
        "expired": {"N": "1767225600"},
    }


JOBS = _Jobs()


def _export(export_format: str) -> Callable[[], dict[str, Any]]:
    return lambda: JOBS.export(export_format)


SHAPES: tuple[Shape, ...] = (
    Shape("CreateBackup, 10,000 rows", "CreateBackup", JOBS.backup, is_over=JOBS.backup_is_made),
    Shape(
        "RestoreTableFromBackup, 10,000 rows",
        "RestoreTableFromBackup",
        JOBS.restored_backup,
        is_over=JOBS.table_is_active,
    ),
    Shape(
        "RestoreTableToPointInTime, 10,000 rows",
        "RestoreTableToPointInTime",
        JOBS.restored_moment,
        is_over=JOBS.table_is_active,
    ),
    Shape(
        "ExportTableToPointInTime, 10,000 rows",
        "ExportTableToPointInTime",
        _export("DYNAMODB_JSON"),
        is_over=JOBS.exports_are_over,
    ),
    Shape(
        "ExportTableToPointInTime, 10,000 rows, ION",
        "ExportTableToPointInTime",
        _export("ION"),
        is_over=JOBS.exports_are_over,
    ),
    Shape("UpdateTable, an index of 10,000 rows", "UpdateTable", JOBS.index, is_over=JOBS.index_is_active),
    Shape("UpdateTimeToLive, 3,000 expired", "UpdateTimeToLive", JOBS.expiry, is_over=JOBS.table_is_empty),
)
