"""Shards come and go: one per partition, followed by children after some hours and when partitions are split."""

import threading
from functools import partial
from typing import Any

import pytest

from hashrange.core.limits import PARTITION_BYTES
from hashrange.storage import change_log, layout, stream_rows
from hashrange.storage.engine import Reader, Transaction
from stream_consumer import Consumer, all_shards
from stream_tables import ONE_SHARD, Streamed

HOUR = 3600


def test_a_table_on_demand_has_four_shards_and_a_small_one_has_one() -> None:
    assert len(Streamed().shards()) == 4
    (shard,) = Streamed(**ONE_SHARD).shards()
    assert shard.keys() == {"ShardId", "SequenceNumberRange"}
    assert shard["SequenceNumberRange"].keys() == {"StartingSequenceNumber"}


def test_a_shard_id_begins_with_the_milliseconds_of_its_creation() -> None:
    table = Streamed()
    for shard in table.shards():
        assert int(shard["ShardId"].split("-")[1]) == round(
            table.describe()["CreationRequestDateTime"] * 1000
        )


def test_items_of_one_partition_key_are_in_one_shard() -> None:
    table = Streamed("KEYS_ONLY", "pk", "sk")
    for number in range(40):
        item = {"pk": {"S": f"k{number % 4}"}, "sk": {"S": str(number)}}
        table.call("PutItem", TableName="tab", Item=item)
    consumer = Consumer(table.call, table.arn)
    consumer.catch_up()
    places = {(shard, record["dynamodb"]["Keys"]["pk"]["S"]) for shard, record in consumer.records}
    assert len(places) == 4


def test_shards_are_followed_by_children_after_four_hours() -> None:
    table = Streamed()
    table.put("a")
    parents = table.shards()
    table.clock.advance(4 * HOUR - 3)
    table.service.run_jobs()
    assert table.shards() == parents
    table.clock.advance(3)
    table.service.run_jobs()
    shards = table.shards()
    assert [shard["ShardId"] for shard in shards[:4]] == [shard["ShardId"] for shard in parents]
    assert [shard.get("ParentShardId") for shard in shards[4:]] == [shard["ShardId"] for shard in parents]
    for parent, child in zip(shards[:4], shards[4:], strict=True):
        numbers = parent["SequenceNumberRange"]
        first, last = int(numbers["StartingSequenceNumber"]), int(numbers["EndingSequenceNumber"])
        assert first <= last < int(child["SequenceNumberRange"]["StartingSequenceNumber"])
        assert "EndingSequenceNumber" not in child["SequenceNumberRange"]
    assert all(
        shard["ShardId"] == other["ShardId"]
        for shard, other in zip(shards, sorted_by_id(shards), strict=True)
    )


def sorted_by_id(shards: list[Any]) -> list[Any]:
    return sorted(shards, key=lambda shard: str(shard["ShardId"]))


def test_more_throughput_splits_shards_into_several_children() -> None:
    table = Streamed(**ONE_SHARD)
    table.put("a")
    (parent,) = table.shards()
    units = {"ReadCapacityUnits": 3000, "WriteCapacityUnits": 3000}
    table.call("UpdateTable", TableName="tab", ProvisionedThroughput=units)
    table.service.settle()
    closed, *children = table.shards()
    assert closed["ShardId"] == parent["ShardId"]
    assert "EndingSequenceNumber" in closed["SequenceNumberRange"]
    assert [child["ParentShardId"] for child in children] == [parent["ShardId"]] * 4


def _add(key: bytes, size: int, tx: Transaction) -> None:
    tx.add(key, size)


def test_a_partition_that_is_not_split_keeps_its_shard() -> None:
    table = Streamed(**ONE_SHARD)
    record = table.service.catalogue.find("000000000000", "us-east-1", "tab")
    assert record is not None
    size_key = layout.size_key(record.number, layout.BASE_SLOT)
    for size, count in ((3 * PARTITION_BYTES, 3), (PARTITION_BYTES, 4)):
        table.service.engine.write(partial(_add, size_key, size))
        table.service.settle()
        shards = table.shards()
        assert sum("EndingSequenceNumber" not in one["SequenceNumberRange"] for one in shards) == count
    # Of three partitions one was halved, so that one shard was closed and two were opened.
    assert len(shards) == 1 + 3 + 2


