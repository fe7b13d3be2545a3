"""What is in the records of a stream, and which writes have none."""

import itertools
import re
from typing import Any

import pytest

from stream_tables import ONE_SHARD, VIEW_TYPES, Streamed

OLD, NEW = {"pk": {"S": "a"}, "v": {"N": "1"}}, {"pk": {"S": "a"}, "v": {"N": "2"}}


def small(view_type: str = "NEW_AND_OLD_IMAGES", *keys: str) -> Streamed:
    """A table with a stream of one shard."""
    return Streamed(view_type, *keys, **ONE_SHARD)


@pytest.mark.parametrize("view_type", VIEW_TYPES)
def test_every_view_type_shows_its_images_of_every_event(view_type: str) -> None:
    table = small(view_type)
    table.put("a", v={"N": "1"})
    table.put("a", v={"N": "2"})
    table.delete("a")
    new = view_type in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")
    old = view_type in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES")
    shown = [
        (one["eventName"], one["dynamodb"].get("NewImage"), one["dynamodb"].get("OldImage"))
        for one in table.records()
    ]
    assert shown == [
        ("INSERT", OLD if new else None, None),
        ("MODIFY", NEW if new else None, OLD if old else None),
        ("REMOVE", None, NEW if old else None),
    ]
    assert {one["dynamodb"]["StreamViewType"] for one in table.records()} == {view_type}


def test_a_record_has_the_members_of_the_service_and_no_other() -> None:
    table = small()
    table.clock.advance(0.9)
    table.put("a", v={"N": "1"})
    (record,) = table.records()
    assert re.fullmatch("[0-9a-f]{32}", record.pop("eventID"))
    number = record["dynamodb"].pop("SequenceNumber")
    assert re.fullmatch("[0-9]{21,40}", number)
    assert int(number) > int(table.shards()[0]["SequenceNumberRange"]["StartingSequenceNumber"])
    assert record == {
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": int(table.clock.now()),
            "Keys": {"pk": {"S": "a"}},
            "NewImage": OLD,
            "SizeBytes": 9,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }


def test_the_id_of_a_record_is_the_same_whenever_it_is_read() -> None:
    table = small()
    table.put("a")
    assert table.records() == table.records()


@pytest.mark.parametrize(
    ("view_type", "sizes"),
    [
        ("NEW_AND_OLD_IMAGES", [12, 26, 20]),
        ("KEYS_ONLY", [6, 6, 6]),
        ("NEW_IMAGE", [12, 20, 6]),
        ("OLD_IMAGE", [6, 12, 20]),
    ],
)
def test_sizes_are_those_of_keys_and_images(view_type: str, sizes: list[int]) -> None:
    # As the service's published samples: {id: "Fred"} counts 6 as keys and 6 as an image.
    table = Streamed(view_type, "id", **ONE_SHARD)
    for item in ({"id": {"S": "Fred"}}, {"id": {"S": "Fred"}, "name": {"S": "Fred"}}):
        table.call("PutItem", TableName="tab", Item=item)
    table.call("DeleteItem", TableName="tab", Key={"id": {"S": "Fred"}})
    assert [one["dynamodb"]["SizeBytes"] for one in table.records()] == sizes


def test_keys_are_the_partition_key_and_the_sort_key() -> None:
    table = Streamed("KEYS_ONLY", "pk", "sk", types={"sk": "N"}, **ONE_SHARD)
    item = {"v": {"S": "x"}, "sk": {"N": "7"}, "pk": {"S": "a"}}
    table.call("PutItem", TableName="tab", Item=item)
    table.call("DeleteItem", TableName="tab", Key={"sk": {"N": "7.0"}, "pk": {"S": "a"}})
    assert [one["dynamodb"]["Keys"] for one in table.records()] == [{"pk": {"S": "a"}, "sk": {"N": "7"}}] * 2


def test_an_update_that_makes_an_item_is_an_insert_even_without_an_action() -> None:
    table = small()
    table.update("a", "SET v = :v", ExpressionAttributeValues={":v": {"N": "1"}})
    table.update("b")
    table.update("a", "SET v = :v", ExpressionAttributeValues={":v": {"N": "2"}})
    assert table.events() == [("INSERT", "a"), ("INSERT", "b"), ("MODIFY", "a")]
    assert table.records()[1]["dynamodb"]["NewImage"] == {"pk": {"S": "b"}}


