"""Consumed capacity, exact to the unit: reads, writes, indexes, batches and transactions."""

from typing import Any

import pytest

from item_tables import Item, index, make_table, unique


def sized(size: int, key: Item) -> Item:
    """An item of precisely so many bytes."""
    used = sum(len(name) + len(value["S"]) for name, value in key.items())
    return {**key, "a": {"S": "x" * (size - used - 1)}}


def total(answer: dict[str, Any]) -> float:
    """The units of an answer that was asked for TOTAL, which says nothing else."""
    assert set(answer["ConsumedCapacity"]) == {"TableName", "CapacityUnits"}
    return float(answer["ConsumedCapacity"]["CapacityUnits"])


def arms(answer: dict[str, Any]) -> dict[str, float]:
    """The units by table and index of an answer that was asked for INDEXES; they add up to the total."""
    reported = answer["ConsumedCapacity"]
    found = {"": reported["Table"]["CapacityUnits"]}
    for member in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        assert reported.get(member) != {}
        found |= {name: units["CapacityUnits"] for name, units in reported.get(member, {}).items()}
    assert reported["CapacityUnits"] == sum(found.values())
    assert set(reported) <= {
        "TableName",
        "CapacityUnits",
        "Table",
        "LocalSecondaryIndexes",
        "GlobalSecondaryIndexes",
    }
    return found


@pytest.fixture
def key() -> Item:
    return {"pk": {"S": unique()}}


@pytest.mark.parametrize(("size", "units"), [(100, 1), (4096, 1), (4097, 2), (40_000, 10), (409_600, 100)])
def test_get_item(client: Any, hash_table: str, key: Item, size: int, units: int) -> None:
    client.put_item(TableName=hash_table, Item=sized(size, key))
    request = {"TableName": hash_table, "Key": key, "ReturnConsumedCapacity": "TOTAL"}
    assert total(client.get_item(**request)) == units / 2
    assert total(client.get_item(**request, ConsistentRead=True)) == units
    # A projection saves nothing.
    assert total(client.get_item(**request, ProjectionExpression="pk")) == units / 2


def test_get_item_of_nothing(client: Any, hash_table: str, key: Item) -> None:
    request = {"TableName": hash_table, "Key": key, "ReturnConsumedCapacity": "TOTAL"}
    assert total(client.get_item(**request)) == 0.5
    assert total(client.get_item(**request, ConsistentRead=True)) == 1


def test_none_says_nothing(client: Any, hash_table: str, key: Item) -> None:
    for mode in ({}, {"ReturnConsumedCapacity": "NONE"}):
        assert "ConsumedCapacity" not in client.put_item(TableName=hash_table, Item=key, **mode)
        assert "ConsumedCapacity" not in client.get_item(TableName=hash_table, Key=key, **mode)
        assert "ConsumedCapacity" not in client.scan(TableName=hash_table, Limit=1, **mode)
        put = {hash_table: [{"PutRequest": {"Item": key}}]}
        assert "ConsumedCapacity" not in client.batch_write_item(RequestItems=put, **mode)


def test_indexes_always_shows_the_table(client: Any, hash_table: str, key: Item) -> None:
    answer = client.put_item(TableName=hash_table, Item=key, ReturnConsumedCapacity="INDEXES")
    assert answer["ConsumedCapacity"] == {
        "TableName": hash_table,
        "CapacityUnits": 1.0,
        "Table": {"CapacityUnits": 1.0},
    }


