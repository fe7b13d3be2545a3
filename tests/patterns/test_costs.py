"""What docs/patterns.md says about costs, measured."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from faulty_client import StillRunner
from hashrange.patterns import (
    AdjacencyList,
    Event,
    Idempotency,
    Leaderboard,
    Lock,
    OptimisticLock,
    Outbox,
    OutboxConsumer,
    Saga,
    SagaStep,
    ShardedCounter,
    ShardedWriter,
    Table,
    TimeBuckets,
    UniqueConstraint,
)
from hashrange.patterns.steps import Procedure
from item_tables import make_table, unique

_READS = {"get_item", "batch_get_item", "query", "scan", "transact_get_items"}


class Meter:
    """A client that asks for the consumed capacity and adds it up: units written and units read."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.written = self.read = 0.0

    def __getattr__(self, operation: str) -> Any:
        def send(**parameters: Any) -> Any:
            answer = getattr(self._client, operation)(**parameters, ReturnConsumedCapacity="TOTAL")
            consumed = answer["ConsumedCapacity"]
            parts = consumed if isinstance(consumed, list) else [consumed]
            units = sum(part["CapacityUnits"] for part in parts)
            if operation in _READS:
                self.read += units
            else:
                self.written += units
            return answer

        return send


class Metered:
    """Runs procedures, and says what they cost."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def cost(self, procedure: Procedure[Any]) -> tuple[float, float]:
        """Write units and read units."""
        meter = Meter(self._client)
        with StillRunner(meter) as runner:
            runner.run(procedure)
        return meter.written, meter.read


@pytest.fixture
def metered(client: Any) -> Metered:
    return Metered(client)


def test_sharding_and_counters(metered: Metered, table: Table) -> None:
    name, writer, counter = unique(), ShardedWriter(table, 8), ShardedCounter(table, 10)
    assert metered.cost(writer.put(name, "a", {})) == (1, 0)
    written, read = metered.cost(writer.query(name))
    assert written == 0
    assert read >= 8 / 2
    assert metered.cost(counter.add(name)) == (2, 0)
    assert metered.cost(counter.add_cheaply(name)) == (1, 0)
    assert metered.cost(counter.value(name)) == (0, 10)


def test_races_and_repetitions(metered: Metered, table: Table) -> None:
    name, item = unique(), table.key(unique(), "x")
    versions, keys, lock = OptimisticLock(table), Idempotency(table), Lock(table)
    assert metered.cost(versions.write(item, 0)) == (1, 0)
    assert metered.cost(versions.read(item)) == (0, 1)
    assert metered.cost(keys.once(name, [table.putting({**item, "sk": "y"})])) == (4, 0)
    assert metered.cost(keys.run(unique(), lambda: "done")) == (2, 0)
    assert metered.cost(lock.acquire(name)) == (1, 0)


def test_relations(metered: Metered, table: Table) -> None:
    name, users, graph = unique(), UniqueConstraint(table, ("email",)), AdjacencyList(table)
    assert metered.cost(users.create({**table.key(name, "x"), "email": name})) == (4, 0)
    assert metered.cost(users.replace({**table.key(name, "x"), "email": name + "b"})) == (6, 1)
    assert metered.cost(users.delete(table.key(name, "x"))) == (4, 1)
    assert metered.cost(graph.put_node(name + "a", {})) == (1, 0)
    assert metered.cost(graph.put_node(name + "b", {})) == (1, 0)
    assert metered.cost(graph.link(name + "a", "likes", name + "b")) == (8, 0)
    assert metered.cost(graph.unlink(name + "a", "likes", name + "b")) == (4, 0)


def test_messages(client: Any, metered: Metered) -> None:
    table = Table(make_table(client, "pk", "sk"))
    outbox = Outbox(table, shards=1)
    assert metered.cost(outbox.write([], [Event("a", 1, None)])) == (2, 0)
    assert metered.cost(OutboxConsumer(outbox).drain(0, lambda _: None))[0] == 1
    steps = [SagaStep(name, lambda _: None, lambda _: None) for name in "abc"]
    assert metered.cost(Saga(table, "s", steps).run("1")) == (5, 0)


def test_rankings_and_series(metered: Metered, table: Table) -> None:
    board, name, readings = Leaderboard(table), unique(), TimeBuckets(table)
    assert metered.cost(board.submit(name, "ann", 1)) == (4, 1)
    assert metered.cost(board.submit(name, "ann", 2)) == (6, 1)
    assert metered.cost(board.submit(name, "ann", 1)) == (0, 1)
    start = datetime(2026, 5, 1, tzinfo=UTC)
    assert metered.cost(readings.put(name, start, "e", {})) == (1, 0)
    assert metered.cost(readings.query(name, start, start + timedelta(days=3)))[1] <= 3
