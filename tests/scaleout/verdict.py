"""The verdict on a run: nothing acknowledged is lost, nothing is half done, nothing is stale, indexes agree."""

import time
from typing import Any

from scaleout import linear, serial
from scaleout.history import Operation
from scaleout.load import (
    GROUPS,
    LIST_KEYS,
    LISTS,
    REGISTER_KEYS,
    REGISTERS,
    Load,
    names_of,
    register_key,
    value_of,
)
from scaleout.servers import Client


def check(load: Load, client: Client) -> None:
    """Read everything once more and see whether it can all be explained."""
    for key in REGISTER_KEYS:
        sent = time.monotonic()
        request = {"TableName": REGISTERS, "Key": register_key(key), "ConsistentRead": True}
        saw = value_of(client.post("GetItem", request).body)
        load.operations.append(Operation("get", key, sent, time.monotonic(), "done", saw=saw))
    wrong = linear.violations(load.operations)
    assert not wrong, {key: sorted(found, key=lambda each: each.sent)[-20:] for key, found in wrong.items()}
    written = {each.wrote for each in load.operations} | {None}
    assert set(load.eventual) <= written
    final = {key: names(client, key) for key in LIST_KEYS}
    assert serial.problems(load.transactions, final) == []
    check_indexes(client)


def names(client: Client, key: str) -> tuple[str, ...]:
    request = {"TableName": LISTS, "Key": {"pk": {"S": key}}, "ConsistentRead": True}
    return names_of(client.post("GetItem", request).body)


def check_indexes(client: Client) -> None:
    """Every index has what the table has, and the counters count it."""
    table = items(client, "Scan", ConsistentRead=True)
    found = []
    for group in range(GROUPS):
        value = {":g": {"S": f"g{group}"}}
        found += items(
            client,
            "Query",
            IndexName="by-group",
            KeyConditionExpression="#g = :g",
            ExpressionAttributeNames={"#g": "group"},
            ExpressionAttributeValues=value,
        )
    assert by_key(found) == by_key(table)
    assert by_key(items(client, "Scan", IndexName="by-value", ConsistentRead=True)) == by_key(table)
    described = client.post("DescribeTable", {"TableName": REGISTERS}).body["Table"]
    assert described["ItemCount"] == len(table)
    assert described["GlobalSecondaryIndexes"][0]["ItemCount"] == len(table)


def items(client: Client, operation: str, **request: Any) -> list[Any]:
    answer = client.post(operation, {"TableName": REGISTERS, **request})
    assert answer.status == 200, answer
    return list(answer.body["Items"])


def by_key(found: list[Any]) -> dict[str, Any]:
    assert len({each["pk"]["S"] for each in found}) == len(found)
    return {each["pk"]["S"]: each for each in found}