def test_batch_get_rounds_each_item(client: Any, hash_table: str, range_table: str) -> None:
    keys = [{"pk": {"S": unique()}} for _ in range(3)]
    client.put_item(TableName=hash_table, Item=sized(5000, keys[0]))
    client.put_item(TableName=hash_table, Item=sized(100, keys[1]))
    asked = {
        hash_table: {"Keys": keys},
        range_table: {"Keys": [{"pk": {"S": "x"}, "sk": {"S": "y"}}], "ConsistentRead": True},
    }
    answer = client.batch_get_item(RequestItems=asked, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [
        {"TableName": hash_table, "CapacityUnits": 2.0},
        {"TableName": range_table, "CapacityUnits": 1.0},
    ]
    answer = client.batch_get_item(RequestItems=asked, ReturnConsumedCapacity="INDEXES")
    assert answer["ConsumedCapacity"][0]["Table"] == {"CapacityUnits": 2.0}


def test_a_query_rounds_once(client: Any, range_table: str) -> None:
    pk = {"S": unique()}
    for number in range(5):
        client.put_item(TableName=range_table, Item=sized(1000, {"pk": pk, "sk": {"S": str(number)}}))
    request = {
        "TableName": range_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": pk},
        "ReturnConsumedCapacity": "TOTAL",
    }
    assert total(client.query(**request)) == 1  # 5000 bytes
    assert total(client.query(**request, ConsistentRead=True)) == 2
    assert total(client.query(**request, Limit=4)) == 0.5  # 4000 bytes
    assert total(client.query(**request, Select="COUNT")) == 1
    assert total(client.query(**request, ProjectionExpression="sk")) == 1
    assert total(client.query(**request, FilterExpression="attribute_not_exists(a)")) == 1
    nothing = {**request, "ExpressionAttributeValues": {":p": {"S": unique()}}}
    assert total(client.query(**nothing)) == 0.5
    assert total(client.query(**nothing, ConsistentRead=True)) == 1


def test_a_scan_costs_a_minimum_for_each_partition(client: Any) -> None:
    table = make_table(client, "pk")
    request = {"TableName": table, "ReturnConsumedCapacity": "TOTAL"}
    assert total(client.scan(**request)) == 2
    client.put_item(TableName=table, Item={"pk": {"S": "a"}})
    # A new on-demand table has four partitions.
    assert total(client.scan(**request)) == 2
    assert total(client.scan(**request, ConsistentRead=True)) == 4
    assert total(client.scan(**request, Select="COUNT")) == 2


def test_segments_cost_the_partitions_they_pass(client: Any) -> None:
    table = make_table(client, "pk")
    for total_segments, units in ((1, 2), (2, 1), (4, 0.5), (8, 0.5)):
        for segment in range(total_segments):
            answer = client.scan(
                TableName=table, Segment=segment, TotalSegments=total_segments, ReturnConsumedCapacity="TOTAL"
            )
            assert total(answer) == units


def test_a_scan_of_a_small_provisioned_table(client: Any) -> None:
    throughput = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    table = make_table(client, "pk", ProvisionedThroughput=throughput)
    request = {"TableName": table, "ReturnConsumedCapacity": "TOTAL"}
    assert total(client.scan(**request)) == 0.5
    for number in range(9):
        client.put_item(TableName=table, Item=sized(1000, {"pk": {"S": str(number)}}))
    assert total(client.scan(**request)) == 1.5  # 9000 bytes
    assert total(client.scan(**request, ConsistentRead=True)) == 3
    assert total(client.scan(**request, FilterExpression="attribute_not_exists(a)")) == 1.5
    assert total(client.scan(**request, Limit=4)) == 0.5


@pytest.mark.parametrize(("size", "units"), [(100, 1), (1024, 1), (1025, 2), (10_000, 10), (409_600, 400)])
def test_writes_are_charged_by_the_kilobyte(
    client: Any, hash_table: str, key: Item, size: int, units: int
) -> None:
    request = {"TableName": hash_table, "ReturnConsumedCapacity": "TOTAL"}
    assert total(client.put_item(**request, Item=sized(size, key))) == units
    # The larger image counts, whichever it is.
    assert total(client.put_item(**request, Item=key)) == units
    assert total(client.put_item(**request, Item=sized(size, key))) == units
    update = {"UpdateExpression": "SET b = :b", "ExpressionAttributeValues": {":b": {"BOOL": True}}}
    if size < 400_000:
        grown = -(-(size + 2) // 1024)
        assert total(client.update_item(**request, Key=key, **update)) == grown
        assert total(client.update_item(**request, Key=key, UpdateExpression="REMOVE a")) == grown
        client.put_item(TableName=hash_table, Item=sized(size, key))
    assert total(client.delete_item(**request, Key=key)) == units
    assert total(client.delete_item(**request, Key=key)) == 1


def test_an_update_that_makes_nothing_still_costs(client: Any, hash_table: str, key: Item) -> None:
    request = {"TableName": hash_table, "Key": key, "ReturnConsumedCapacity": "TOTAL"}
    assert total(client.update_item(**request, UpdateExpression="REMOVE a")) == 1
    assert total(client.update_item(**request)) == 1


@pytest.fixture(scope="module")
def table(client: Any) -> str:
    """A table with a local index that carries all, and global ones that carry keys, or `some`."""
    return make_table(
        client,
        "pk",
        "sk",
        types={"l": "S", "g": "S", "h": "S"},
        LocalSecondaryIndexes=[index("local", "pk", "l")],
        GlobalSecondaryIndexes=[
            index("keys", "g", projection="KEYS_ONLY"),
            index("some", "h", projection="INCLUDE", included=("some",)),
        ],
    )


@pytest.fixture
def full() -> Item:
    """The key of an item of that table."""
    return {"pk": {"S": unique()}, "sk": {"S": "s"}}


EVERYWHERE = {"l": {"S": "l"}, "g": {"S": "g"}, "h": {"S": "h"}, "some": {"S": "1"}}
ALL_ONCE = {"": 1, "local": 1, "keys": 1, "some": 1}


def put(client: Any, table: str, item: Item) -> dict[str, float]:
    return arms(client.put_item(TableName=table, Item=item, ReturnConsumedCapacity="INDEXES"))


def test_a_new_item_costs_a_write_in_each_index_it_is_in(client: Any, table: str, full: Item) -> None:
    assert put(client, table, full) == {"": 1}
    assert put(client, table, {**full, "g": {"S": "g"}}) == {"": 1, "keys": 1}
    client.delete_item(TableName=table, Key=full)
    assert put(client, table, {**full, **EVERYWHERE}) == ALL_ONCE


def test_total_adds_the_indexes_up(client: Any, table: str, full: Item) -> None:
    item = {**full, **EVERYWHERE}
    assert total(client.put_item(TableName=table, Item=item, ReturnConsumedCapacity="TOTAL")) == 4
    assert total(client.delete_item(TableName=table, Key=full, ReturnConsumedCapacity="TOTAL")) == 4


def test_an_identical_put_costs_the_table_only(client: Any, table: str, full: Item) -> None:
    item = {**full, **EVERYWHERE, "set": {"SS": ["a", "b"]}}
    put(client, table, item)
    assert put(client, table, item) == {"": 1}
    assert put(client, table, {**item, "set": {"SS": ["b", "a"]}}) == {"": 1}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("SET far = :v", {"": 1, "local": 1}),
        ("SET #some = :v", {"": 1, "local": 1, "some": 1}),
        ("SET g = :v", {"": 1, "local": 1, "keys": 2}),
        ("SET h = :v", {"": 1, "local": 1, "some": 2}),
        ("SET l = :v", {"": 1, "local": 2}),
        ("REMOVE g", {"": 1, "local": 1, "keys": 1}),
        ("REMOVE l", {"": 1, "local": 1}),
        ("REMOVE #some", {"": 1, "local": 1, "some": 1}),
        ("REMOVE absent", {"": 1}),
    ],
)
def test_an_update_costs_what_it_changes(
    client: Any, table: str, full: Item, change: str, expected: dict[str, float]
) -> None:
    put(client, table, {**full, **EVERYWHERE})
    more: dict[str, Any] = {}
    if "#some" in change:
        more["ExpressionAttributeNames"] = {"#some": "some"}
    if ":v" in change:
        more["ExpressionAttributeValues"] = {":v": {"S": "new"}}
    answer = client.update_item(
        TableName=table, Key=full, UpdateExpression=change, ReturnConsumedCapacity="INDEXES", **more
    )
    assert arms(answer) == expected


