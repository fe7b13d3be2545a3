"""Expire items: bounded chunks, table by table in turn, and nothing that is wrong with one item holds up the others."""

from pathlib import Path
from typing import Any

import pytest

from clocked import MIDNIGHT, Clocked
from hashrange.core.change_record import ChangeRecord, decode
from hashrange.core.keys import encoding
from hashrange.core.schema import changed
from hashrange.storage import appends, catalogue, layout, store
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.schema import PAGE_BYTES
from item_tables import definitions, index, key_schema
from storage.damage import flip, pages_with, run_sql

EXPIRED = {"N": str(int(MIDNIGHT) - 10)}


def create(service: Clocked, name: str = "tab", *, ttl: bool = True) -> None:
    service.call(
        "CreateTable",
        TableName=name,
        KeySchema=key_schema("p"),
        AttributeDefinitions=definitions(p="S"),
        BillingMode="PAY_PER_REQUEST",
    )
    service.settle()
    if ttl:
        switch(service, name)
        service.run_jobs()


def switch(service: Clocked, name: str = "tab", *, enabled: bool = True) -> None:
    specification = {"AttributeName": "ttl", "Enabled": enabled}
    service.call("UpdateTimeToLive", TableName=name, TimeToLiveSpecification=specification)


def fill(service: Clocked, count: int, name: str = "tab", text: str = "") -> None:
    for number in range(count):
        item = {"p": {"S": str(number)}, "ttl": EXPIRED, "text": {"S": f"{text}<{number}>" * 40}}
        service.call("PutItem", TableName=name, Item=item)


def count(service: Clocked, name: str = "tab") -> int:
    return int(service.call("Scan", TableName=name, Select="COUNT")["Count"])


def table(service: Clocked, name: str = "tab") -> Any:
    return service.catalogue.find("000000000000", "us-east-1", name)


def test_a_step_deletes_a_chunk_of_one_table_and_the_tables_take_turns() -> None:
    service = Clocked()
    for name in ("one", "two"):
        create(service, name)
    for name in ("one", "two"):
        fill(service, 250, name)
    pause = service.expire.step(service.clock.now())
    assert sorted((count(service, "one"), count(service, "two"))) == [150, 250]
    assert 0 < pause <= 0.5
    service.expire.step(service.clock.now())
    assert (count(service, "one"), count(service, "two")) == (150, 150)
    service.run_jobs()
    assert (count(service, "one"), count(service, "two")) == (0, 0)


def test_it_rests_when_no_table_has_ttl_and_looks_every_few_seconds_otherwise() -> None:
    service = Clocked()
    create(service, ttl=False)
    assert service.expire.step(service.clock.now()) == 60
    switch(service)
    assert 1 <= service.expire.step(service.clock.now()) <= 10


def test_a_lag_makes_it_as_late_as_the_service() -> None:
    service = Clocked(ttl_lag=48 * 3600)
    create(service)
    fill(service, 1)
    service.clock.advance(48 * 3600 - 12)  # two seconds have passed already
    service.run_jobs()
    assert count(service) == 1
    service.clock.advance(1)
    service.run_jobs()
    assert count(service) == 0


def test_items_put_into_the_past_are_found_behind_the_others() -> None:
    service = Clocked()
    create(service)
    fill(service, 150)
    service.expire.step(service.clock.now())
    older = {"p": {"S": "older"}, "ttl": {"N": str(int(MIDNIGHT) - 10_000)}}
    service.call("PutItem", TableName="tab", Item=older)
    service.run_jobs()
    service.run_jobs()
    assert count(service) == 0