def test_a_closed_shard_is_read_to_its_end_and_then_says_so() -> None:
    table = Streamed(**ONE_SHARD)
    table.put("a")
    table.put("b")
    table.clock.advance(4 * HOUR)
    iterator = table.iterator()
    table.service.run_jobs()
    table.put("c")
    first = table.call("GetRecords", ShardIterator=iterator, Limit=1)
    assert "NextShardIterator" in first
    second = table.call("GetRecords", ShardIterator=first["NextShardIterator"], Limit=1)
    assert len(second["Records"]) == 1
    assert "NextShardIterator" not in second
    assert table.call("GetRecords", ShardIterator=table.iterator(kind="LATEST")) == {"Records": []}


def test_a_shard_without_records_is_at_its_end_at_once_when_closed() -> None:
    table = Streamed(**ONE_SHARD)
    table.clock.advance(4 * HOUR)
    table.service.run_jobs()
    empty = table.shards()[0]["SequenceNumberRange"]
    assert empty["EndingSequenceNumber"] == empty["StartingSequenceNumber"]
    assert table.call("GetRecords", ShardIterator=table.iterator(0)) == {"Records": []}
    assert "NextShardIterator" in table.call("GetRecords", ShardIterator=table.iterator(1))


def test_ids_of_children_sort_behind_their_parents_when_the_clock_is_set_back() -> None:
    table = Streamed(**ONE_SHARD)
    table.clock.advance(-5 * HOUR)
    units = {"ReadCapacityUnits": 3000, "WriteCapacityUnits": 3000}
    table.call("UpdateTable", TableName="tab", ProvisionedThroughput=units)
    table.put("a")
    shards = table.shards()
    assert shards == sorted_by_id(shards)
    numbers = [int(shard["SequenceNumberRange"]["StartingSequenceNumber"]) for shard in shards]
    assert numbers[0] < min(numbers[1:])
    assert table.events() == [("INSERT", "a")]


def test_shards_come_in_pages() -> None:
    table = Streamed()
    for _ in range(3):
        table.clock.advance(4 * HOUR)
        table.service.run_jobs()
    whole = table.shards()
    assert len(whole) == 16
    for limit in (1, 3, 5, 16):
        assert all_shards(table.call, table.arn, limit) == whole
    assert "LastEvaluatedShardId" not in table.describe(Limit=16)
    page = table.describe(Limit=15)
    assert page["LastEvaluatedShardId"] == page["Shards"][-1]["ShardId"]


def test_a_page_begins_behind_an_id_whether_there_is_such_a_shard_or_not() -> None:
    table = Streamed()
    shards = table.shards()
    low, high = "shardId-" + "0" * 20 + "-00000000", "shardId-" + "9" * 20 + "-ffffffff"
    assert table.describe(ExclusiveStartShardId=low)["Shards"] == shards
    assert table.describe(ExclusiveStartShardId=high)["Shards"] == []
    assert table.describe(ExclusiveStartShardId=shards[-1]["ShardId"])["Shards"] == []
    between = shards[1]["ShardId"][:-8] + "0000000z"
    assert table.describe(ExclusiveStartShardId=between)["Shards"] == []
    # Its number is that of the third shard, but it was never an id.
    forged = shards[0]["ShardId"][:8] + "0" * 20 + shards[2]["ShardId"][28:]
    assert table.describe(ExclusiveStartShardId=forged)["Shards"] == shards


