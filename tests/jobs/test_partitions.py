"""Splitting: a table or index that has outgrown its partitions gets more of them, and never fewer."""

from typing import Any

import pytest

from clocked import Clocked
from hashrange.core import partitions
from hashrange.core.limits import PARTITION_BYTES
from hashrange.core.schema import Table
from hashrange.jobs import partitions as job
from hashrange.storage import layout
from item_tables import index
from new_tables import request as new_table

GB = 1024**3
UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}


@pytest.fixture
def service() -> Clocked:
    service = Clocked()
    create(service, "tab")
    create(
        service,
        "indexed",
        types={"g": "S", "h": "S", "sk": "S", "l": "S"},
        KeySchema=new_table("pk", "sk")["KeySchema"],
        LocalSecondaryIndexes=[index("local", "pk", "l")],
        GlobalSecondaryIndexes=[
            {**index(name, key), "ProvisionedThroughput": UNITS}
            for name, key in (("by-g", "g"), ("by-h", "h"))
        ],
    )
    service.settle()
    return service


def create(service: Clocked, name: str, **options: Any) -> None:
    provisioned: dict[str, Any] = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}
    service.call("CreateTable", **new_table("pk", TableName=name, **provisioned, **options))


def record(service: Clocked, name: str) -> Table:
    table = service.catalogue.find("000000000000", "us-east-1", name)
    assert table is not None
    return table


def grow(service: Clocked, table: Table, size: int, slot: int = layout.BASE_SLOT) -> None:
    service.engine.write(lambda tx: tx.add(layout.size_key(table.number, slot), size))


def counts(service: Clocked, name: str) -> dict[str | None, int]:
    """How many partitions a table and its indexes have."""
    table = record(service, name)
    return {None: len(table.partitions), **{index.name: len(index.partitions) for index in table.indexes}}


def test_a_table_of_25_gb_has_three_partitions(service: Clocked) -> None:
    before = record(service, "tab")
    grow(service, before, 25 * GB)
    service.run_jobs()
    after = record(service, "tab")
    assert counts(service, "tab") == {None: 3}
    assert counts(service, "indexed") == {None: 1, "local": 1, "by-g": 1, "by-h": 1}
    assert set(before.partitions) < set(after.partitions)  # they were split, not made anew
    assert after.version == before.version + 1


@pytest.mark.parametrize(
    ("size", "count"), [(0, 1), (PARTITION_BYTES, 1), (PARTITION_BYTES + 1, 2), (10 * PARTITION_BYTES, 10)]
)
def test_a_partition_holds_10_gb(service: Clocked, size: int, count: int) -> None:
    grow(service, record(service, "tab"), size)
    service.run_jobs()
    assert counts(service, "tab") == {None: count}


def test_each_global_index_is_split_by_its_own_size(service: Clocked) -> None:
    table = record(service, "indexed")
    slots = {index.name: index.slot for index in table.indexes}
    grow(service, table, 25 * GB, slots["by-g"])
    service.run_jobs()
    assert counts(service, "indexed") == {None: 1, "local": 1, "by-g": 3, "by-h": 1}
    grow(service, table, 15 * GB, slots["by-h"])
    grow(service, table, 35 * GB)
    grow(service, table, 500 * GB, slots["local"])
    service.run_jobs()
    # A local index lies in the partitions of its table.
    assert counts(service, "indexed") == {None: 4, "local": 1, "by-g": 3, "by-h": 2}
    assert len(partitions.of(record(service, "indexed"), record(service, "indexed").local_indexes[0])) == 4


def test_partitions_are_never_merged(service: Clocked) -> None:
    table = record(service, "tab")
    grow(service, table, 45 * GB)
    service.run_jobs()
    split = record(service, "tab")
    assert len(split.partitions) == 5
    grow(service, table, -45 * GB)
    service.run_jobs()
    assert record(service, "tab") is split
    grow(service, table, 15 * GB)
    service.run_jobs()
    assert record(service, "tab").partitions == split.partitions


def test_new_partitions_lie_within_old_ones(service: Clocked) -> None:
    table = record(service, "tab")
    bounds = {b""}
    for _ in range(6):
        grow(service, table, 15 * GB)
        service.run_jobs()
        now = record(service, "tab").partitions
        assert bounds <= set(now)
        assert list(now) == sorted(set(now))
        bounds = set(now)
    assert len(bounds) == 9


def test_throughput_and_size_ask_for_the_larger_of_the_two(service: Clocked) -> None:
    service.call("CreateTable", **new_table("pk", TableName="demand"))
    service.settle()
    assert counts(service, "demand") == {None: 4}
    grow(service, record(service, "demand"), 25 * GB)
    service.run_jobs()
    assert counts(service, "demand") == {None: 4}
    grow(service, record(service, "demand"), 25 * GB)
    service.run_jobs()
    assert counts(service, "demand") == {None: 5}


def test_scans_go_by_the_new_partitions(service: Clocked) -> None:
    for number in range(50):
        service.call("PutItem", TableName="tab", Item={"pk": {"S": str(number)}})
    grow(service, record(service, "tab"), 25 * GB)
    service.run_jobs()
    _, result = service.run("Scan", TableName="tab")
    charges = list(result.charges())
    assert [partitions.number_of(record(service, "tab").partitions, charge.key) for charge in charges] == [
        0,
        1,
        2,
    ]


def test_a_table_that_is_being_deleted_is_left_alone(service: Clocked) -> None:
    grow(service, record(service, "tab"), 25 * GB)
    service.call("DeleteTable", TableName="tab")
    service.splitting.step(service.clock.now())
    assert counts(service, "tab") == {None: 1}


def test_another_table_of_the_same_name_is_left_alone(service: Clocked) -> None:
    grow(service, record(service, "tab"), 25 * GB)
    planned = record(service, "tab")
    service.call("DeleteTable", TableName="tab")
    service.settle()
    create(service, "tab")
    service.settle()
    service.engine.write(lambda tx: job._split(tx, planned=planned, now=0.0))
    assert service.catalogue.refresh("000000000000", "us-east-1", "tab") is not None
    assert counts(service, "tab") == {None: 1}


def test_many_tables_are_looked_at_in_steps(service: Clocked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_CHUNK_TABLES", 2)
    for number in range(3):
        create(service, f"tab{number}")
    service.settle()
    service.run_jobs()
    for name in ("tab", "tab0", "tab2"):
        grow(service, record(service, name), 25 * GB)
    now = service.clock.now()
    assert [service.splitting.step(now) for _ in range(3)] == [0.0, 0.0, 60.0]
    assert {name: counts(service, name)[None] for name in ("tab", "tab0", "tab1", "tab2")} == {
        "tab": 3,
        "tab0": 3,
        "tab1": 1,
        "tab2": 3,
    }
