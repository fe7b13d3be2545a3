"""What a lane notes of the calls of an operation, and how it is grouped when it is counted."""

from typing import Any

import pytest

from clocked import Clocked
from hashrange.api.registry import DYNAMODB
from hashrange.capacity.observation import Group, Observer
from hashrange.capacity.tallies import Tallies
from hashrange.chain.charge import Lane
from item_tables import index
from new_tables import request as new_table


def filled() -> Clocked:
    """Two tables that have the same name of everything but themselves."""
    service = Clocked()
    for name in ("one", "two"):
        indexes = [index("global", "a")]
        table = new_table("pk", types={"a": "S"}, TableName=name, GlobalSecondaryIndexes=indexes)
        service.call("CreateTable", **table)
        service.settle()
        for pk, text in (("small", "x"), ("large", "x" * 9_000)):
            item = {"pk": {"S": pk}, "a": {"S": "a"}, "text": {"S": text}}
            service.call("PutItem", TableName=name, Item=item)
    return service


def groups(service: Clocked, operation: str, *requests: dict[str, Any]) -> list[Group]:
    lane = Lane(DYNAMODB.operations[operation], Observer(service.clock.now, Tallies()), service.clock)
    for request in requests:
        call, result = service.run(operation, **request)
        lane.note(call, result, None, 0.0)
    counted = list(lane.groups())
    assert list(lane.groups()) == []
    return counted


def test_reads_of_two_tables_that_take_turns_are_counted_apart() -> None:
    requests = [{"TableName": name, "Key": {"pk": {"S": "small"}}} for name in ("one", "two", "one")]
    found = groups(filled(), "GetItem", *requests)
    assert [(group.table.name, len(group.keys), len(group.latencies)) for group in found] == [
        ("one", 2, 2),
        ("two", 1, 1),
    ]


def test_pages_of_indexes_of_the_same_name_are_counted_apart() -> None:
    query = {
        "IndexName": "global",
        "KeyConditionExpression": "a = :a",
        "ExpressionAttributeValues": {":a": {"S": "a"}},
    }
    found = groups(filled(), "Query", *({"TableName": name, **query} for name in ("one", "two", "two")))
    assert [(group.table.name, list(group.items)) for group in found] == [("one", [2]), ("two", [2, 2])]
    assert {group.index.name for group in found if group.index is not None} == {"global"}


@pytest.mark.parametrize(
    ("request_", "units"),
    [
        ({"Key": {"pk": {"S": "small"}}}, 0.5),
        ({"Key": {"pk": {"S": "none"}}, "ConsistentRead": True}, 1.0),
        ({"Key": {"pk": {"S": "large"}}}, 1.5),
        ({"Key": {"pk": {"S": "large"}}, "ConsistentRead": True, "ProjectionExpression": "pk"}, 3.0),
    ],
)
def test_a_read_is_counted_in_bulk_whatever_it_costs(request_: dict[str, Any], units: float) -> None:
    (group,) = groups(filled(), "GetItem", {"TableName": "one", **request_})
    assert (list(group.units), group.write, group.index) == ([units], False, None)