def test_a_delete_costs_a_write_in_each_index_the_item_was_in(client: Any, table: str, full: Item) -> None:
    put(client, table, {**full, **EVERYWHERE})
    request = {"TableName": table, "Key": full, "ReturnConsumedCapacity": "INDEXES"}
    assert arms(client.delete_item(**request)) == ALL_ONCE
    assert arms(client.delete_item(**request)) == {"": 1}


def test_an_index_is_charged_for_what_it_carries(client: Any, table: str, full: Item) -> None:
    large = {**full, **EVERYWHERE, "far": {"S": "x" * 3100}}
    assert put(client, table, large) == {"": 4, "local": 4, "keys": 1, "some": 1}
    large["some"] = {"S": "x" * 1950}
    # Nothing that `keys` carries has changed.
    assert put(client, table, large) == {"": 5, "local": 5, "some": 2}
    # Moving in an index is a delete and an insert, each rounded by itself.
    moved = {**full, **EVERYWHERE, "h": {"S": "elsewhere"}}
    assert put(client, table, moved) == {"": 5, "local": 5, "some": 3}


def test_a_query_of_an_index_costs_the_index(client: Any, table: str, full: Item) -> None:
    g = {"S": unique("g")}
    client.put_item(TableName=table, Item={**full, "g": g, "far": {"S": "x" * 9000}})
    request = {
        "TableName": table,
        "IndexName": "keys",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": g},
    }
    assert arms(client.query(**request, ReturnConsumedCapacity="INDEXES")) == {"": 0, "keys": 0.5}
    assert total(client.query(**request, ReturnConsumedCapacity="TOTAL")) == 0.5


