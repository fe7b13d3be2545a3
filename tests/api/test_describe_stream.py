"""DescribeStream: a stream as a client sees it; tests/streams has what happens to its shards over the hours."""

import re
from typing import Any

import pytest

from item_tables import invalid, make_table, refused

STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}


@pytest.fixture(scope="module")
def streams(make_client: Any) -> Any:
    return make_client("dynamodbstreams")


@pytest.fixture(scope="module")
def arn(client: Any) -> str:
    name = make_table(client, "pk", "sk", StreamSpecification=STREAM)
    return str(client.describe_table(TableName=name)["Table"]["LatestStreamArn"])


def test_a_stream_of_a_new_table(streams: Any, arn: str) -> None:
    stream = streams.describe_stream(StreamArn=arn)["StreamDescription"]
    assert stream["StreamStatus"] == "ENABLED"
    assert stream["StreamViewType"] == "NEW_IMAGE"
    assert stream["CreationRequestDateTime"].strftime("%Y-%m-%dT%H:%M:%S") == stream["StreamLabel"][:-4]
    assert (
        arn
        == f"arn:aws:dynamodb:us-east-1:000000000000:table/{stream['TableName']}/stream/{stream['StreamLabel']}"
    )
    assert len(stream["Shards"]) == 4
    for shard in stream["Shards"]:
        assert re.fullmatch(r"shardId-\d{20}-[0-9a-f]{8}", shard["ShardId"])
        assert re.fullmatch(r"\d{21,40}", shard["SequenceNumberRange"]["StartingSequenceNumber"])


def test_shards_in_pages(streams: Any, arn: str) -> None:
    whole = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    first = streams.describe_stream(StreamArn=arn, Limit=3)["StreamDescription"]
    assert first["Shards"] == whole[:3]
    start = first["LastEvaluatedShardId"]
    rest = streams.describe_stream(StreamArn=arn, ExclusiveStartShardId=start)["StreamDescription"]
    assert rest["Shards"] == whole[3:]
    assert "LastEvaluatedShardId" not in rest


def test_a_stream_that_there_is_not(streams: Any, arn: str) -> None:
    for missing in (
        arn[:-1],
        arn.replace("table/", "table/x"),
        arn.replace("us-east-1", "us-west-2"),
        arn.replace("000000000000", "111111111111"),
    ):
        assert refused(streams.describe_stream, StreamArn=missing) == (
            "ResourceNotFoundException",
            f"Requested resource not found: Stream: {missing} not found",
        )


@pytest.mark.parametrize("garbage", ["x" * 37, "arn:aws:dynamodb:us-east-1:000000000000:table/tab/stream/"])
def test_an_arn_that_is_none(streams: Any, garbage: str) -> None:
    assert invalid(streams.describe_stream, StreamArn=garbage) == "Invalid StreamArn"


def test_an_arn_that_is_too_short(streams: Any) -> None:
    assert invalid(streams.describe_stream, StreamArn="x") == (
        "1 validation error detected: Value 'x' at 'streamArn' failed to satisfy constraint: Member must have length "
        "greater than or equal to 37"
    )


@pytest.mark.parametrize("limit", [0, 101])
def test_limits_that_are_not_allowed(streams: Any, arn: str, limit: int) -> None:
    assert f"Value '{limit}' at 'limit'" in invalid(streams.describe_stream, StreamArn=arn, Limit=limit)


def test_an_error_has_the_type_of_the_service(raw: Any) -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/none-such/stream/2020-01-01T00:00:00.000"
    target = {"X-Amz-Target": "DynamoDBStreams_20120810.DescribeStream"}
    answer = raw("", {"StreamArn": arn}, headers=target)
    assert answer.status == 400
    assert answer.body["__type"] == "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
