"""Pages that read several partitions: each of them is charged for what was read of it, and each must have capacity."""

from collections import Counter
from typing import Any

import msgspec
import pytest

from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.api.throttling.gate import Gate
from hashrange.capacity.admission import Admission
from hashrange.core import partitions
from hashrange.core.schema import Table
from hashrange.storage import catalogue
from new_tables import request as new_table
from schemas import item_key

ITEMS = 30
ITEM_BYTES = 20_000
SPLITS = (10, 25)  # the sort keys at which the collection is divided
UNITS = {0: 49.0, 1: 73.5, 2: 24.5}  # of the items before, between and behind them, consistent reads
KEY = {"S": "hot"}
CONDITION = {"KeyConditionExpression": "pk = :k", "ExpressionAttributeValues": {":k": KEY}}


class Divided(Clocked):
    """A table whose only item collection lies in three partitions."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Admission(shared=True)
        self.call(
            "CreateTable",
            **new_table(
                "pk", "sk", types={"sk": "N"}, TableName="ttt", BillingMode="PROVISIONED", **THROUGHPUT
            ),
        )
        self.settle()
        for number in range(ITEMS):
            item = {"pk": KEY, "sk": {"N": str(number)}, "v": {"S": "x" * (ITEM_BYTES - 10)}}
            self.call("PutItem", TableName="ttt", Item=item)
        self.split()
        self.context.gate = self.gate = Gate(self.model, self.clock, "enforce")

    def table(self) -> Table:
        table = self.catalogue.find("000000000000", "us-east-1", "ttt")
        assert table is not None
        return table

    def split(self) -> None:
        table = self.table()
        bounds = table.partitions
        for number in SPLITS:
            bounds = partitions.split_at(bounds, item_key(KEY, {"N": str(number)}))
        after = msgspec.structs.replace(table, partitions=bounds, version=table.version + 1)
        self.engine.write(lambda tx: catalogue.save(tx, after, self.clock.now()))
        self.catalogue.refresh(*catalogue.address(table))

    def charged(self) -> dict[int, float]:
        """Units by partition since the last call."""
        bounds = self.table().partitions
        units: Counter[int] = Counter()
        for charged in self.gate.take_charges():
            assert not charged.write
            units[partitions.number_of(bounds, charged.start)] += charged.units  # type: ignore[assignment]
        return dict(units)

    def exhaust(self, number: int) -> None:
        """Take all that a partition has, and more."""
        at = item_key(KEY, {"N": str(number)})
        self.model.charge(self.clock.now(), self.table(), None, at, 4_000, write=False)


THROUGHPUT = {"ProvisionedThroughput": {"ReadCapacityUnits": 3_000, "WriteCapacityUnits": 1_000}}
PAGES: list[tuple[str, dict[str, Any]]] = [
    ("Query", {"TableName": "ttt", **CONDITION}),
    ("Query", {"TableName": "ttt", **CONDITION, "ScanIndexForward": False}),
    ("Query", {"TableName": "ttt", **CONDITION, "Select": "COUNT"}),
    ("Scan", {"TableName": "ttt"}),
    ("ExecuteStatement", {"Statement": "SELECT * FROM ttt WHERE pk = 'hot'"}),
    ("ExecuteStatement", {"Statement": "SELECT * FROM ttt WHERE pk = 'hot' ORDER BY sk DESC"}),
    ("ExecuteStatement", {"Statement": "SELECT * FROM ttt"}),
]


@pytest.mark.parametrize(("operation", "request_"), PAGES)
def test_every_partition_is_charged_for_what_was_read_of_it(operation: str, request_: dict[str, Any]) -> None:
    service = Divided()
    for _ in range(2):
        answer = service.call(operation, **request_, ConsistentRead=True, ReturnConsumedCapacity="TOTAL")
        charged = service.charged()
        assert charged == pytest.approx(UNITS, abs=1)
        assert sum(charged.values()) == answer["ConsumedCapacity"]["CapacityUnits"]


@pytest.mark.parametrize(("operation", "request_"), PAGES)
@pytest.mark.parametrize("exhausted", [0, 15, 29])
def test_a_page_is_refused_if_one_of_its_partitions_has_no_capacity(
    operation: str, request_: dict[str, Any], exhausted: int
) -> None:
    service = Divided()
    service.exhaust(exhausted)
    service.charged()
    with pytest.raises(ApiError) as raised:
        service.call(operation, **request_)
    assert raised.value.code == "ProvisionedThroughputExceededException"
    reason = {"reason": "TableReadKeyRangeThroughputExceeded", "resource": service.table().arn}
    assert raised.value.fields == {"ThrottlingReasons": [reason]}
    assert service.charged() == {}, "what is refused costs nothing"
    service.clock.advance(2)
    service.call(operation, **request_)


@pytest.mark.parametrize(("operation", "request_"), PAGES)
def test_pages_are_refused_once_the_capacity_is_used_up(operation: str, request_: dict[str, Any]) -> None:
    service = Divided()
    pages = 0
    while pages < 100:
        try:
            service.call(operation, **request_, ConsistentRead=True)
        except ApiError as error:
            assert error.code == "ProvisionedThroughputExceededException"  # noqa: PT017 - what ends the loop
            break
        pages += 1
    # The partition in the middle serves 3,000 units at once, and each page takes about 74 of them.
    assert pages == 41


def test_a_query_for_one_item_is_refused_like_a_read() -> None:
    service = Divided()
    request = {"KeyConditionExpression": "pk = :k AND sk = :n", "ConsistentRead": True}
    values = {":k": KEY, ":n": {"N": "1"}}
    served = 0
    while served < 1_000:
        try:
            service.call("Query", TableName="ttt", **request, ExpressionAttributeValues=values)
        except ApiError:
            break
        served += 1
    assert served == 3_000 / 5


@pytest.mark.parametrize("operation", ["Query", "ExecuteStatement"])
def test_a_page_that_stays_in_one_partition_asks_only_for_that(operation: str) -> None:
    service = Divided()
    service.exhaust(29)
    values = {":k": KEY, ":n": {"N": "10"}}
    requests: dict[str, dict[str, Any]] = {
        "Query": {
            "TableName": "ttt",
            "KeyConditionExpression": "pk = :k AND sk < :n",
            "ExpressionAttributeValues": values,
        },
        "ExecuteStatement": {"Statement": "SELECT * FROM ttt WHERE pk = 'hot' AND sk < 10"},
    }
    answer = service.call(operation, **requests[operation])
    assert len(answer["Items"]) == 10


def test_a_select_goes_on_where_a_partition_had_no_capacity() -> None:
    service = Divided()
    service.call("PutItem", TableName="ttt", Item={"pk": {"S": "first"}, "sk": {"N": "1"}})
    service.exhaust(15)
    statement = {"Statement": "SELECT pk FROM ttt WHERE pk IN ['first', 'hot']"}
    first = service.call("ExecuteStatement", **statement)
    service.clock.advance(2)
    rest = service.call("ExecuteStatement", **statement, NextToken=first["NextToken"])
    assert len(first["Items"] + rest["Items"]) == ITEMS + 1
