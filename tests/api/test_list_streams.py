"""ListStreams: the streams of a region, by pages."""

from typing import Any

import pytest

from item_tables import invalid, make_table, unique

STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
REGION = "ap-southeast-2"


@pytest.fixture(scope="module")
def elsewhere(make_client: Any) -> Any:
    """A client of a region that no other test uses."""
    return make_client(region=REGION)


@pytest.fixture(scope="module")
def streams(make_client: Any) -> Any:
    return make_client("dynamodbstreams", region=REGION)


@pytest.fixture(scope="module")
def names(elsewhere: Any) -> list[str]:
    """Tables with streams, and one without."""
    base = unique("listed")
    made = [make_table(elsewhere, "p", TableName=f"{base}{end}", StreamSpecification=STREAM) for end in "cab"]
    make_table(elsewhere, "p", TableName=f"{base}-without")
    return sorted(made)


def test_every_stream_is_listed_with_its_table(elsewhere: Any, streams: Any, names: list[str]) -> None:
    tables = [elsewhere.describe_table(TableName=name)["Table"] for name in names]
    answer = streams.list_streams()
    assert answer["Streams"] == [
        {
            "StreamArn": table["LatestStreamArn"],
            "TableName": table["TableName"],
            "StreamLabel": table["LatestStreamLabel"],
        }
        for table in tables
    ]
    assert "LastEvaluatedStreamArn" not in answer


def test_pages(streams: Any, names: list[str]) -> None:
    first = streams.list_streams(Limit=2)
    assert [one["TableName"] for one in first["Streams"]] == names[:2]
    assert first["LastEvaluatedStreamArn"] == first["Streams"][-1]["StreamArn"]
    second = streams.list_streams(Limit=2, ExclusiveStartStreamArn=first["LastEvaluatedStreamArn"])
    assert [one["TableName"] for one in second["Streams"]] == names[2:]
    assert "LastEvaluatedStreamArn" not in second


def test_the_streams_of_one_table(streams: Any, names: list[str]) -> None:
    answer = streams.list_streams(TableName=names[1])
    assert [one["TableName"] for one in answer["Streams"]] == [names[1]]
    # A name that begins like another one is not the other one.
    assert streams.list_streams(TableName=names[1][:-1])["Streams"] == []
    assert streams.list_streams(TableName=unique("missing"))["Streams"] == []


def test_the_start_may_be_the_stream_of_another_table_or_of_none(streams: Any, names: list[str]) -> None:
    first = streams.list_streams(TableName=names[0])["Streams"][0]["StreamArn"]
    listed = streams.list_streams(TableName=names[1], ExclusiveStartStreamArn=first)
    assert [one["TableName"] for one in listed["Streams"]] == [names[1]]
    last = first.replace(names[0], "zzzzzz")
    assert streams.list_streams(ExclusiveStartStreamArn=last)["Streams"] == []


def test_another_region_has_other_streams(make_client: Any, names: list[str]) -> None:
    other = make_client("dynamodbstreams", region="ap-southeast-3")
    assert other.list_streams()["Streams"] == []


@pytest.mark.parametrize(
    ("limit", "rule"), [(0, "greater than or equal to 1"), (101, "less than or equal to 100")]
)
def test_limits_that_are_not_allowed(streams: Any, limit: int, rule: str) -> None:
    assert invalid(streams.list_streams, Limit=limit) == (
        f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: Member must have "
        f"value {rule}"
    )


@pytest.mark.parametrize("arn", ["x" * 37, f"arn:aws:dynamodb:{REGION}:000000000000:table/tab", "\0" * 40])
def test_a_start_that_is_no_stream(streams: Any, arn: str) -> None:
    assert invalid(streams.list_streams, ExclusiveStartStreamArn=arn) == "Invalid StreamArn"


def test_a_table_name_that_cannot_be(streams: Any) -> None:
    assert "'tableName' failed to satisfy constraint" in invalid(streams.list_streams, TableName="a b")


def test_dynamodbs_own_name_will_do(raw: Any) -> None:
    for service in ("DynamoDB_20120810", "DynamoDBStreams_20120810"):
        answer = raw("", {"TableName": "none-such"}, headers={"X-Amz-Target": f"{service}.ListStreams"})
        assert (answer.status, answer.body) == (200, {"Streams": []})