def test_the_children_of_a_shard() -> None:
    table = Streamed(**ONE_SHARD)
    (parent,) = table.shards()
    children = {"Type": "CHILD_SHARDS", "ShardId": parent["ShardId"]}
    assert table.describe(ShardFilter=children)["Shards"] == []
    units = {"ReadCapacityUnits": 3000, "WriteCapacityUnits": 3000}
    table.call("UpdateTable", TableName="tab", ProvisionedThroughput=units)
    table.service.settle()
    assert table.describe(ShardFilter=children)["Shards"] == table.shards()[1:]
    first = table.describe(ShardFilter=children, Limit=2)
    rest = table.describe(ShardFilter=children, ExclusiveStartShardId=first["LastEvaluatedShardId"])
    assert first["Shards"] + rest["Shards"] == table.shards()[1:]
    unknown = {"Type": "CHILD_SHARDS", "ShardId": "x" * 28}
    assert table.describe(ShardFilter=unknown)["Shards"] == []


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({}, "Value null at 'shardFilter.type' failed to satisfy constraint: Member must not be null"),
        (
            {"Type": "CHILD_SHARDS"},
            "Value null at 'shardFilter.shardId' failed to satisfy constraint: Member must not be null",
        ),
        (
            {"Type": "PARENTS", "ShardId": "x" * 28},
            "at 'shardFilter.type' failed to satisfy constraint: Member must satisfy enum value set: [CHILD_SHARDS]",
        ),
        (
            {"Type": "CHILD_SHARDS", "ShardId": "x"},
            "'shardFilter.shardId' failed to satisfy constraint: Member must have length greater than or equal to 28",
        ),
    ],
)
def test_filters_that_are_not_allowed(members: dict[str, str], complaint: str) -> None:
    table = Streamed(**ONE_SHARD)
    code, message = table.service.refused("DescribeStream", StreamArn=table.arn, ShardFilter=members)
    assert code == "ValidationException"
    assert complaint in str(message)


def test_a_parent_is_gone_a_day_after_its_end_and_its_child_still_names_it() -> None:
    table = Streamed(**ONE_SHARD)
    (parent,) = table.shards()
    table.clock.advance(4 * HOUR)
    table.service.run_jobs()
    child = table.shards()[1]
    table.clock.advance(24 * HOUR)
    assert table.shards() == [child]
    assert child["ParentShardId"] == parent["ShardId"]
    refusal = table.service.refused(
        "GetShardIterator", StreamArn=table.arn, ShardId=parent["ShardId"], ShardIteratorType="LATEST"
    )
    assert refusal == ("ResourceNotFoundException", "Requested resource not found: Shard does not exist")


def test_whoever_sees_a_shard_closed_sees_its_children() -> None:
    """The end of the parent and its children are one commit: a consumer at the end always finds where to go on."""
    table = Streamed(**ONE_SHARD)
    stream_arn, stop = table.arn, threading.Event()
    problems: list[str] = []
    looks = 0

    def check(reader: Reader) -> None:
        (stream,) = stream_rows.all_streams(reader)
        shards = list(change_log.shards(reader, stream.table_number))
        parents = {shard.parent_id for shard in shards}
        problems.extend(
            shard.id for shard in shards if shard.closed_at is not None and shard.id not in parents
        )
        if sum(shard.closed_at is None for shard in shards) != 1:
            problems.append("not one shard is open")

    def look() -> None:
        nonlocal looks
        while not stop.is_set():
            table.service.engine.read(check)
            looks += 1

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for _ in range(5):
            table.clock.advance(4 * HOUR)
            assert table.service.rolling.step(table.clock.now()) == 0.0
            before = looks
            while looks < before + 2:
                stop.wait(0.001)
    finally:
        stop.set()
        watcher.join()
    assert problems == []
    assert len(all_shards(table.call, stream_arn)) == 6


def test_a_consumer_follows_splits_and_successions_and_reads_every_change_once() -> None:
    table = Streamed("NEW_AND_OLD_IMAGES", **ONE_SHARD)
    consumer = Consumer(table.call, table.arn, limit=3)
    version = 0
    for round_number in range(12):
        for number in range(10):
            version += 1
            table.put(f"k{number}", v={"N": str(version)})
            if version % 7 == 0:
                consumer.catch_up()
        if round_number % 4 == 1:
            units = 1000 * (round_number + 1)
            throughput = {"ReadCapacityUnits": units, "WriteCapacityUnits": units}
            table.call("UpdateTable", TableName="tab", ProvisionedThroughput=throughput)
        if round_number % 3 == 2:
            table.clock.advance(4 * HOUR)
            consumer.restart()
        table.service.settle()
    consumer.catch_up()
    consumer.check_order()
    assert len(consumer.records) == 120
    last: dict[str, Any] = {}
    for record in consumer.changes():
        image = record["dynamodb"]
        key = image["Keys"]["pk"]["S"]
        assert image.get("OldImage") == last.get(key)
        last[key] = image["NewImage"]