ITEM = {
    "m": {"M": {"x": {"N": "1"}, "y": {"SS": ["a", "b"]}}},
    "s": {"SS": ["p", "q", "r"]},
    "n": {"NS": ["1", "2"]},
    "l": {"L": [{"N": "5"}, {"BS": ["YQ==", "Yg=="]}]},
    "v": {"N": "10"},
}
REORDERED = {
    "v": {"N": "1e1"},
    "l": {"L": [{"N": "5.0"}, {"BS": ["Yg==", "YQ=="]}]},
    "n": {"NS": ["2", "1.0"]},
    "s": {"SS": ["r", "q", "p"]},
    "m": {"M": {"y": {"SS": ["b", "a"]}, "x": {"N": "1"}}},
}
PUT = {"pk": {"S": "a"}, **REORDERED}
NO_CHANGE: dict[str, tuple[str, dict[str, Any]]] = {
    "put of the same": ("PutItem", {"TableName": "tab", "Item": {"pk": {"S": "a"}, **ITEM}}),
    "put in another order": ("PutItem", {"TableName": "tab", "Item": PUT}),
    "put of a bare key": ("PutItem", {"TableName": "tab", "Item": {"pk": {"S": "bare"}}}),
    "batch": ("BatchWriteItem", {"RequestItems": {"tab": [{"PutRequest": {"Item": PUT}}]}}),
    "transaction": ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "tab", "Item": PUT}}]}),
    "condition check": (
        "TransactWriteItems",
        {
            "TransactItems": [
                {
                    "ConditionCheck": {
                        "TableName": "tab",
                        "Key": {"pk": {"S": "a"}},
                        "ConditionExpression": "attribute_exists(pk)",
                    }
                }
            ]
        },
    ),
    "update to the same": (
        "UpdateItem",
        {
            "TableName": "tab",
            "Key": {"pk": {"S": "a"}},
            "UpdateExpression": "SET #s = :s",
            "ExpressionAttributeNames": {"#s": "s"},
            "ExpressionAttributeValues": {":s": {"SS": ["q", "p", "r"]}},
        },
    ),
    "update without action": ("UpdateItem", {"TableName": "tab", "Key": {"pk": {"S": "a"}}}),
    "addition of nothing": (
        "UpdateItem",
        {
            "TableName": "tab",
            "Key": {"pk": {"S": "a"}},
            "UpdateExpression": "ADD v :zero",
            "ExpressionAttributeValues": {":zero": {"N": "0"}},
        },
    ),
    "removal of nothing": (
        "UpdateItem",
        {"TableName": "tab", "Key": {"pk": {"S": "a"}}, "UpdateExpression": "REMOVE absent"},
    ),
    "removal from a missing item": (
        "UpdateItem",
        {"TableName": "tab", "Key": {"pk": {"S": "missing"}}, "UpdateExpression": "REMOVE absent"},
    ),
    "delete of a missing item": ("DeleteItem", {"TableName": "tab", "Key": {"pk": {"S": "missing"}}}),
    "batch delete of a missing item": (
        "BatchWriteItem",
        {"RequestItems": {"tab": [{"DeleteRequest": {"Key": {"pk": {"S": "missing"}}}}]}},
    ),
    "statement": (
        "ExecuteStatement",
        {"Statement": "UPDATE tab SET v=? WHERE pk='a'", "Parameters": [{"N": "10.0"}]},
    ),
    "batch of statements": (
        "BatchExecuteStatement",
        {"Statements": [{"Statement": "UPDATE tab SET v=10 WHERE pk='a'"}]},
    ),
    "transaction of statements": (
        "ExecuteTransaction",
        {"TransactStatements": [{"Statement": "UPDATE tab SET v=10 WHERE pk='a'"}]},
    ),
}


@pytest.fixture(scope="module")
def quiet() -> Streamed:
    """A table with an item that nobody changes."""
    table = small()
    table.put("a", **ITEM)
    table.put("bare")
    return table


@pytest.mark.parametrize("case", NO_CHANGE)
def test_a_write_that_changes_nothing_has_no_record(quiet: Streamed, case: str) -> None:
    operation, request = NO_CHANGE[case]
    quiet.call(operation, **request)
    assert quiet.events() == [("INSERT", "a"), ("INSERT", "bare")]


def test_a_failed_condition_has_no_record(quiet: Streamed) -> None:
    condition = {"ConditionExpression": "attribute_not_exists(pk)"}
    put = {"TableName": "tab", "Item": {"pk": {"S": "a"}, "v": {"N": "99"}}, **condition}
    assert quiet.service.refused("PutItem", **put)[0] == "ConditionalCheckFailedException"
    other = {"Put": {"TableName": "tab", "Item": {"pk": {"S": "new"}}}}
    refusal = quiet.service.refused("TransactWriteItems", TransactItems=[other, {"Put": put}])
    assert refusal[0] == "TransactionCanceledException"
    assert quiet.events() == [("INSERT", "a"), ("INSERT", "bare")]


def test_a_list_in_another_order_is_a_change() -> None:
    table = small()
    table.put("a", v={"L": [{"N": "1"}, {"N": "2"}]})
    table.put("a", v={"L": [{"N": "2"}, {"N": "1"}]})
    assert table.events() == [("INSERT", "a"), ("MODIFY", "a")]


