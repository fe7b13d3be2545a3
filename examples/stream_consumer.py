"""A consumer of a stream: every change once and in order, parents before children, resumed from checkpoints."""

import sys
import time
from collections.abc import Callable
from typing import Any

import boto3

Record = dict[str, Any]
Checkpoints = dict[str, str]  # by shard: the number of the last record, or "end" behind the last of all
END = "end"
ENDPOINT = {"region_name": "us-east-1", "aws_access_key_id": "local", "aws_secret_access_key": "local"}


def shards(streams: Any, stream_arn: str) -> list[dict[str, Any]]:
    """All shards of a stream, page by page; parents come before their children."""
    listed: list[dict[str, Any]] = []
    start: dict[str, str] = {}
    while True:
        page = streams.describe_stream(StreamArn=stream_arn, **start)["StreamDescription"]
        listed += page["Shards"]
        if "LastEvaluatedShardId" not in page:
            return listed
        start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}


def iterator(streams: Any, stream_arn: str, shard_id: str, checkpoints: Checkpoints) -> str:
    """Where to go on in a shard: behind the checkpoint, or at the oldest record."""
    place = {"ShardIteratorType": "TRIM_HORIZON"}
    if shard_id in checkpoints:
        place = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": checkpoints[shard_id]}
    answer = streams.get_shard_iterator(StreamArn=stream_arn, ShardId=shard_id, **place)
    return str(answer["ShardIterator"])


def consume(streams: Any, stream_arn: str, checkpoints: Checkpoints, handle: Callable[[Record], None]) -> int:
    """Handle what has happened since the checkpoints, and move them; give how many records that were.

    A record whose handling was cut off before its checkpoint was kept is handled again: make `handle` idempotent, for
    example by remembering the eventID.
    """
    count = 0
    listed = shards(streams, stream_arn)
    known = {shard["ShardId"] for shard in listed}
    for shard in listed:
        shard_id, parent = shard["ShardId"], shard.get("ParentShardId")
        if checkpoints.get(shard_id) == END or (parent in known and checkpoints.get(parent) != END):
            continue
        position: str | None = iterator(streams, stream_arn, shard_id, checkpoints)
        while position is not None:
            page = streams.get_records(ShardIterator=position)
            for record in page["Records"]:
                handle(record)
                checkpoints[shard_id] = record["dynamodb"]["SequenceNumber"]
                count += 1
            position = page.get("NextShardIterator") if page["Records"] else None
            if "NextShardIterator" not in page:
                checkpoints[shard_id] = END  # its children come next in the list
    return count


def describe(record: Record) -> str:
    """One line about a change."""
    change = record["dynamodb"]
    key = ", ".join(f"{name}={next(iter(value.values()))}" for name, value in change["Keys"].items())
    by = " (expired)" if "userIdentity" in record else ""
    return f"{record['eventName']} {key}{by}"


def main(endpoint: str, table_name: str) -> None:
    """Print the changes of a table, for ever."""
    dynamodb = boto3.client("dynamodb", endpoint_url=endpoint, **ENDPOINT)
    streams = boto3.client("dynamodbstreams", endpoint_url=endpoint, **ENDPOINT)
    stream_arn = dynamodb.describe_table(TableName=table_name)["Table"]["LatestStreamArn"]
    checkpoints: Checkpoints = {}  # a real consumer keeps them in a table, and moves them with its own writes
    while True:
        if not consume(streams, stream_arn, checkpoints, lambda record: print(describe(record))):
            time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:3])