def test_a_local_index_that_fetches_costs_the_table_too(client: Any) -> None:
    table = make_table(
        client,
        "pk",
        "sk",
        types={"l": "S"},
        LocalSecondaryIndexes=[index("local", "pk", "l", projection="KEYS_ONLY")],
    )
    pk = {"S": unique()}
    for number in range(3):
        item = {"pk": pk, "sk": {"S": str(number)}, "l": {"S": "l"}, "far": {"S": "x" * 5000}}
        client.put_item(TableName=table, Item=item)
    request = {
        "TableName": table,
        "IndexName": "local",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": pk},
        "ReturnConsumedCapacity": "INDEXES",
    }
    assert arms(client.query(**request)) == {"": 0, "local": 0.5}
    # Each item is rounded to 4 KB by itself: two units, half price.
    assert arms(client.query(**request, Select="ALL_ATTRIBUTES")) == {"": 3, "local": 0.5}
    assert arms(client.query(**request, ProjectionExpression="far")) == {"": 3, "local": 0.5}
    consistent = client.query(**request, Select="ALL_ATTRIBUTES", ConsistentRead=True)
    assert arms(consistent) == {"": 6, "local": 1}


def test_batch_writes_round_each_item(client: Any, table: str, hash_table: str) -> None:
    keys = [{"pk": {"S": unique()}, "sk": {"S": "s"}} for _ in range(2)]
    writes = {
        table: [
            {"PutRequest": {"Item": {**keys[0], **EVERYWHERE}}},
            {"PutRequest": {"Item": {**keys[1], "g": {"S": "g"}, "far": {"S": "x" * 1500}}}},
        ],
        hash_table: [{"DeleteRequest": {"Key": {"pk": {"S": unique()}}}}],
    }
    answer = client.batch_write_item(RequestItems=writes, ReturnConsumedCapacity="INDEXES")
    first, second = answer["ConsumedCapacity"]
    assert arms({"ConsumedCapacity": first}) == {"": 3, "local": 1, "keys": 2, "some": 1}
    assert second == {"TableName": hash_table, "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}
    answer = client.batch_write_item(RequestItems=writes, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"][0] == {"TableName": table, "CapacityUnits": 3.0}


def test_transactions_double_the_table_but_not_its_indexes(client: Any, table: str, full: Item) -> None:
    actions = [{"Put": {"TableName": table, "Item": {**full, **EVERYWHERE}}}]
    answer = client.transact_write_items(TransactItems=actions, ReturnConsumedCapacity="INDEXES")

    def both(units: float) -> dict[str, float]:
        return {"CapacityUnits": units, "WriteCapacityUnits": units}

    assert answer["ConsumedCapacity"] == [
        {
            "TableName": table,
            **both(5.0),
            "Table": both(2.0),
            "LocalSecondaryIndexes": {"local": both(1.0)},
            "GlobalSecondaryIndexes": {"keys": both(1.0), "some": both(1.0)},
        }
    ]


def test_every_action_of_a_transaction_is_a_write(client: Any, hash_table: str) -> None:
    keys = [{"pk": {"S": unique()}} for _ in range(4)]
    for each in keys[1:]:
        client.put_item(TableName=hash_table, Item=sized(1500, each))
    actions = [
        {"Put": {"TableName": hash_table, "Item": keys[0]}},
        {"Delete": {"TableName": hash_table, "Key": keys[1]}},
        {"Update": {"TableName": hash_table, "Key": keys[2], "UpdateExpression": "REMOVE a"}},
        {
            "ConditionCheck": {
                "TableName": hash_table,
                "Key": keys[3],
                "ConditionExpression": "attribute_exists(a)",
            }
        },
    ]
    answer = client.transact_write_items(TransactItems=actions, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [
        {"TableName": hash_table, "CapacityUnits": 14.0, "WriteCapacityUnits": 14.0}
    ]


def test_a_repeated_transaction_is_charged_as_reads(client: Any, hash_table: str) -> None:
    keys = [{"pk": {"S": unique()}} for _ in range(3)]
    client.put_item(TableName=hash_table, Item=sized(9000, keys[1]))
    actions = [
        {"Put": {"TableName": hash_table, "Item": sized(1500, keys[0])}},
        {"Delete": {"TableName": hash_table, "Key": keys[1]}},
    ]
    request = {
        "TransactItems": actions,
        "ClientRequestToken": unique("t"),
        "ReturnConsumedCapacity": "TOTAL",
    }
    first = client.transact_write_items(**request)["ConsumedCapacity"]
    assert first == [{"TableName": hash_table, "CapacityUnits": 22.0, "WriteCapacityUnits": 22.0}]
    # What it would cost to read in a transaction what was written, or deleted.
    again = client.transact_write_items(**request)["ConsumedCapacity"]
    assert again == [{"TableName": hash_table, "CapacityUnits": 8.0, "ReadCapacityUnits": 8.0}]


def test_reads_in_a_transaction(client: Any, hash_table: str, range_table: str) -> None:
    keys = [{"pk": {"S": unique()}} for _ in range(2)]
    client.put_item(TableName=hash_table, Item=sized(5000, keys[0]))
    gets = [{"Get": {"TableName": hash_table, "Key": each}} for each in keys]
    far = {"pk": {"S": "x"}, "sk": {"S": "y"}}
    gets.append({"Get": {"TableName": range_table, "Key": far, "ProjectionExpression": "a"}})
    answer = client.transact_get_items(TransactItems=gets, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [
        {"TableName": hash_table, "CapacityUnits": 6.0, "ReadCapacityUnits": 6.0},
        {"TableName": range_table, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0},
    ]
    answer = client.transact_get_items(TransactItems=gets[:1], ReturnConsumedCapacity="INDEXES")
    assert answer["ConsumedCapacity"][0]["Table"] == {"CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}


def test_item_collection_metrics(client: Any, table: str, full: Item, hash_table: str) -> None:
    request = {"TableName": table, "ReturnItemCollectionMetrics": "SIZE"}
    metrics = {"ItemCollectionKey": {"pk": full["pk"]}, "SizeEstimateRangeGB": [0.0, 1.0]}
    assert client.put_item(**request, Item=full)["ItemCollectionMetrics"] == metrics
    assert client.update_item(**request, Key=full)["ItemCollectionMetrics"] == metrics
    assert client.delete_item(**request, Key=full)["ItemCollectionMetrics"] == metrics
    assert "ItemCollectionMetrics" not in client.put_item(TableName=table, Item=full)
    plain = client.put_item(
        TableName=hash_table, Item={"pk": {"S": unique()}}, ReturnItemCollectionMetrics="SIZE"
    )
    assert "ItemCollectionMetrics" not in plain


def test_an_arn_is_echoed(client: Any, hash_table: str, key: Item) -> None:
    arn = client.describe_table(TableName=hash_table)["Table"]["TableArn"]
    answer = client.put_item(TableName=arn, Item=key, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"]["TableName"] == arn
    answer = client.get_item(TableName=arn, Key=key, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"]["TableName"] == arn
    answer = client.scan(TableName=arn, Limit=1, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"]["TableName"] == arn
    answer = client.batch_get_item(RequestItems={arn: {"Keys": [key]}}, ReturnConsumedCapacity="TOTAL")
    assert (answer["ConsumedCapacity"][0]["TableName"], answer["Responses"]) == (arn, {arn: [key]})
    answer = client.transact_get_items(
        TransactItems=[{"Get": {"TableName": arn, "Key": key}}], ReturnConsumedCapacity="TOTAL"
    )
    assert answer["ConsumedCapacity"][0]["TableName"] == arn
