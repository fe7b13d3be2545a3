"""An index that is filled while items change has exactly their entries, on every engine."""

import threading
from random import Random
from typing import Any

import pytest

from clocked import Clocked
from hashrange.core.keys import encoding
from hashrange.jobs import index_build
from hashrange.jobs.backfill import Backfill
from hashrange.storage import backfill_rows, layout, sorted_runs
from hashrange.storage.engine import Engine
from item_tables import definitions, index, key_schema

_ITEMS = 120
_Item = dict[str, Any]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes at which a hundred items are much."""
    monkeypatch.setattr(index_build, "_SLICE_ITEMS", 7)
    monkeypatch.setattr(index_build, "_CHUNK_ENTRIES_MIN", 5)
    monkeypatch.setattr(index_build, "_CHUNK_ENTRIES_MAX", 5)
    monkeypatch.setattr(index_build, "_ROUND_BYTES", 4000)
    monkeypatch.setattr(sorted_runs, "RUN_BYTES", 1000)


class Table:
    """A table of items that a test changes at random, and its index."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.service = Clocked(engine, transition_ms=0)
        self.random = Random(seed)
        self.service.call(
            "CreateTable",
            TableName="tab",
            KeySchema=key_schema("p"),
            AttributeDefinitions=definitions(p="S"),
            BillingMode="PAY_PER_REQUEST",
        )
        for number in range(_ITEMS):
            self.put(number)

    def put(self, number: int) -> None:
        item: _Item = {"p": {"S": str(number)}, "n": {"N": str(self.random.randrange(3))}}
        if self.random.random() < 0.9:
            item["g"] = {"S": f"g{self.random.randrange(5)}"}
        self.service.call("PutItem", TableName="tab", Item=item)

    def change(self) -> None:
        number = self.random.randrange(_ITEMS + 10)
        if self.random.random() < 0.3:
            self.service.call("DeleteItem", TableName="tab", Key={"p": {"S": str(number)}})
        else:
            self.put(number)

    def add_index(self, projection: str) -> None:
        self.service.call(
            "UpdateTable",
            TableName="tab",
            AttributeDefinitions=definitions(g="S"),
            GlobalSecondaryIndexUpdates=[{"Create": index("new", "g", projection=projection)}],
        )

    def step(self) -> bool:
        """A step of the backfill; false if there is nothing left to do."""
        return self.service.backfill.step(self.service.clock.now()) == 0.0

    def restart(self) -> None:
        self.service.backfill = Backfill(self.service.engine, self.service.catalogue)

    def check(self, projection: str) -> None:
        items = [item for item in self.scan() if "g" in item]
        names = {"p", "g"} if projection == "KEYS_ONLY" else {"p", "g", "n"}
        wanted = [{name: item[name] for name in item if name in names} for item in items]
        assert sorted(self.scan(IndexName="new"), key=str) == sorted(wanted, key=str)
        (described,) = self.service.describe("tab")["GlobalSecondaryIndexes"]
        assert (described["IndexStatus"], described["ItemCount"]) == ("ACTIVE", len(wanted))
        size = sum(
            len(name) + len(next(iter(item[name].values())))
            for item in wanted
            for name in item
            if name != "n"
        )
        size += sum(1 + (1 if item["n"]["N"] == "0" else 2) for item in wanted if "n" in item)
        assert described["IndexSizeBytes"] == size
        self.service.run_jobs()
        for prefix in (layout.BACKFILL, layout.REMOVED_ENTRY, layout.GARBAGE):
            assert self.rows(prefix) == 0

    def scan(self, **options: Any) -> list[_Item]:
        items: list[_Item] = self.service.call("Scan", TableName="tab", **options)["Items"]
        return items

    def rows(self, prefix: bytes) -> int:
        return self.service.engine.read(
            lambda reader: sum(1 for _ in reader.scan(prefix, encoding.prefix_end(prefix)))
        )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("projection", ["ALL", "KEYS_ONLY"])
@pytest.mark.parametrize("seed", range(3))
def test_items_may_change_between_any_two_steps(engine: Engine, projection: str, seed: int) -> None:
    table = Table(engine, seed)
    table.add_index(projection)
    while table.step():
        for _ in range(table.random.randrange(4)):
            table.change()
        if table.random.random() < 0.03:
            table.restart()
    table.check(projection)


@pytest.mark.usefixtures("small")
def test_items_may_change_beside_the_steps(engine: Engine) -> None:
    table = Table(engine, 5)
    table.add_index("ALL")
    is_filled = threading.Event()

    def fill() -> None:
        while table.step():
            pass
        is_filled.set()

    thread = threading.Thread(target=fill)
    thread.start()
    while not is_filled.is_set():
        table.change()
    thread.join()
    table.check("ALL")


@pytest.mark.usefixtures("small")
def test_a_round_that_was_written_is_not_read_again(engine: Engine) -> None:
    table = Table(engine, 6)
    table.add_index("ALL")
    (number,) = (stored.number for stored in table.service.catalogue.tables())

    def progress() -> backfill_rows.Progress:
        return engine.read(lambda reader: backfill_rows.read(reader, number, 1))

    percents = [0.0]
    while (now := progress()).start == layout.rows_prefix(number, layout.BASE_SLOT):
        assert table.step()
        percents.append(progress().percent)
    assert percents == sorted(percents)
    assert 0 < now.percent < 100
    table.restart()
    assert table.step()
    assert progress().start == now.start
    while table.step():
        pass
    table.check("ALL")


def test_progress_of_an_earlier_version_is_understood() -> None:
    service = Clocked()
    row = layout.rows_prefix(3, layout.BASE_SLOT) + b"\x40" + b"\0" * 7
    service.engine.write(lambda tx: tx.put(layout.backfill_key(3, 1), row))
    assert service.engine.read(lambda reader: backfill_rows.read(reader, 3, 1)) == backfill_rows.Progress(
        row, 25.0
    )


@pytest.mark.usefixtures("small")
def test_a_chunk_whose_commit_failed_is_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Clocked()
    table = Table(service.engine, 8)
    table.add_index("ALL")
    write, failures = table.service.engine.write, iter(range(10**6))

    def failing(step: Any) -> Any:
        if next(failures) % 3 == 1:
            raise OSError("no room")
        return write(step)

    with monkeypatch.context() as patched:
        patched.setattr(table.service.engine, "write", failing)
        is_going_on = True
        while is_going_on:
            try:
                is_going_on = table.step()
            except OSError:
                continue
    table.check("ALL")