def test_the_change_log_says_that_ttl_has_made_a_deletion() -> None:
    service = Clocked()
    create(service)
    stream = {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"}
    service.call("UpdateTable", TableName="tab", StreamSpecification=stream)
    service.settle()
    fill(service, 1)
    service.run_jobs()

    def records(reader: Any) -> list[ChangeRecord]:
        start, end = layout.LOG, encoding.prefix_end(layout.LOG)
        return [decode(row[appends.TIME_BYTES :]) for _, row in reader.scan(start, end)]

    put, removal = service.engine.read(records)
    assert (put.event, put.actor) == ("INSERT", "client")
    assert (removal.event, removal.actor, removal.key) == ("REMOVE", "ttl", put.key)
    assert removal.before is not None


def damage_row(directory: Path) -> None:
    run_sql(
        directory,
        "UPDATE rows SET v = CAST(substr(v, 1, 30) || x'7f' || substr(v, 32) AS BLOB) "
        "WHERE substr(k, 1, 1) = x'10' AND instr(v, ?)",
        (b"<30><30>",),
    )


def damage_page(directory: Path) -> None:
    (page, *_) = pages_with(directory, b"<30><30>")
    flip(directory / "hashrange.db", page * PAGE_BYTES + 5000)


@pytest.mark.parametrize(("damage", "most"), [(damage_row, 1), (damage_page, 100)])
def test_an_item_that_cannot_be_read_holds_up_no_other(tmp_path: Path, damage: Any, most: int) -> None:
    engine = SqliteEngine.open(tmp_path)
    service = Clocked(engine)
    create(service)
    fill(service, 200)
    engine.close()
    damage(tmp_path)
    engine = SqliteEngine.open(tmp_path)
    try:
        service = Clocked(engine)
        service.clock.advance(5)
        for _ in range(3):
            service.run_jobs()
        left = engine.read(lambda reader: store.row_count(reader, table(service)))
        assert 1 <= left <= most
        assert len(service.expire._damaged) == left
    finally:
        engine.close()


def test_an_expiry_row_that_cannot_be_read_holds_up_no_other(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    service = Clocked(engine)
    for name in ("tab", "two"):
        create(service, name)
    for name in ("tab", "two"):
        fill(service, 30, name)
    prefix = layout.rows_prefix(table(service).number, table(service).ttl.slot)
    engine.close()
    run_sql(
        tmp_path,
        "UPDATE rows SET v = CAST(v || x'00' AS BLOB) WHERE k = (SELECT min(k) FROM rows WHERE k > ?)",
        (prefix,),
    )
    engine = SqliteEngine.open(tmp_path)
    try:
        service = Clocked(engine)
        service.clock.advance(5)
        for _ in range(3):
            service.run_jobs()
        assert (count(service), count(service, "two")) == (1, 0)
    finally:
        engine.close()


def test_a_stale_expiry_row_is_removed_and_deletes_nothing() -> None:
    service = Clocked()
    create(service)
    item = {"p": {"S": "kept"}, "ttl": {"N": str(int(MIDNIGHT) + 10_000)}}
    service.call("PutItem", TableName="tab", Item=item)
    prefix = layout.rows_prefix(table(service).number, table(service).ttl.slot)

    def rows() -> list[bytes]:
        return service.engine.read(lambda reader: [key for key, _ in reader.scan(prefix, prefix + b"\xff")])

    (row,) = rows()
    stale = prefix + (int(MIDNIGHT) - 5).to_bytes(8, "big") + row[len(prefix) + 8 :]
    service.engine.write(lambda tx: tx.put(stale, b""))
    service.run_jobs()
    assert rows() == [row]
    assert count(service) == 1


def test_a_table_whose_slots_are_used_up_says_so() -> None:
    service = Clocked()
    create(service, ttl=False)

    def use_up(tx: Any) -> None:
        stored = catalogue.stored_table(tx, "000000000000", "us-east-1", "tab")
        assert stored is not None
        last = layout.COLLECTION_SLOT - 1
        catalogue.save(tx, changed(stored, next_slot=last, version=stored.version + 1), MIDNIGHT)

    service.engine.write(use_up)
    service.catalogue.reload()
    switch(service)
    service.run_jobs()
    fill(service, 3)
    service.run_jobs()
    assert count(service) == 0
    switch(service, enabled=False)
    used_up = (
        "LimitExceededException",
        "Subscriber limit exceeded: Indexes and time to live of this table have been switched too often: Table: tab",
    )
    specification = {"AttributeName": "ttl", "Enabled": True}
    refused = service.refused("UpdateTimeToLive", TableName="tab", TimeToLiveSpecification=specification)
    assert refused == used_up
    creation = {"Create": index("new", "g")}
    refused = service.refused(
        "UpdateTable",
        TableName="tab",
        AttributeDefinitions=definitions(g="S"),
        GlobalSecondaryIndexUpdates=[creation],
    )
    assert refused == used_up
