"""Requests that spend what was lent to their partition: they are charged what they cost, as those that ask."""

from typing import Any

import orjson
import pytest

from guarded_table import GuardedTable
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Write
from hashrange.api.registry import DYNAMODB
from hashrange.capacity.admission import Admission
from hashrange.capacity.limits import Limit
from hashrange.chain.executor import Call
from hashrange.core.schema import Index, Table

ROUNDS = 20
PARTITION_WRITES = 1_000  # units per second, of which a second's worth is kept


class AskedAdmission(Admission):
    """Counts the questions."""

    asked = 0

    def refused(
        self, now: float, table: Table, index: Index | None, key: bytes, *, write: bool
    ) -> tuple[Limit, ...]:
        self.asked += 1
        return super().refused(now, table, index, key, write=write)


class Lending(GuardedTable[AskedAdmission]):
    """A table of one partition, with an index."""

    def __init__(self, units: int = 1000) -> None:
        super().__init__(AskedAdmission(shared=True), units)
        self.call("PutItem", TableName="ttt", Item=item("small"))
        self.call("PutItem", TableName="ttt", Item=item("large", "x" * 9_000))
        self.call("GetItem", TableName="ttt", Key=key("small"))

    def charged(self) -> float:
        """Units of table and index, reads and writes, since the last call."""
        return sum(charged.units for charged in self.gate.take_charges())


def key(pk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}}


def item(pk: str, text: str = "x", **more: str) -> dict[str, Any]:
    return {name: {"S": value} for name, value in {"pk": pk, "v": text, **more}.items()}


_VALUE = {"ExpressionAttributeValues": {":v": {"S": "y" * 3_000}}}
_QUERY = {
    "KeyConditionExpression": "pk = :k",
    "ExpressionAttributeValues": {":k": {"S": "large"}},
}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a small item": ("GetItem", {"Key": key("small")}),
    "consistent": ("GetItem", {"Key": key("small"), "ConsistentRead": True}),
    "no item": ("GetItem", {"Key": key("none")}),
    "a large item": ("GetItem", {"Key": key("large")}),
    "a part of a large item": ("GetItem", {"Key": key("large"), "ProjectionExpression": "pk"}),
    "a page": ("Query", _QUERY),
    "a filtered page": ("Query", {**_QUERY, "FilterExpression": "v = :k"}),
    "a scan": ("Scan", {"ConsistentRead": True}),
    "put": ("PutItem", {"Item": item("new", "x" * 2_500)}),
    "update": ("UpdateItem", {"Key": key("small"), "UpdateExpression": "SET w = :v", **_VALUE}),
    "delete": ("DeleteItem", {"Key": key("none")}),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_what_is_lent_is_charged_as_the_client_is_told(name: str) -> None:
    operation, request = REQUESTS[name]
    service = Lending()
    service.charged()
    told = 0.0
    asked = service.model.asked
    for _ in range(ROUNDS):
        answer = service.call(operation, TableName="ttt", ReturnConsumedCapacity="TOTAL", **request)
        told += answer["ConsumedCapacity"]["CapacityUnits"]
    assert service.model.asked - asked < ROUNDS
    assert service.charged() == told


def test_index_rows_are_charged_beside_what_is_lent() -> None:
    service = Lending()
    service.charged()
    told = 0.0
    for number in range(ROUNDS):
        row = item("small", a=str(number))
        answer = service.call("PutItem", TableName="ttt", ReturnConsumedCapacity="TOTAL", Item=row)
        told += answer["ConsumedCapacity"]["CapacityUnits"]
    assert service.charged() == told > ROUNDS


def test_a_failed_condition_is_charged_beside_what_is_lent() -> None:
    service = Lending()
    service.charged()
    for _ in range(ROUNDS):
        with pytest.raises(ApiError):
            service.call(
                "PutItem",
                TableName="ttt",
                Item=item("small"),
                ConditionExpression="attribute_not_exists(pk)",
            )
    assert service.charged() == ROUNDS


def test_a_write_that_is_run_again_is_charged_once() -> None:
    service = Lending()
    service.charged()
    service.call("PutItem", TableName="ttt", Item=item("small"))  # whose partition is lent something
    service.charged()
    service.call("PutItem", TableName="ttt", Item=item("small"))
    assert service.charged() == 1
    service.call("PutItem", TableName="ttt", Item=item("small"))
    call = _call(service, "PutItem", {"TableName": "ttt", "Item": item("small", "x" * 2_500)})
    plan = call.plan()
    assert isinstance(plan, Write)
    for _ in range(3):
        service.engine.write(plan.step)
    assert service.charged() == 1 + 3


def test_lent_capacity_ends_with_that_of_the_partition() -> None:
    service = Lending()
    units, admitted = 0.0, 0
    while not (refusal := _refusal(service, "x" * 50_000)):
        units, admitted = units + 49, admitted + 1
    assert refusal == "ProvisionedThroughputExceededException"
    # One request may overdraw the bucket, and no other is admitted until that is made up for.
    assert PARTITION_WRITES <= units + 11 < PARTITION_WRITES + 49
    assert service.model.asked < admitted


def test_a_write_that_costs_more_than_was_lent_is_charged_at_once() -> None:
    """Charged when its partition is next asked for, it would be taken from a bucket that is full again."""
    service = Lending()
    service.call("PutItem", TableName="ttt", Item=item("small"))
    service.model.take_charges()
    service.call("PutItem", TableName="ttt", Item=item("huge", "x" * 300_000))
    assert sum(charged.units for charged in service.model.take_charges()) > 290


def _refusal(service: Lending, text: str) -> str | None:
    try:
        service.call("PutItem", TableName="ttt", Item=item("huge", text))
    except ApiError as error:
        return error.code
    return None


def _call(service: Lending, name: str, request: dict[str, Any]) -> Call:
    return Call(DYNAMODB.operations[name], service.context, None, orjson.dumps(request))
