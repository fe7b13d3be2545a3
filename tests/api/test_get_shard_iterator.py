"""GetShardIterator by the SDK; tests/streams has every type of iterator in detail."""

from typing import Any

import pytest

from item_tables import invalid, make_table, refused

STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


@pytest.fixture(scope="module")
def streams(make_client: Any) -> Any:
    return make_client("dynamodbstreams")


@pytest.fixture(scope="module")
def shard(client: Any, streams: Any) -> dict[str, str]:
    """The first shard of a stream, as a request names it."""
    name = make_table(client, "pk", StreamSpecification=STREAM)
    arn = client.describe_table(TableName=name)["Table"]["LatestStreamArn"]
    first = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]
    return {"StreamArn": arn, "ShardId": first["ShardId"]}


@pytest.mark.parametrize("kind", ["TRIM_HORIZON", "LATEST"])
def test_an_iterator_begins_with_the_arn_of_its_stream(streams: Any, shard: Any, kind: str) -> None:
    iterator = streams.get_shard_iterator(**shard, ShardIteratorType=kind)["ShardIterator"]
    assert iterator.startswith(f"{shard['StreamArn']}|1|")
    answer = streams.get_records(ShardIterator=iterator)
    assert answer["Records"] == []
    assert answer["NextShardIterator"].startswith(f"{shard['StreamArn']}|1|")


def test_at_a_timestamp(streams: Any, shard: Any, raw: Any) -> None:
    # The SDK's model is older than this type.
    request = {**shard, "ShardIteratorType": "AT_TIMESTAMP", "Timestamp": 1.5}
    answer = raw("GetShardIterator", request)
    assert streams.get_records(ShardIterator=answer.body["ShardIterator"])["Records"] == []


def test_everything_that_is_missing_is_named(streams: Any) -> None:
    assert invalid(streams.get_shard_iterator) == (
        "3 validation errors detected: "
        "Value null at 'streamArn' failed to satisfy constraint: Member must not be null; "
        "Value null at 'shardId' failed to satisfy constraint: Member must not be null; "
        "Value null at 'shardIteratorType' failed to satisfy constraint: Member must not be null"
    )


def test_a_shard_and_a_stream_that_there_are_not(streams: Any, shard: Any) -> None:
    kind = {"ShardIteratorType": "LATEST"}
    assert refused(streams.get_shard_iterator, **{**shard, "ShardId": "x" * 28}, **kind) == (
        "ResourceNotFoundException",
        "Requested resource not found: Shard does not exist",
    )
    missing = shard["StreamArn"].replace("table/", "table/x")
    assert refused(streams.get_shard_iterator, **{**shard, "StreamArn": missing}, **kind) == (
        "ResourceNotFoundException",
        f"Requested resource not found: Stream: {missing} not found",
    )
