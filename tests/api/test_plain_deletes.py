"""Deletes of which nobody asks for the item back leave and cost what all others do."""

from typing import Any

import pytest

from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Write
from hashrange.api.registry import DYNAMODB
from hashrange.api.results import PlainWritten
from hashrange.storage import layout
from new_tables import request as new_table

INDEX = {
    "IndexName": "by-a",
    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
CHANGES: dict[str, tuple[str, dict[str, Any]] | None] = {
    "none": None,
    "stream": ("UpdateTable", {"StreamSpecification": STREAM}),
    "index": (
        "UpdateTable",
        {
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "a")],
            "GlobalSecondaryIndexUpdates": [{"Create": INDEX}],
        },
    ),
    "expiry": ("UpdateTimeToLive", {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}),
}
LARGE = {"pk": {"S": "large"}, "a": {"S": "x" * 1500}, "t": {"N": "9"}}


def service_with_items() -> Clocked:
    service = Clocked()
    service.call("CreateTable", **new_table("pk", TableName="tab"))
    service.settle()
    for item in (LARGE, {"pk": {"S": "small"}, "a": {"S": "y"}}):
        service.call("PutItem", TableName="tab", Item=item)
    return service


def plan_of(service: Clocked, key: str, **more: Any) -> Write:
    operation = DYNAMODB.operations["DeleteItem"]
    body = {"TableName": "tab", "Key": {"pk": {"S": key}}, **more}
    plan = operation.handler(service.context, operation.shape.explain(body))
    assert isinstance(plan, Write)
    return plan


def left_by(key: str, change: tuple[str, dict[str, Any]] | None, **more: Any) -> tuple[object, ...]:
    """What is stored, and what was charged, if a table changes after a delete was planned."""
    service = service_with_items()
    plan = plan_of(service, key, **more)
    if change is not None:
        service.call(change[0], TableName="tab", **change[1])
    result = service.engine.write(plan.step)
    rows = service.engine.read(lambda reader: list(reader.scan(b"", b"\xff" * 9)))
    charges = [(charge.index and charge.index.name, charge.key, charge.units) for charge in result.charges()]
    described = service.call("DescribeTable", TableName="tab")["Table"]
    items = [row for row in rows if row[0].startswith(layout.ROWS)]
    return items, len(rows), charges, described["ItemCount"], described["TableSizeBytes"], list(plan.reads())


@pytest.mark.parametrize("key", ["large", "small", "missing"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_plain_delete_leaves_what_one_that_gives_the_item_back_leaves(key: str, change: Any) -> None:
    assert left_by(key, change) == left_by(key, change, ReturnValues="ALL_OLD")


def test_nothing_is_made_of_an_item_that_nobody_asks_for() -> None:
    service = service_with_items()
    for more in ({}, {"ReturnValues": "NONE"}, {"ReturnConsumedCapacity": "TOTAL"}):
        assert isinstance(service.engine.write(plan_of(service, "small", **more).step), PlainWritten)
    answer = service.call(
        "DeleteItem", TableName="tab", Key={"pk": {"S": "large"}}, ReturnConsumedCapacity="TOTAL"
    )
    assert answer == {"ConsumedCapacity": {"TableName": "tab", "CapacityUnits": 2.0}}


def test_a_table_that_is_deleted_meanwhile_is_not_found() -> None:
    service = service_with_items()
    plan = plan_of(service, "small")
    service.call("DeleteTable", TableName="tab")
    service.clock.advance(60)
    service.settle()
    with pytest.raises(ApiError, match="resource not found"):
        service.engine.write(plan.step)
