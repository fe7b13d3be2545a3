"""GetRecords by the SDK: a table's changes from beginning to end; tests/streams has the records in detail."""

from typing import Any

import pytest

from item_tables import invalid, make_table, wait_until_active
from stream_consumer import Consumer, boto3_call, read_all

STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


@pytest.fixture(scope="module")
def streams(make_client: Any) -> Any:
    return make_client("dynamodbstreams")


def stream_arn(client: Any, name: str) -> str:
    return str(client.describe_table(TableName=name)["Table"]["LatestStreamArn"])


def test_a_change_as_the_sdk_reads_it(client: Any, streams: Any) -> None:
    name = make_table(client, "pk", StreamSpecification=STREAM)
    client.put_item(TableName=name, Item={"pk": {"S": "ä"}, "b": {"B": b"\0\1"}, "s": {"SS": ["x", "y"]}})
    (record,) = read_all(boto3_call(streams), stream_arn(client, name))
    assert record["eventName"] == "INSERT"
    assert record["dynamodb"]["Keys"] == {"pk": {"S": "ä"}}
    assert record["dynamodb"]["NewImage"]["b"] == {"B": b"\0\1"}
    assert sorted(record["dynamodb"]["NewImage"]["s"]["SS"]) == ["x", "y"]
    assert record["dynamodb"]["ApproximateCreationDateTime"].microsecond == 0


def test_every_kind_of_write_is_there_once_and_in_order(client: Any, streams: Any) -> None:
    name = make_table(client, "pk", StreamSpecification=STREAM)
    consumer = Consumer(boto3_call(streams), stream_arn(client, name), limit=7)
    key = {"pk": {"S": "k"}}
    for number in range(20):
        value = {":v": {"N": str(number)}}
        client.update_item(
            TableName=name, Key=key, UpdateExpression="SET v = :v", ExpressionAttributeValues=value
        )
        puts = [{"PutRequest": {"Item": {"pk": {"S": f"b{at}"}, "v": {"N": str(number)}}}} for at in range(5)]
        client.batch_write_item(RequestItems={name: puts})
        items = [
            {"Put": {"TableName": name, "Item": {"pk": {"S": f"t{at}"}, "v": value[":v"]}}} for at in range(5)
        ]
        client.transact_write_items(TransactItems=items)
        if number % 6 == 0:
            consumer.catch_up()
    client.execute_statement(Statement=f"DELETE FROM \"{name}\" WHERE pk = 'k'")
    consumer.catch_up()
    consumer.check_order()
    assert len(consumer.records) == 11 * 20 + 1
    by_key: dict[str, list[Any]] = {}
    for record in consumer.changes():
        by_key.setdefault(record["dynamodb"]["Keys"]["pk"]["S"], []).append(record)
    for pk, records in by_key.items():
        values = [record["dynamodb"].get("NewImage", {}).get("v", {}).get("N") for record in records]
        assert values == [str(number) for number in range(20)] + ([None] if pk == "k" else [])
        assert [record["eventName"] for record in records][:2] == ["INSERT", "MODIFY"]


def test_the_stream_of_a_deleted_table_can_still_be_read(client: Any, streams: Any) -> None:
    name = make_table(client, "pk", StreamSpecification=STREAM)
    client.put_item(TableName=name, Item={"pk": {"S": "a"}})
    arn = stream_arn(client, name)
    client.delete_table(TableName=name)
    (record,) = read_all(boto3_call(streams), arn)
    assert record["eventName"] == "INSERT"


def test_a_stream_that_was_switched_off_comes_to_an_end(client: Any, streams: Any) -> None:
    name = make_table(client, "pk", StreamSpecification=STREAM)
    arn = stream_arn(client, name)
    client.put_item(TableName=name, Item={"pk": {"S": "a"}})
    client.update_table(TableName=name, StreamSpecification={"StreamEnabled": False})
    wait_until_active(client, name)
    client.put_item(TableName=name, Item={"pk": {"S": "unseen"}})
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        place = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = streams.get_shard_iterator(**place)["ShardIterator"]
        assert "NextShardIterator" not in streams.get_records(ShardIterator=iterator)
    assert len(read_all(boto3_call(streams), arn)) == 1


@pytest.mark.parametrize("limit", [-1, 0, 1001])
def test_limits_that_are_not_allowed(streams: Any, limit: int) -> None:
    rule = "less than or equal to 1000" if limit > 0 else "greater than or equal to 1"
    assert invalid(streams.get_records, ShardIterator="x", Limit=limit) == (
        f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: Member must have "
        f"value {rule}"
    )


def test_an_iterator_that_is_none(streams: Any) -> None:
    assert invalid(streams.get_records, ShardIterator="x") == "Invalid ShardIterator"
    assert "'shardIterator' failed to satisfy constraint" in invalid(streams.get_records, ShardIterator="")
    assert "Member must not be null" in invalid(streams.get_records)


def test_large_pages_are_read_without_holding_up_others(client: Any, streams: Any) -> None:
    name = make_table(client, "pk", StreamSpecification=STREAM)
    text = "x" * 3000
    for number in range(40):
        puts = [{"PutRequest": {"Item": {"pk": {"S": "k"}, "v": {"S": f"{text}{number}"}}}}]
        client.batch_write_item(RequestItems={name: puts})
    for number in range(40):
        puts = [{"PutRequest": {"Item": {"pk": {"S": f"{number}-{at}"}}}} for at in range(25)]
        client.batch_write_item(RequestItems={name: puts})
    records = read_all(boto3_call(streams), stream_arn(client, name))
    assert len(records) == 40 + 1000
