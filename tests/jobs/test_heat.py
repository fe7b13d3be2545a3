"""Following heat: what workers have seen is written, read together, and changes the records of tables."""

from itertools import count
from typing import Any

import pytest

from capacity.load import Seen
from clocked import Clocked
from hashrange.capacity.heat import Heat
from hashrange.core.schema import Table, changed
from hashrange.jobs.heat import FollowHeat
from hashrange.storage import heat_rows
from hashrange.storage.engine import Reader
from hashrange.storage.heat_flush import HeatFlusher
from new_tables import request as new_table
from schemas import item_key

MINUTES = 6


@pytest.fixture
def service() -> Clocked:
    service = Clocked()
    service.call("CreateTable", **new_table("pk", "sk", TableName="tab", StreamSpecification=STREAM))
    service.settle()
    return service


STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


def record(service: Clocked) -> Table:
    table = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert table is not None
    return table


def heat_up(service: Clocked, *workers: HeatFlusher, heats: tuple[Heat, ...]) -> None:
    """Six minutes in which the items of one collection get 1,800 writes a second, half of them by each worker."""
    keys = [item_key({"S": "hot"}, {"S": f"{number * 7919 % 100:03}"}) for number in range(100)]
    numbers = count()
    for _ in range(MINUTES):
        for worker, heat in zip(workers, heats, strict=True):
            seen = [
                Seen(service.clock.now(), record(service), None, keys[next(numbers) % 100], write_units=units)
                for units in [1_800 * 60 / len(workers) / 300] * 300
            ]
            heat.observe(seen)
            worker.flush()
        service.clock.advance(60)


def flushers(service: Clocked, many: int) -> tuple[tuple[HeatFlusher, ...], tuple[Heat, ...]]:
    heats = tuple(Heat() for _ in range(many))
    return tuple(HeatFlusher(service.engine, heat) for heat in heats), heats


def test_what_two_workers_have_seen_splits_a_partition(service: Clocked) -> None:
    before = record(service)
    workers, heats = flushers(service, 2)
    heat_up(service, *workers, heats=heats)
    FollowHeat(service.engine, service.catalogue).step(service.clock.now())
    after = record(service)
    assert len(after.partitions) == len(before.partitions) + 1
    assert set(before.partitions) < set(after.partitions)
    (bound,) = set(after.partitions) - set(before.partitions)
    assert bound.startswith(item_key({"S": "hot"}, {"S": "0"})[:-1])
    # The stream has a shard for each part, and what is written and read goes on.
    assert after.log is not None
    assert after.log.starts == after.partitions
    for number in ("001", "099"):
        service.call("PutItem", TableName="tab", Item={"pk": {"S": "hot"}, "sk": {"S": number}})
    assert service.call("Scan", TableName="tab")["Count"] == 2
    assert _query(service)["Count"] == 2


def _query(service: Clocked) -> Any:
    return service.call(
        "Query",
        TableName="tab",
        KeyConditionExpression="pk = :p",
        ExpressionAttributeValues={":p": {"S": "hot"}},
    )


def test_one_half_of_the_traffic_alone_is_not_enough(service: Clocked) -> None:
    before = record(service)
    workers, heats = flushers(service, 3)
    heat_up(service, *workers[:1], heats=heats[:1])
    service.clock.advance(120)  # the heat is over before anybody looks
    FollowHeat(service.engine, service.catalogue).step(service.clock.now())
    assert record(service) is before


def test_a_split_is_stored(service: Clocked) -> None:
    workers, heats = flushers(service, 1)
    heat_up(service, *workers, heats=heats)
    job = FollowHeat(service.engine, service.catalogue)
    job.step(service.clock.now())
    split = record(service).partitions
    service.catalogue.reload()
    assert record(service).partitions == split
    # Each half had 900 units a second, which is hot as well; a quarter is not.
    counts = []
    for _ in range(3):
        job.step(service.clock.now())
        counts.append(len(record(service).partitions))
    assert counts == [7, 7, 7]
    assert set(split) < set(record(service).partitions)


def test_old_rows_and_those_of_deleted_tables_are_deleted(service: Clocked) -> None:
    workers, heats = flushers(service, 1)
    heat_up(service, *workers, heats=heats)
    place = (record(service).number, 0)
    job = FollowHeat(service.engine, service.catalogue)
    service.clock.advance(180)
    now = service.clock.now()
    assert service.engine.read(lambda reader: heat_rows.has_old(reader, place, now))
    job.step(now)
    assert not service.engine.read(lambda reader: heat_rows.has_old(reader, place, now))
    assert 0 < len(service.engine.read(lambda reader: heat_rows.read(reader, place, now))) < MINUTES
    service.call("DeleteTable", TableName="tab")
    service.settle()
    job.step(service.clock.now())
    assert service.engine.read(heat_rows.places) == []


def test_the_old_rows_of_many_tables_are_deleted_in_one_commit(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    heat = Heat()
    for number in range(15):
        gone = changed(record(service), number=record(service).number + number)
        heat.observe([Seen(service.clock.now(), gone, None, b"a" * 9, read_units=1.0)])
    HeatFlusher(service.engine, heat).flush()
    service.clock.advance(3600)
    writes: list[object] = []
    write = service.engine.write
    monkeypatch.setattr(service.engine, "write", lambda step: (writes.append(step), write(step)))
    FollowHeat(service.engine, service.catalogue).step(service.clock.now())
    assert len(writes) == 1
    assert service.engine.read(heat_rows.places) == []


def test_a_table_that_was_changed_meanwhile_is_left_for_the_next_round(service: Clocked) -> None:
    workers, heats = flushers(service, 1)
    heat_up(service, *workers, heats=heats)

    class Meddling(FollowHeat):
        def _follow(self, table: Table, *rest: Any) -> None:
            tags = [{"Key": "a", "Value": str(service.clock.now())}]
            service.call("TagResource", ResourceArn=table.arn, Tags=tags)
            super()._follow(table, *rest)

    Meddling(service.engine, service.catalogue).step(service.clock.now())
    assert len(record(service).partitions) == 4
    assert record(service).tags
    FollowHeat(service.engine, service.catalogue).step(service.clock.now())
    assert len(record(service).partitions) == 5


def test_more_windows_than_fit_one_transaction_are_written_in_several(service: Clocked) -> None:
    heat = Heat()
    table = record(service)
    for number in range(50):
        other = changed(table, number=table.number + number)
        heat.observe([Seen(service.clock.now(), other, None, b"a" * 9, read_units=1.0)])
    HeatFlusher(service.engine, heat).flush()
    assert len(service.engine.read(heat_rows.places)) == 50


def test_many_places_are_found_without_reading_all_rows(service: Clocked) -> None:
    heat = Heat()
    flusher = HeatFlusher(service.engine, heat)
    tables = [record(service)]
    for name in ("tab1", "tab2"):
        service.call("CreateTable", **new_table("pk", TableName=name))
        table = service.catalogue.find("000000000000", "us-east-1", name)
        assert table is not None
        tables.append(table)
    for minute in range(3):
        for table in tables:
            heat.observe([Seen(minute * 60.0, table, None, b"a" * 9, read_units=1.0)])
    flusher.flush()

    def read(reader: Reader) -> list[tuple[int, int]]:
        return heat_rows.places(reader)

    assert service.engine.read(read) == [(table.number, 0) for table in tables]
