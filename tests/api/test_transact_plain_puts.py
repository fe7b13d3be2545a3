"""Puts of a transaction that are stored together do what each would do by itself."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import Item, make_table, unique

TRUE = {"ConditionExpression": "attribute_exists(pk) OR attribute_not_exists(pk)"}


def put(table: str, item: Item, **more: Any) -> dict[str, Any]:
    return {"Put": {"TableName": table, "Item": item, **more}}


def sized(pk: str, size: int) -> Item:
    return {"pk": {"S": pk}, "v": {"S": "x" * size}}


@pytest.fixture(scope="module")
def streams(make_client: Any) -> Any:
    return make_client("dynamodbstreams")


def read(client: Any, table: str, pk: str) -> Item | None:
    return client.get_item(TableName=table, Key={"pk": {"S": pk}}, ConsistentRead=True).get("Item")


@pytest.mark.parametrize("before_sizes", [(), (10, 3000, 10, 10), (3000,)])
@pytest.mark.parametrize("sizes", [(10, 20, 30, 40), (10, 2500, 1100, 10)])
def test_they_cost_what_puts_with_a_condition_cost(
    client: Any, hash_table: str, sizes: tuple[int, ...], before_sizes: tuple[int, ...]
) -> None:
    charged = []
    for condition in ({}, TRUE):
        pks = [unique() for _ in sizes]
        for pk, size in zip(pks, before_sizes, strict=False):
            client.put_item(TableName=hash_table, Item=sized(pk, size))
        items = [sized(pk, size) for pk, size in zip(pks, sizes, strict=True)]
        token = unique()[:36]
        answers = [
            client.transact_write_items(
                TransactItems=[put(hash_table, item, **condition) for item in items],
                ClientRequestToken=token,
                ReturnConsumedCapacity="TOTAL",
            )
            for _ in range(2)  # the second is charged as reads of what was written
        ]
        charged.append([answer["ConsumedCapacity"] for answer in answers])
        assert [read(client, hash_table, pk) for pk in pks] == items
    assert charged[0] == charged[1]


def test_tables_are_reported_in_the_order_of_the_request(
    client: Any, hash_table: str, range_table: str
) -> None:
    pks = [unique() for _ in range(3)]
    ranged = [{"pk": {"S": pk}, "sk": {"S": "1"}} for pk in pks]
    update = {
        "TableName": hash_table,
        "Key": {"pk": {"S": unique()}},
        "UpdateExpression": "SET v = :v",
        "ExpressionAttributeValues": {":v": {"N": "1"}},
    }
    answer = client.transact_write_items(
        TransactItems=[
            *(put(range_table, item) for item in ranged[:1]),
            {"Update": update},
            *(put(hash_table, sized(pk, 5)) for pk in pks),
            *(put(range_table, item) for item in ranged[1:]),
        ],
        ReturnConsumedCapacity="TOTAL",
    )
    assert [(report["TableName"], report["CapacityUnits"]) for report in answer["ConsumedCapacity"]] == [
        (range_table, 6.0),
        (hash_table, 8.0),
    ]


def test_nothing_of_them_is_left_when_another_action_fails(client: Any, hash_table: str) -> None:
    pks = [unique() for _ in range(3)]
    client.put_item(TableName=hash_table, Item=sized(pks[0], 7))
    failing = {"TableName": hash_table, "Key": {"pk": {"S": unique()}}}
    with pytest.raises(ClientError) as caught:
        client.transact_write_items(
            TransactItems=[
                *(put(hash_table, sized(pk, 5)) for pk in pks),
                {"ConditionCheck": {**failing, "ConditionExpression": "attribute_exists(pk)"}},
            ]
        )
    codes = [reason["Code"] for reason in caught.value.response["CancellationReasons"]]
    assert codes == ["None", "None", "None", "ConditionalCheckFailed"]
    assert [read(client, hash_table, pk) for pk in pks] == [sized(pks[0], 7), None, None]


def test_what_they_replace_counts_towards_four_megabytes(client: Any, hash_table: str) -> None:
    pks = [unique() for _ in range(11)]
    for pk in pks:
        client.put_item(TableName=hash_table, Item=sized(pk, 399_000))
    puts = [put(hash_table, sized(pk, 5)) for pk in pks]
    with pytest.raises(
        ClientError, match="Aggregate size of the items in the transaction cannot exceed 4 MB"
    ):
        client.transact_write_items(TransactItems=puts)
    assert read(client, hash_table, pks[0]) == sized(pks[0], 399_000)
    client.transact_write_items(TransactItems=puts[:10])
    assert read(client, hash_table, pks[0]) == sized(pks[0], 5)


def test_each_is_in_the_stream_and_in_the_index(client: Any, streams: Any) -> None:
    """Puts into either of them are looked at one by one: a stream has them in the order of the request."""
    for more in ({}, {"GlobalSecondaryIndexes": True}):
        indexes: dict[str, Any] = {}
        if more:
            indexes = {
                "types": {"v": "S"},
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "by-v",
                        "KeySchema": [{"AttributeName": "v", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                ],
            }
        table = make_table(
            client,
            "pk",
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            **indexes,
        )
        for size in (5, 6):
            client.transact_write_items(
                TransactItems=[put(table, sized(pk, size)) for pk in ("one", "two", "three")]
            )
        records = stream_records(client, streams, table)
        assert [record["eventName"] for record in records] == ["INSERT"] * 3 + ["MODIFY"] * 3
        assert sorted(record["dynamodb"]["Keys"]["pk"]["S"] for record in records[3:]) == sorted(
            ("one", "two", "three")
        )
        assert all(len(record["dynamodb"]["OldImage"]["v"]["S"]) == 5 for record in records[3:])


def stream_records(client: Any, streams: Any, table: str) -> list[Any]:
    """Everything in a table's stream, shard after shard."""
    arn = client.describe_table(TableName=table)["Table"]["LatestStreamArn"]
    records: list[Any] = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        records += streams.get_records(ShardIterator=iterator)["Records"]
    return sorted(records, key=lambda record: int(record["dynamodb"]["SequenceNumber"]))
