"""What is charged: exactly what answers report, in one process and by several that tell each other."""

from collections import Counter
from typing import Any

import pytest

from guarded_table import GuardedTable
from hashrange.api.errors import ApiError
from hashrange.api.throttling.gate import Gate
from hashrange.capacity.admission import Admission
from hashrange.chain.charge_exchange import ChargeExchange
from hashrange.core.schema import Table
from hashrange.storage import charge_rows
from wire_units import reported
from wiring import eventually


class Guarded(GuardedTable[Admission]):
    """A service that enforces capacity, with a table of 10 units."""

    def __init__(self, units: int = 10) -> None:
        super().__init__(Admission(shared=True), units)

    def table(self) -> Table:
        table = self.catalogue.find("000000000000", "us-east-1", "ttt")
        assert table is not None
        return table

    def flush(self) -> None:
        """Wait for the writes that were submitted."""
        self.engine.write(lambda _: None)

    def charged(self) -> Counter[tuple[str | None, bool]]:
        """Units by index and kind since the last call."""
        names = {index.slot: index.name for index in self.table().indexes}
        units: Counter[tuple[str | None, bool]] = Counter()
        for charged in self.gate.take_charges():
            units[names.get(charged.slot), charged.write] += charged.units  # type: ignore[assignment]
        return units


def item(pk: str, size: int = 10) -> dict[str, Any]:
    return {"pk": {"S": pk}, "a": {"S": "a"}, "v": {"S": "x" * size}}


KEY = {"pk": {"S": "0"}}
REQUESTS: list[tuple[str, bool, dict[str, Any]]] = [
    ("GetItem", False, {"TableName": "ttt", "Key": KEY}),
    ("GetItem", False, {"TableName": "ttt", "Key": {"pk": {"S": "large"}}, "ConsistentRead": True}),
    ("Scan", False, {"TableName": "ttt"}),
    ("Scan", False, {"TableName": "ttt", "IndexName": "ggg"}),
    ("BatchGetItem", False, {"RequestItems": {"ttt": {"Keys": [KEY, {"pk": {"S": "none"}}]}}}),
    ("TransactGetItems", False, {"TransactItems": [{"Get": {"TableName": "ttt", "Key": KEY}}]}),
    ("ExecuteStatement", False, {"Statement": "SELECT * FROM ttt"}),
    ("BatchExecuteStatement", False, {"Statements": [{"Statement": "SELECT * FROM ttt WHERE pk = '0'"}]}),
    ("PutItem", True, {"TableName": "ttt", "Item": item("new", 5000)}),
    (
        "UpdateItem",
        True,
        {
            "TableName": "ttt",
            "Key": KEY,
            "UpdateExpression": "SET a = :b",
            "ExpressionAttributeValues": {":b": {"S": "b"}},
        },
    ),
    ("DeleteItem", True, {"TableName": "ttt", "Key": {"pk": {"S": "large"}}}),
    ("BatchWriteItem", True, {"RequestItems": {"ttt": [{"PutRequest": {"Item": item("1", 3000)}}]}}),
    ("TransactWriteItems", True, {"TransactItems": [{"Put": {"TableName": "ttt", "Item": item("2")}}]}),
    ("ExecuteStatement", True, {"Statement": "INSERT INTO ttt VALUE {'pk': 'inserted', 'a': 'c'}"}),
]


@pytest.mark.parametrize(("operation", "write", "request_"), REQUESTS)
def test_what_is_charged_is_what_the_answer_reports(
    operation: str, write: bool, request_: dict[str, Any]
) -> None:
    service = Guarded(1000)
    for pk, size in (("0", 10), ("large", 9000)):
        service.call("PutItem", TableName="ttt", Item=item(pk, size))
    service.gate.take_charges()
    for _ in range(3):  # the first asks, the others spend what was lent
        if operation == "ExecuteStatement" and write:
            service.call("DeleteItem", TableName="ttt", Key={"pk": {"S": "inserted"}})
            service.gate.take_charges()
        call, result = service.run(operation, **request_, ReturnConsumedCapacity="INDEXES")
        places = {
            (index_name, write): units for (_, index_name), units in reported(call, result).places.items()
        }
        assert +service.charged() == places


def test_processes_hear_what_others_charge() -> None:
    service = Guarded()
    here = ChargeExchange(service.engine, service.catalogue, service.gate, service.clock)
    other_gate = Gate(Admission(shared=True), service.clock, "enforce")
    there = ChargeExchange(service.engine, service.catalogue, other_gate, service.clock)
    table = service.table()
    assert other_gate.read_refusal(table, None, b"k") is None
    while True:
        try:
            service.call("PutItem", TableName="ttt", Item={"pk": {"S": "k"}, "v": {"S": "x" * 20_000}})
        except ApiError as error:
            assert error.code == "ProvisionedThroughputExceededException"  # noqa: PT017 - what ends the loop
            break
    assert other_gate.write_refusal(table, b"k") is None
    here.turn()
    service.flush()
    there.turn()
    assert eventually(lambda: other_gate.write_refusal(table, b"k") is not None)
    there.turn()
    service.flush()
    assert len(service.engine.read(charge_rows.read)) == 1  # what is absorbed is not told again


def test_old_turns_are_not_charged_and_rows_of_the_dead_go() -> None:
    service = Guarded()
    here = ChargeExchange(service.engine, service.catalogue, service.gate, service.clock)
    service.call("PutItem", TableName="ttt", Item={"pk": {"S": "k"}, "v": {"S": "x" * 300_000}})
    service.call("PutItem", TableName="ttt", Item={"pk": {"S": "k"}, "v": {"S": "x" * 390_000}})
    here.turn()
    service.flush()
    service.clock.advance(11)
    other_gate = Gate(Admission(shared=True), service.clock, "enforce")
    there = ChargeExchange(service.engine, service.catalogue, other_gate, service.clock)
    there.turn()
    service.flush()
    assert other_gate.write_refusal(service.table(), b"k") is None
    service.clock.advance(600)
    there.turn()
    assert eventually(lambda: service.engine.read(charge_rows.read) == {})