def test_transactions_and_batches_are_recorded_in_the_order_of_the_request() -> None:
    table = small()
    for pk in ("a", "b", "c"):
        table.put(pk, v={"N": "1"})
    table.call(
        "TransactWriteItems",
        TransactItems=[
            {"Delete": {"TableName": "tab", "Key": {"pk": {"S": "b"}}}},
            {"Put": {"TableName": "tab", "Item": {"pk": {"S": "a"}, "v": {"N": "2"}}}},
            {"Put": {"TableName": "tab", "Item": {"pk": {"S": "c"}, "v": {"N": "1"}}}},
            {"Put": {"TableName": "tab", "Item": {"pk": {"S": "d"}}}},
        ],
    )
    table.call(
        "BatchWriteItem",
        RequestItems={
            "tab": [
                {"PutRequest": {"Item": {"pk": {"S": "z"}}}},
                {"DeleteRequest": {"Key": {"pk": {"S": "a"}}}},
            ]
        },
    )
    assert table.events()[3:] == [
        ("REMOVE", "b"),
        ("MODIFY", "a"),
        ("INSERT", "d"),
        ("INSERT", "z"),
        ("REMOVE", "a"),
    ]


def test_statements_are_recorded_like_any_write() -> None:
    table = small()
    table.call("ExecuteStatement", Statement="INSERT INTO tab VALUE {'pk': 'a', 'v': 1}")
    table.call("ExecuteStatement", Statement="UPDATE tab SET v=2 WHERE pk='a'")
    table.call("BatchExecuteStatement", Statements=[{"Statement": "DELETE FROM tab WHERE pk='a'"}])
    assert table.events() == [("INSERT", "a"), ("MODIFY", "a"), ("REMOVE", "a")]


def test_only_the_table_with_a_stream_has_records_of_a_transaction() -> None:
    table = small()
    other = Streamed("KEYS_ONLY", service=table.service, name="other")
    other.switch(None)
    puts = [{"Put": {"TableName": name, "Item": {"pk": {"S": "a"}}}} for name in ("other", "tab")]
    table.call("TransactWriteItems", TransactItems=puts)
    assert table.events() == [("INSERT", "a")]
    assert other.events() == []


def test_only_a_deletion_by_ttl_says_who_did_it() -> None:
    table = small()
    ttl = {"Enabled": True, "AttributeName": "expires"}
    table.call("UpdateTimeToLive", TableName="tab", TimeToLiveSpecification=ttl)
    table.put("deleted", expires={"N": str(int(table.clock.now()) + 10)})
    table.put("expired", expires={"N": str(int(table.clock.now()) + 10)})
    table.delete("deleted")
    table.clock.advance(60)
    table.service.run_jobs()
    assert table.events()[2:] == [("REMOVE", "deleted"), ("REMOVE", "expired")]
    assert [one.get("userIdentity") for one in table.records()] == [
        *(None, None, None),
        {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"},
    ]
    assert table.records()[-1]["dynamodb"]["OldImage"]["pk"] == {"S": "expired"}


def test_a_page_has_a_thousand_records_at_most() -> None:
    table = small("KEYS_ONLY")
    for number, batch in itertools.groupby(range(1002), key=lambda number: number // 25):
        puts = [{"PutRequest": {"Item": {"pk": {"S": f"{number}-{one}"}}}} for one in batch]
        table.call("BatchWriteItem", RequestItems={"tab": puts})
    first = table.call("GetRecords", ShardIterator=table.iterator())
    assert len(first["Records"]) == 1000
    second = table.call("GetRecords", ShardIterator=first["NextShardIterator"], Limit=1)
    third = table.call("GetRecords", ShardIterator=second["NextShardIterator"])
    assert (len(second["Records"]), len(third["Records"])) == (1, 1)
    last = table.call("GetRecords", ShardIterator=third["NextShardIterator"])
    assert last["Records"] == []
    assert "NextShardIterator" in last


def test_a_page_has_a_megabyte_at_most_and_one_record_at_least() -> None:
    table = small()
    text = "x" * 390_000
    for end in ("1", "2", "3"):
        table.put("a", v={"S": text + end})
    pages: list[list[int]] = []
    iterator = table.iterator()
    while len(pages) < 4:
        answer = table.call("GetRecords", ShardIterator=iterator)
        pages.append([one["dynamodb"]["SizeBytes"] for one in answer["Records"]])
        iterator = answer["NextShardIterator"]
    assert [len(page) for page in pages] == [1, 1, 1, 0]
    assert all(sum(page) <= 1024 * 1024 for page in pages)
    table.put("b", v={"S": "small"})
    table.put("b", v={"S": "smaller"})
    assert len(table.call("GetRecords", ShardIterator=iterator)["Records"]) == 2
