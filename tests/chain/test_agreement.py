"""A long run on simulated time: what answers report, metrics count, and buckets and heat are charged, agrees."""

import random
from collections import Counter
from typing import Any

import orjson
import pytest

from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.api.registry import DYNAMODB
from hashrange.api.results import Result
from hashrange.api.throttling.gate import Gate
from hashrange.capacity.admission import Admission
from hashrange.capacity.heat import Heat
from hashrange.capacity.observation import Observer
from hashrange.capacity.tallies import Tallies
from hashrange.chain.charge import Lane, Lanes
from hashrange.chain.executor import Call
from hashrange.core.schema import Table
from hashrange.storage.metric_flush import MetricFlusher
from hashrange.storage.metric_rows import read_series
from item_tables import index
from new_tables import request as new_table
from wire_units import reported

ACCOUNT, REGION = "000000000000", "us-east-1"
REQUESTS = 4_000
KEYS = 60
FIXED_UNITS = 3.0  # of the item that conditions fail on
Place = tuple[str, str | None, bool]  # table, global index, whether it is for writes
LOCAL = frozenset({"loc"})


class Observed(Clocked):
    """A service that enforces capacity, counts everything, and keeps account of what its answers say."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate(Admission(shared=True), self.clock, "enforce")
        self.context.gate = self.gate
        tallies = Tallies()
        self.observer = Observer(self.clock.now, tallies)
        self.flusher = MetricFlusher(self.engine, tallies, self.clock)
        self.heat = Heat()
        self.observer.subscribe(self.heat.observe)
        self._maker = Lanes(self.observer, self.clock)
        self._lanes: dict[str, Lane] = {}
        self.told: Counter[Place] = Counter()
        self.charged: Counter[Place] = Counter()
        self.heated: Counter[Place] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.began = self.clock.now()

    def run(self, operation: str, /, **request: Any) -> tuple[Call, Result]:
        call = self._call(operation, request)
        lane = self._lanes.get(operation)
        if lane is None:
            made = self._maker.lane(DYNAMODB, call.operation)
            assert made is not None
            lane = self._lanes[operation] = made
        try:
            _, result = super().run(operation, **request)
        except ApiError as error:
            lane.note(call, None, error, 0.0)
            raise
        lane.note(call, result, None, 0.0)
        return call, result

    def _call(self, operation: str, request: dict[str, Any]) -> Call:
        call = Call(DYNAMODB.operations[operation], self.context, None, orjson.dumps(request))
        call.decode()
        return call

    def ask(self, operation: str, *, write: bool, **request: Any) -> str:
        """Send a request, and write down what it says that it consumed; gives what came of it."""
        try:
            call, result = self.run(operation, **request, ReturnConsumedCapacity="INDEXES")
        except ApiError as error:
            self.outcomes[error.code] += 1
            return error.code
        for (table, name), units in reported(call, result).places.items():
            self.told[table, None if name in LOCAL else name, write] += units  # type: ignore[assignment]
        self.outcomes["ok"] += 1
        return "ok"

    def close_minute(self) -> None:
        """Go on to the next minute; what heat and buckets have of this one is added up."""
        self.observer.hand_over()
        now = self.clock.now()
        for table in self.catalogue.tables():
            for owner in (None, *table.global_indexes):
                for window in self.heat.windows(table, owner, now):
                    if window.minute != now // 60:
                        continue
                    for write in (False, True):
                        traffic = window.traffic(write=write)
                        assert sum(traffic.by_partition.values()) == pytest.approx(traffic.units)
                        self.heated[_place(table, None if owner is None else owner.name, write=write)] += (
                            traffic.units
                        )  # type: ignore[assignment]
        by_number = {table.number: table for table in self.catalogue.tables()}
        for charged in self.gate.take_charges():
            table = by_number[charged.table_number]
            names = {index.slot: index.name for index in table.global_indexes}
            self.charged[_place(table, names.get(charged.slot), write=charged.write)] += charged.units  # type: ignore[assignment]
        self.clock.advance(60)

    def counted(self) -> dict[Place, float]:
        """What the metrics have, read back from their rows."""
        self.flusher.finish()
        units = {}
        for table in self.catalogue.tables():
            for owner in (None, *table.global_indexes):
                for write in (False, True):
                    dimensions = {"TableName": table.name}
                    if owner is not None:
                        dimensions["GlobalSecondaryIndexName"] = owner.name
                    metric = f"Consumed{'Write' if write else 'Read'}CapacityUnits"
                    units[_place(table, None if owner is None else owner.name, write=write)] = self._sum(
                        metric, dimensions
                    )
        return units

    def _sum(self, metric: str, dimensions: dict[str, str]) -> float:
        end = self.clock.now() + 60
        points = self.engine.read(
            lambda reader: read_series(
                reader, ACCOUNT, REGION, metric, dimensions, self.began - 60, end, 60, now=0
            )
        )
        return sum(point.sum for point in points)


def _place(table: Table, name: str | None, *, write: bool) -> Place:
    return table.name, name, write


def units(reads: int, writes: int) -> dict[str, int]:
    return {"ReadCapacityUnits": reads, "WriteCapacityUnits": writes}


def create(service: Observed) -> None:
    throughput = {"ProvisionedThroughput": units(3_000, 3_000)}
    service.call(
        "CreateTable",
        **new_table(
            "pk",
            "sk",
            types={"g": "S", "l": "S"},
            TableName="wide",
            GlobalSecondaryIndexes=[index("glo", "g") | throughput],
            LocalSecondaryIndexes=[index("loc", "pk", "l", projection="KEYS_ONLY")],
            BillingMode="PROVISIONED",
            **throughput,
        ),
    )
    # So little that some requests are throttled, which must cost nothing.
    small: dict[str, Any] = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)}
    service.call("CreateTable", **new_table("pk", "sk", TableName="small", **small))
    service.call(
        "CreateTable",
        **new_table(
            "pk", "sk", types={"g": "S"}, TableName="free", GlobalSecondaryIndexes=[index("glo", "g", "sk")]
        ),
    )
    service.settle()
    specification = {"AttributeName": "ttl", "Enabled": True}
    service.call("UpdateTimeToLive", TableName="wide", TimeToLiveSpecification=specification)
    service.run_jobs()


class Load:
    """Random requests of every kind."""

    def __init__(self, service: Observed, seed: int) -> None:
        self._service = service
        self._random = random.Random(seed)
        self._tokens = 0
        self.kinds = [getattr(self, name) for name in dir(self) if name.startswith("do_")]

    def step(self) -> None:
        self._random.choice(self.kinds)()

    def table(self) -> str:
        return self._random.choice(["wide", "wide", "free", "small"])

    def key(self) -> dict[str, Any]:
        number = self._random.randrange(KEYS)
        return {"pk": {"S": f"p{number % 7}"}, "sk": {"S": f"s{number}"}}

    def item(self) -> dict[str, Any]:
        item = {**self.key(), "v": {"S": "x" * self._random.choice((5, 900, 1_100, 4_500, 9_000))}}
        for name in ("g", "l"):
            if self._random.random() < 0.6:
                item[name] = {"S": f"{name}{self._random.randrange(4)}"}
        if self._random.random() < 0.1:
            item["ttl"] = {"N": str(int(self._service.clock.now()) + 30)}
        return item

    def _ask(self, operation: str, write: bool, **request: Any) -> str:
        return self._service.ask(operation, write=write, **request)

    def do_get(self) -> None:
        consistent = self._random.random() < 0.5
        self._ask("GetItem", False, TableName=self.table(), Key=self.key(), ConsistentRead=consistent)

    def do_put(self) -> None:
        self._ask("PutItem", True, TableName=self.table(), Item=self.item())

    def do_update(self) -> None:
        values = {":g": {"S": f"g{self._random.randrange(4)}"}, ":n": {"N": "1"}}
        self._ask(
            "UpdateItem",
            True,
            TableName=self.table(),
            Key=self.key(),
            UpdateExpression="SET g = :g ADD n :n",
            ExpressionAttributeValues=values,
        )

    def do_delete(self) -> None:
        self._ask("DeleteItem", True, TableName=self.table(), Key=self.key())

    def do_fail(self) -> None:
        """A condition that fails is charged, and its error does not say how much."""
        table = self._random.choice(["wide", "free"])
        condition = {"ConditionExpression": "attribute_exists(nothing)"}
        operation = self._random.choice(["DeleteItem", "PutItem", "UpdateItem"])
        requests: dict[str, dict[str, Any]] = {
            "DeleteItem": {"Key": FIXED_KEY},
            "PutItem": {"Item": FIXED_KEY},
            "UpdateItem": {
                "Key": FIXED_KEY,
                "UpdateExpression": "SET a = :a",
                "ExpressionAttributeValues": {":a": {"S": "a"}},
            },
        }
        outcome = self._ask(operation, True, TableName=table, **requests[operation], **condition)
        if outcome == "ConditionalCheckFailedException":
            self._service.told[table, None, True] += FIXED_UNITS  # type: ignore[assignment]

    def do_query(self) -> None:
        table = self._random.choice(["wide", "free"])
        request: dict[str, Any] = {"TableName": table, "ScanIndexForward": self._random.random() < 0.5}
        which = self._random.randrange(3)
        if which == 0:
            request |= {"KeyConditionExpression": "pk = :k", "ConsistentRead": True}
            values = {":k": {"S": f"p{self._random.randrange(7)}"}}
        elif which == 1 or table == "free":
            request |= {"IndexName": "glo", "KeyConditionExpression": "g = :k", "Limit": 5}
            values = {":k": {"S": "g1"}}
        else:
            # The index lacks attributes, so that the items are fetched.
            request |= {"IndexName": "loc", "KeyConditionExpression": "pk = :k", "Select": "ALL_ATTRIBUTES"}
            values = {":k": {"S": f"p{self._random.randrange(7)}"}}
        self._ask("Query", False, **request, ExpressionAttributeValues=values)

    def do_scan(self) -> None:
        table = self._random.choice(["wide", "free"])
        more: dict[str, Any] = self._random.choice(
            [{}, {"IndexName": "glo"}, {"Limit": 7}, {"ConsistentRead": True}]
        )
        self._ask("Scan", False, TableName=table, **more)

    def do_batch_get(self) -> None:
        keys = {table: [dict(pair) for pair in self._keys(20)] for table in ("wide", "free", "small")}
        wanted = {table: {"Keys": own, "ConsistentRead": table == "free"} for table, own in keys.items()}
        self._ask("BatchGetItem", False, RequestItems=wanted)

    def _keys(self, count: int) -> list[dict[str, Any]]:
        found = {key["sk"]["S"]: key for key in (self.key() for _ in range(count))}
        return list(found.values())

    def do_batch_write(self) -> None:
        writes = {}
        for table in ("wide", "free", "small"):
            items = {
                item["sk"]["S"]: {"PutRequest": {"Item": item}} for item in (self.item() for _ in range(6))
            }
            writes[table] = list(items.values())
        self._ask("BatchWriteItem", True, RequestItems=writes)

    def do_transact_get(self) -> None:
        gets = [{"Get": {"TableName": self.table(), "Key": key}} for key in self._keys(4)]
        self._ask("TransactGetItems", False, TransactItems=gets)

    def do_transact_write(self) -> None:
        items = {item["sk"]["S"]: item for item in (self.item() for _ in range(3))}
        actions = [{"Put": {"TableName": self.table(), "Item": item}} for item in items.values()]
        check = {"TableName": "free", "Key": FIXED_KEY, "ConditionExpression": "attribute_exists(pk)"}
        self._tokens += 1
        request = {
            "TransactItems": [*actions, {"ConditionCheck": check}],
            "ClientRequestToken": f"token-{self._tokens}",
        }
        if self._ask("TransactWriteItems", True, **request) == "ok" and self._random.random() < 0.3:
            self._ask("TransactWriteItems", False, **request)  # a replay costs reads

    def do_select(self) -> None:
        table = self._random.choice(["wide", "free"])
        where = self._random.choice(
            ["", " WHERE pk = 'p1'", " WHERE pk IN ['p1', 'p2', 'p3']", " WHERE pk = 'p1' AND sk = 's1'"]
        )
        self._ask("ExecuteStatement", False, Statement=f"SELECT * FROM {table}{where}")

    def do_statement(self) -> None:
        key = self.key()
        pk, sk, table = key["pk"]["S"], key["sk"]["S"], self.table()
        where = f"WHERE pk = '{pk}' AND sk = '{sk}'"
        text = self._random.choice(
            [
                f"INSERT INTO {table} VALUE {{'pk': '{pk}', 'sk': 'n{self._random.random()}', 'g': 'g2'}}",
                f"UPDATE {table} SET g = 'g3' {where}",
                f"DELETE FROM {table} {where}",
            ]
        )
        if self._ask("ExecuteStatement", True, Statement=text) == "ConditionalCheckFailedException":
            # An UPDATE or DELETE of an item that is not there.
            self._service.told[table, None, True] += 1

    def do_batch_statements(self) -> None:
        reads = [
            {"Statement": f"SELECT * FROM {self.table()} WHERE pk = 'p1' AND sk = 's{number}'"}
            for number in range(9)
        ]
        self._ask("BatchExecuteStatement", False, Statements=reads)

    def do_statement_transaction(self) -> None:
        table = self._random.choice(["wide", "free"])
        numbers = [self._random.random() for _ in range(2)]
        texts = [
            f"INSERT INTO {table} VALUE {{'pk': 'p1', 'sk': 'n{number}', 'g': 'g2'}}" for number in numbers
        ]
        self._ask("ExecuteTransaction", True, TransactStatements=[{"Statement": text} for text in texts])
        reads = [f"SELECT * FROM {table} WHERE pk = 'p1' AND sk = 's{number}'" for number in range(2)]
        self._ask("ExecuteTransaction", False, TransactStatements=[{"Statement": text} for text in reads])


FIXED_KEY = {"pk": {"S": "fixed"}, "sk": {"S": "fixed"}}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_reports_metrics_buckets_and_heat_agree_to_the_unit() -> None:
    service = Observed()
    create(service)
    for table in ("wide", "free"):
        service.ask("PutItem", write=True, TableName=table, Item={**FIXED_KEY, "v": {"S": "x" * 2_900}})
    load = Load(service, seed=12)
    for number in range(REQUESTS):
        load.step()
        if number % 40 == 39:
            service.close_minute()
            service.run_jobs()  # which expire items, free of charge
    service.close_minute()
    assert service.outcomes["ok"] > REQUESTS / 2
    assert service.outcomes["ConditionalCheckFailedException"] > 50
    assert service.outcomes["ProvisionedThroughputExceededException"] > 50
    assert service.outcomes["TransactionCanceledException"] > 5
    told = {place: units for place, units in service.told.items() if units}
    assert len(told) == 10  # three tables and two indexes, reads and writes
    assert {place: units for place, units in service.counted().items() if units} == told
    assert +service.charged == told
    assert {place: units for place, units in service.heated.items() if units} == pytest.approx(told)
