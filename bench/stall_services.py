"""Costly requests to streams, backups, exports, imports and bulk operations, for bench/stalls.py.

The lists and texts are the longest that get past hashrange/wire/large_bodies.py. Most of these requests are refused,
and that must not take long either.
"""

from collections.abc import Callable
from typing import Any

import orjson
from stall_shapes import Shape, item, put_into, schema

STREAMED = "stalls-streamed"
_ARN = f"arn:aws:dynamodb:us-east-1:000000000000:table/{STREAMED}"
_CHANGES = 30  # of 390 KB: more than a page of records
_LONG = 10_000_000
BUCKET = "stalls-bucket"

Call = Callable[[str, bytes], tuple[int, bytes]]


class _Stream:
    """The stream of the table above, asked for when a shape is made: iterators do not live long."""

    def __init__(self) -> None:
        self._call: Call | None = None

    def fill(self, call: Call) -> None:
        """Make the table, and changes that are as large as items get."""
        self._call = call
        self._ask(
            "CreateTable",
            {
                **schema(),
                "TableName": STREAMED,
                "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            },
        )
        for number in range(_CHANGES):
            text = b'{"S":"%b"}' % (b"x" * 390_000)
            status, answer = call("PutItem", put_into(STREAMED, item("s", number % 2, t=text)))
            if status != 200:
                raise SystemExit(f"PutItem: {answer[:300].decode()}")

    def arn(self) -> str:
        return str(self._ask("DescribeTable", {"TableName": STREAMED})["Table"]["LatestStreamArn"])

    def shards(self) -> list[str]:
        description = self._ask("DescribeStream", {"StreamArn": self.arn()})["StreamDescription"]
        return [shard["ShardId"] for shard in description["Shards"]]

    def start(self, shard: str, **members: Any) -> dict[str, Any]:
        return {
            "StreamArn": self.arn(),
            "ShardId": shard,
            "ShardIteratorType": "TRIM_HORIZON",
            **members,
        }

    def page(self) -> dict[str, Any]:
        """A GetRecords that has something to give."""
        for shard in self.shards():
            request = {"ShardIterator": self._ask("GetShardIterator", self.start(shard))["ShardIterator"]}
            if self._ask("GetRecords", {**request, "Limit": 1})["Records"]:
                return request
        raise SystemExit("the stream has no records")

    def _ask(self, operation: str, request: dict[str, Any]) -> Any:
        if self._call is None:
            raise SystemExit("the stream has not been filled")
        status, answer = self._call(operation, orjson.dumps(request))
        if status != 200:
            raise SystemExit(f"{operation}: {answer[:300].decode()}")
        return orjson.loads(answer)


STREAM = _Stream()


def _definitions(count: int) -> dict[str, Any]:
    return {
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [
            {"AttributeName": f"a{number}", "AttributeType": "S"} for number in range(count)
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }


def _indexes(count: int) -> list[dict[str, Any]]:
    return [
        {
            "IndexName": f"index-{number}",
            "KeySchema": [{"AttributeName": f"a{number}", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        for number in range(count)
    ]


def _imported(columns: int, **parameters: Any) -> dict[str, Any]:
    return {
        "S3BucketSource": {"S3Bucket": BUCKET},
        "InputFormat": "CSV",
        "InputFormatOptions": {"Csv": {"HeaderList": [f"c{number}" for number in range(columns)]}},
        "TableCreationParameters": {"TableName": "imported", **_definitions(1), **parameters},
    }


def _exported(**members: Any) -> dict[str, Any]:
    return {"TableArn": _ARN, "S3Bucket": BUCKET, **members}


def _restored(**members: Any) -> dict[str, Any]:
    return {"SourceTableName": STREAMED, "TargetTableName": "restored", **members}


def _bulk(**members: Any) -> dict[str, Any]:
    return {
        "TableName": STREAMED,
        "InputS3Configuration": {"S3BucketSource": {"S3Bucket": BUCKET}, "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": BUCKET},
        **members,
    }


SHAPES: tuple[Shape, ...] = (
    Shape("GetRecords, a page of large images", "GetRecords", STREAM.page),
    Shape("GetRecords, an iterator of 10 MB", "GetRecords", lambda: {"ShardIterator": "a" * _LONG}),
    Shape("GetRecords, an ARN of 10 MB", "GetRecords", lambda: {"ShardIterator": f"{_ARN}|1|{'a' * _LONG}"}),
    Shape("DescribeStream", "DescribeStream", lambda: {"StreamArn": STREAM.arn()}),
    Shape(
        "DescribeStream, a shard of 10 MB",
        "DescribeStream",
        lambda: {"StreamArn": STREAM.arn(), "ExclusiveStartShardId": "s" * _LONG},
    ),
    Shape("DescribeStream, an ARN of 10 MB", "DescribeStream", lambda: {"StreamArn": _ARN + "/" * _LONG}),
    Shape(
        "GetShardIterator, 10 million digits",
        "GetShardIterator",
        lambda: STREAM.start(
            STREAM.shards()[0], ShardIteratorType="AT_SEQUENCE_NUMBER", SequenceNumber="9" * _LONG
        ),
    ),
    Shape(
        "GetShardIterator, 40 digits",
        "GetShardIterator",
        lambda: STREAM.start(
            STREAM.shards()[0], ShardIteratorType="AFTER_SEQUENCE_NUMBER", SequenceNumber="9" * 40
        ),
    ),
    Shape("ListStreams, an ARN of 10 MB", "ListStreams", lambda: {"ExclusiveStartStreamArn": _ARN * 100_000}),
    Shape(
        "CreateTable, 16,000 tags",
        "CreateTable",
        lambda: {
            **schema(),
            "TableName": "tagged",
            "Tags": [{"Key": f"k{number}", "Value": ""} for number in range(16_000)],
        },
    ),
    Shape(
        "UpdateTable, 16,000 attributes",
        "UpdateTable",
        lambda: {
            "TableName": STREAMED,
            "AttributeDefinitions": _definitions(16_000)["AttributeDefinitions"],
            "GlobalSecondaryIndexUpdates": [{"Create": index} for index in _indexes(1)],
        },
    ),
    Shape("ImportTable, 49,000 columns", "ImportTable", lambda: _imported(49_000)),
    Shape("ImportTable, 16,000 attributes", "ImportTable", lambda: _imported(1, **_definitions(16_000))),
    Shape(
        "ImportTable, 5,000 indexes",
        "ImportTable",
        lambda: _imported(1, GlobalSecondaryIndexes=_indexes(5_000)),
    ),
    Shape(
        "ImportTable, a delimiter of 10 MB",
        "ImportTable",
        lambda: {**_imported(1), "InputFormatOptions": {"Csv": {"Delimiter": "," * _LONG}}},
    ),
    Shape(
        "ExportTableToPointInTime, a prefix of 10 MB",
        "ExportTableToPointInTime",
        lambda: _exported(S3Prefix="p/" * (_LONG // 2)),
    ),
    Shape(
        "ExportTableToPointInTime, a token of 10 MB",
        "ExportTableToPointInTime",
        lambda: _exported(ClientToken="t" * _LONG),
    ),
    Shape(
        "RestoreTableToPointInTime, 5,000 indexes",
        "RestoreTableToPointInTime",
        lambda: _restored(GlobalSecondaryIndexOverride=_indexes(5_000), UseLatestRestorableTime=True),
    ),
    Shape(
        "RestoreTableFromBackup, 5,000 indexes",
        "RestoreTableFromBackup",
        lambda: {
            "BackupArn": f"{_ARN}/backup/01234567890123-abcdefgh",
            "TargetTableName": "restored",
            "LocalSecondaryIndexOverride": _indexes(5_000),
        },
    ),
    Shape(
        "CreateBackup, a name of 10 MB",
        "CreateBackup",
        lambda: {"TableName": STREAMED, "BackupName": "b" * _LONG},
    ),
    Shape("StartBulkPutItems, a token of 10 MB", "StartBulkPutItems", lambda: _bulk(ClientToken="t" * _LONG)),
    Shape("ListBulkOperations, a token of 10 MB", "ListBulkOperations", lambda: {"NextToken": "t" * _LONG}),
    Shape(
        "DescribeExport, an ARN of 10 MB",
        "DescribeExport",
        lambda: {"ExportArn": _ARN + "/export/" + "e" * _LONG},
    ),
)
