"""Restores to a point in time: a random history, and at every second of it what a model was then."""

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clocked import Clocked
from hashrange import cli
from hashrange.core import partitions
from hashrange.core.keys import primary_key
from hashrange.core.mutation import DeleteCommand, Origin
from hashrange.core.schema import Table, changed
from hashrange.core.values import Item
from hashrange.jobs import piece_sizes
from hashrange.storage import catalogue, history, store
from hashrange.storage.engine import Engine
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.sqlite import SqliteEngine
from item_tables import index
from new_tables import request as new_table
from postgres_server import PostgresServer

State = dict[tuple[str, str], Item]
GSI = index("by-g", "g")


class World:
    """A table with sort keys and an index, its model, and the model at the end of every second."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.service = Clocked(engine, transition_ms=0)
        self.random = random.Random(seed)
        self.service.call(
            "CreateTable",
            **new_table("pk", "sk", TableName="tab", types={"g": "S"}, GlobalSecondaryIndexes=[GSI]),
        )
        self.service.settle()
        self.model: State = {}
        self.seconds: dict[int, State] = {}
        self.enabled_at = 0
        self.labels = 0

    # What happens in a second.

    def live(self) -> None:
        """Some writes within one second, at one or two times in it."""
        for _ in range(self.random.randrange(3)):
            self.random.choice([self.put, self.delete, self.update, self.transact, self.batch, self.expire])()
            if self.random.random() < 0.3:
                self.service.clock.advance(0.25)
        self.seconds[int(self.service.clock.now())] = dict(self.model)
        self.service.clock.advance(1 - self.service.clock.now() % 1)

    def key(self) -> tuple[str, str]:
        return f"p{self.random.randrange(6)}", f"s{self.random.randrange(4)}"

    def item(self, key: tuple[str, str]) -> Item:
        item: Item = {"pk": {"S": key[0]}, "sk": {"S": key[1]}, "v": {"N": str(self.random.randrange(9))}}
        if self.random.random() < 0.7:
            item["g"] = {"S": f"g{self.random.randrange(3)}"}
        return item

    def put(self) -> None:
        key = self.key()
        self.model[key] = self.item(key)
        self.service.call("PutItem", TableName="tab", Item=self.model[key])

    def delete(self) -> None:
        key = self.key()
        self.model.pop(key, None)
        self.service.call("DeleteItem", TableName="tab", Key=_key(key))

    def update(self) -> None:
        key = self.key()
        before = self.model.get(key, _key(key))
        count = int(before.get("n", {"N": "0"})["N"]) + 1
        self.model[key] = {**before, "n": {"N": str(count)}}
        self.service.call(
            "UpdateItem",
            TableName="tab",
            Key=_key(key),
            UpdateExpression="ADD n :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    def transact(self) -> None:
        actions: list[dict[str, Any]] = []
        for key in dict.fromkeys(self.key() for _ in range(4)):
            self.model[key] = self.item(key)
            actions.append({"Put": {"TableName": "tab", "Item": self.model[key]}})
        self.service.call("TransactWriteItems", TransactItems=actions)

    def batch(self) -> None:
        requests: list[dict[str, Any]] = []
        for key in dict.fromkeys(self.key() for _ in range(3)):
            if self.random.random() < 0.5:
                self.model.pop(key, None)
                requests.append({"DeleteRequest": {"Key": _key(key)}})
            else:
                self.model[key] = self.item(key)
                requests.append({"PutRequest": {"Item": self.model[key]}})
        self.service.call("BatchWriteItem", RequestItems={"tab": requests})

    def expire(self) -> None:
        """A delete as the expiry job makes it."""
        key = self.key()
        self.model.pop(key, None)
        row = primary_key.of_key(self.table, _key(key))
        if self.service.engine.read(lambda reader: store.read_item(reader, self.table, row)) is not None:
            origin = Origin(self.service.clock.now(), "ttl")
            self.service.engine.write(lambda tx: store.apply(tx, self.table, DeleteCommand(row), origin))

    # What happens to the table.

    def change_schema(self) -> None:
        self.random.choice([self.toggle_stream, self.split, self.roll, self.toggle_index])()
        self.service.run_jobs()

    def toggle_stream(self) -> None:
        wanted: dict[str, Any] = {"StreamEnabled": self.table.stream_view_type is None}
        if wanted["StreamEnabled"]:
            wanted["StreamViewType"] = self.random.choice(["KEYS_ONLY", "NEW_IMAGE", "NEW_AND_OLD_IMAGES"])
        self.service.call("UpdateTable", TableName="tab", StreamSpecification=wanted)

    def toggle_index(self) -> None:
        if self.table.indexes:
            update: dict[str, Any] = {"Delete": {"IndexName": "by-g"}}
        else:
            update = {"Create": GSI}
        self.service.call(
            "UpdateTable",
            TableName="tab",
            AttributeDefinitions=[{"AttributeName": "g", "AttributeType": "S"}],
            GlobalSecondaryIndexUpdates=[update],
        )

    def split(self) -> None:
        count = self.random.choice([2, 4, 8, 16])
        starts = sorted({*self.table.partitions, *partitions.even(count)})
        self.save(partitions=tuple(starts))

    def roll(self) -> None:
        self.save(roll=True)

    def save(self, *, roll: bool = False, **settings: Any) -> None:
        now = self.service.clock.now()
        after = changed(self.table, version=self.table.version + 1, **settings)
        self.service.engine.write(lambda tx: catalogue.save(tx, after, now, roll=roll))
        self.service.catalogue.refresh(*catalogue.address(after))

    @property
    def table(self) -> Table:
        found = self.service.catalogue.find("000000000000", "us-east-1", "tab")
        assert found is not None
        return found

    # Looking back.

    def enable(self) -> None:
        self.service.call(
            "UpdateContinuousBackups",
            TableName="tab",
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
        self.enabled_at = int(self.service.clock.now())
        self.seconds = {}

    def restored(self, second: int, name: str) -> State:
        """The items of a new table that is restored to a second, with writes going on meanwhile."""
        self.service.call(
            "RestoreTableToPointInTime", SourceTableName="tab", TargetTableName=name, RestoreDateTime=second
        )
        assert self.service.describe(name)["RestoreSummary"]["RestoreInProgress"]
        while self.service.restoring.step(self.service.clock.now()) < 1:
            self.live()
        assert self.service.describe(name)["TableStatus"] == "ACTIVE"
        found = self.service.call("Scan", TableName=name)["Items"]
        return {(item["pk"]["S"], item["sk"]["S"]): item for item in found}


def _key(key: tuple[str, str]) -> Item:
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def check(engine: Engine, seed: int, *, seconds: int, restores: int) -> None:
    world = World(engine, seed)
    for _ in range(10):
        world.live()
    world.enable()
    for number in range(seconds):
        world.live()
        if number % 7 == 3:
            world.change_schema()
    window = sorted(world.seconds)
    for number, second in enumerate(world.random.sample(window, restores)):
        assert world.restored(second, f"restored-{number}") == world.seconds[second], second


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "CHUNK_ROWS", 3)
    monkeypatch.setattr(piece_sizes, "rows_max", lambda _: 3)


@pytest.mark.parametrize("seed", range(4))
def test_a_restored_table_is_what_the_table_was(tmp_path: Path, seed: int) -> None:
    with closing(SqliteEngine.open(tmp_path / "data")) as engine:
        check(engine, seed, seconds=40, restores=5)
    assert cli.main(["verify", str(tmp_path / "data")]) == 0


@pytest.mark.slow
def test_the_same_on_postgresql(postgres: PostgresServer) -> None:
    with closing(PostgresEngine.open(postgres.url(), schema_name="restores")) as engine:
        check(engine, 9, seconds=25, restores=3)
