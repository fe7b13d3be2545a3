"""Items with a time to live, as clients see them: they are there until they are deleted, and then gone everywhere."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from item_tables import index, invalid, make_table, refused, unique

_PATIENCE_SECONDS = 60


def await_truth(truth: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not truth():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def switch(client: Any, name: str, attribute: str = "ttl", *, enabled: bool = True) -> None:
    specification = {"AttributeName": attribute, "Enabled": enabled}
    client.update_time_to_live(TableName=name, TimeToLiveSpecification=specification)


def seconds(delta: float) -> dict[str, str]:
    return {"N": str(int(time.time() + delta))}


def names(client: Any, table: str, **options: Any) -> set[str]:
    return {item["p"]["S"] for item in client.scan(TableName=table, **options)["Items"]}


def test_expired_items_go_from_the_table_and_its_indexes(client: Any) -> None:
    table = make_table(
        client,
        "p",
        "s",
        types={"g": "S", "l": "S"},
        LocalSecondaryIndexes=[index("loc", "p", "l")],
        GlobalSecondaryIndexes=[index("glo", "g")],
    )
    switch(client, table)
    for name, ttl in {
        "past": seconds(-60),
        "fraction": {"N": f"{time.time() - 60:.4f}"},
        "exponent": {"N": f"{int(time.time()) // 1000 - 1}e3"},
        "future": seconds(3600),
        "ancient": {"N": "1"},
        "text": {"S": str(int(time.time()) - 60)},
        "nested": {"M": {"ttl": seconds(-60)}},
        "milliseconds": {"N": str(int(time.time() - 60) * 1000)},
    }.items():
        item = {"p": {"S": name}, "s": {"S": "s"}, "g": {"S": "g"}, "l": {"S": "l"}, "ttl": ttl}
        client.put_item(TableName=table, Item=item)
    stay = {"future", "ancient", "text", "nested", "milliseconds"}
    await_truth(lambda: names(client, table, ConsistentRead=True) == stay)
    assert names(client, table, IndexName="loc") == names(client, table, IndexName="glo") == stay
    assert client.describe_table(TableName=table)["Table"]["ItemCount"] == len(stay)


def test_an_update_expires_an_item_and_a_transaction_saves_one(client: Any) -> None:
    table = make_table(client, "p")
    switch(client, table)
    for name in ("updated", "saved"):
        client.put_item(TableName=table, Item={"p": {"S": name}, "ttl": seconds(3600)})
    move = {
        "TableName": table,
        "UpdateExpression": "SET #t = :t",
        "ExpressionAttributeNames": {"#t": "ttl"},
    }
    client.transact_write_items(
        TransactItems=[
            {
                "Update": {
                    **move,
                    "Key": {"p": {"S": "saved"}},
                    "ExpressionAttributeValues": {":t": seconds(7200)},
                }
            },
            {
                "Update": {
                    **move,
                    "Key": {"p": {"S": "updated"}},
                    "ExpressionAttributeValues": {":t": seconds(-5)},
                }
            },
        ]
    )
    await_truth(lambda: names(client, table, ConsistentRead=True) == {"saved"})


def test_every_way_to_write_makes_items_expire(client: Any) -> None:
    table = make_table(client, "p")
    switch(client, table)
    past = seconds(-60)
    batch = [{"PutRequest": {"Item": {"p": {"S": f"batch{n}"}, "ttl": past}}} for n in range(25)]
    client.batch_write_item(RequestItems={table: batch})
    client.transact_write_items(
        TransactItems=[{"Put": {"TableName": table, "Item": {"p": {"S": "transaction"}, "ttl": past}}}]
    )
    client.execute_statement(
        Statement=f"INSERT INTO \"{table}\" VALUE {{'p': 'statement', 'ttl': {past['N']}}}"
    )
    client.put_item(TableName=table, Item={"p": {"S": "kept"}})
    await_truth(lambda: names(client, table, ConsistentRead=True) == {"kept"})


def test_items_that_were_there_before_expire_and_those_of_a_table_without_ttl_stay(client: Any) -> None:
    with_ttl, without = make_table(client, "p"), make_table(client, "p")
    for table in (with_ttl, without):
        for number in range(30):
            client.put_item(TableName=table, Item={"p": {"S": str(number)}, "ttl": seconds(-60)})
    switch(client, with_ttl)
    await_truth(lambda: names(client, with_ttl, ConsistentRead=True) == set())
    assert len(names(client, without)) == 30


def test_the_attribute_may_be_a_key(client: Any) -> None:
    table = make_table(client, "p", "ttl", types={"ttl": "N"})
    switch(client, table)
    client.put_item(TableName=table, Item={"p": {"S": "gone"}, "ttl": seconds(-60)})
    client.put_item(TableName=table, Item={"p": {"S": "stays"}, "ttl": seconds(3600)})
    await_truth(lambda: names(client, table, ConsistentRead=True) == {"stays"})
    of_strings = make_table(client, "ttl")
    switch(client, of_strings)
    client.put_item(TableName=of_strings, Item={"ttl": {"S": "1"}})


def test_the_setting_can_be_changed_while_the_table_is_updated_and_at_once_again(client: Any) -> None:
    table = make_table(client, "p")
    client.update_table(
        TableName=table,
        AttributeDefinitions=[{"AttributeName": "g", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": index("glo", "g")}],
    )
    for _ in range(3):
        switch(client, table)
        switch(client, table, enabled=False)
    switch(client, table, "other")
    client.put_item(TableName=table, Item={"p": {"S": "one"}, "ttl": seconds(-60), "g": {"S": "g"}})
    client.put_item(TableName=table, Item={"p": {"S": "two"}, "other": seconds(-60)})
    await_truth(lambda: names(client, table, ConsistentRead=True) == {"one"})
    message = invalid(
        client.update_time_to_live,
        TableName=table,
        TimeToLiveSpecification={"AttributeName": "ttl", "Enabled": False},
    )
    assert message == "TimeToLive is active on a different AttributeName: current AttributeName is other"


@pytest.mark.parametrize("specification", [{"AttributeName": "ttl"}, {"Enabled": True}, {}])
def test_what_is_missing_is_said_before_the_table_is_looked_up(client: Any, specification: Any) -> None:
    code, message = refused(
        client.update_time_to_live, TableName=unique("none"), TimeToLiveSpecification=specification
    )
    assert code == "ValidationException"
    assert "Member must not be null" in message
