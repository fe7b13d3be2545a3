"""Jobs: each step is bounded, and what they leave behind is nothing."""

from typing import Any

import pytest

from clocked import Clocked
from hashrange.core.keys import encoding
from hashrange.core.limits import IDEMPOTENCY_SECONDS
from hashrange.storage import layout
from item_tables import definitions, index, key_schema


@pytest.fixture
def service() -> Clocked:
    return Clocked()


def create(service: Clocked, name: str = "tab", **options: Any) -> None:
    service.call(
        "CreateTable",
        TableName=name,
        KeySchema=key_schema("p"),
        AttributeDefinitions=definitions(p="S", g="S") if options else definitions(p="S"),
        BillingMode="PAY_PER_REQUEST",
        **options,
    )
    service.settle()


def fill(service: Clocked, count: int, name: str = "tab") -> None:
    for at in range(count):
        service.call("PutItem", TableName=name, Item={"p": {"S": str(at)}, "g": {"S": "g"}})


def rows(service: Clocked, prefix: bytes) -> int:
    return service.engine.read(
        lambda reader: sum(1 for _ in reader.scan(prefix, encoding.prefix_end(prefix)))
    )


def test_a_deleted_table_leaves_nothing_behind(service: Clocked) -> None:
    create(service, "kept")
    fill(service, 3, "kept")
    create(service, GlobalSecondaryIndexes=[index("glo", "g")])
    fill(service, 1500)
    table = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert table is not None
    service.call("DeleteTable", TableName="tab")
    service.clock.advance(2)
    service.settling.step(service.clock.now())
    assert service.catalogue.find("000000000000", "us-east-1", "tab") is None
    assert rows(service, layout.table_rows_prefix(table.number)) == 3000
    service.reclaim.step(service.clock.now())
    assert 0 < rows(service, layout.table_rows_prefix(table.number)) < 3000
    service.run_jobs()
    assert rows(service, layout.table_rows_prefix(table.number)) == 0
    assert rows(service, layout.GARBAGE) == 0
    assert rows(service, layout.TABLE_VERSION) == 1
    for slot in (layout.BASE_SLOT, 1):
        for key in (layout.count_key(table.number, slot), layout.size_key(table.number, slot)):
            assert service.engine.read(lambda reader, at=key: reader.counter(at)) == 0
    assert service.describe("kept")["ItemCount"] == 3


def test_a_deletion_waits_for_its_time(service: Clocked) -> None:
    create(service)
    service.call("DeleteTable", TableName="tab")
    assert service.settling.step(service.clock.now()) == pytest.approx(1.0)
    assert service.describe("tab")["TableStatus"] == "DELETING"


def test_a_table_made_again_is_not_taken_for_the_deleted_one(service: Clocked) -> None:
    create(service)
    fill(service, 20)
    service.call("DeleteTable", TableName="tab")
    service.clock.advance(2)
    create(service)
    fill(service, 5)
    service.run_jobs()
    assert service.describe("tab")["ItemCount"] == 5
    assert service.call("Scan", TableName="tab", Select="COUNT")["Count"] == 5


def test_the_rows_of_a_deleted_index_are_cleared(service: Clocked) -> None:
    create(service, GlobalSecondaryIndexes=[index("glo", "g")])
    fill(service, 40)
    table = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert table is not None
    assert rows(service, layout.rows_prefix(table.number, 1)) == 40
    service.call(
        "UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "glo"}}]
    )
    fill(service, 60)
    service.settle()
    assert rows(service, layout.rows_prefix(table.number, 1)) == 0
    assert rows(service, layout.rows_prefix(table.number, layout.BASE_SLOT)) == 60


def test_a_backfill_ends_with_its_table(service: Clocked) -> None:
    create(service)
    fill(service, 700)
    new = {"Create": index("new", "g")}
    service.call(
        "UpdateTable",
        TableName="tab",
        AttributeDefinitions=definitions(g="S"),
        GlobalSecondaryIndexUpdates=[new],
    )
    service.clock.advance(2)
    while not rows(service, layout.BACKFILL):
        service.backfill.step(service.clock.now())
    service.call("DeleteItem", TableName="tab", Key={"p": {"S": "1"}})
    assert rows(service, layout.REMOVED_ENTRY) == 1
    service.call(
        "UpdateTable", TableName="tab", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "new"}}]
    )
    assert rows(service, layout.BACKFILL) == 0
    service.settle()
    assert rows(service, layout.REMOVED_ENTRY) == 0
    service.call("DeleteTable", TableName="tab")
    service.settle()
    assert rows(service, layout.ROWS) == 0


def test_tokens_are_forgotten_when_they_are_no_longer_good(service: Clocked) -> None:
    create(service)

    def write(token: str) -> None:
        put = {"Put": {"TableName": "tab", "Item": {"p": {"S": token}}}}
        service.call("TransactWriteItems", TransactItems=[put], ClientRequestToken=token)

    write("first")
    service.clock.advance(100)
    write("second")
    service.clock.advance(IDEMPOTENCY_SECONDS - 101)
    service.run_jobs()
    assert rows(service, layout.TOKEN) == rows(service, layout.TOKEN_EXPIRY) == 2
    service.clock.advance(1)
    write("first")
    service.run_jobs()
    assert rows(service, layout.TOKEN) == rows(service, layout.TOKEN_EXPIRY) == 2
    service.clock.advance(IDEMPOTENCY_SECONDS)
    service.run_jobs()
    assert rows(service, layout.TOKEN) == rows(service, layout.TOKEN_EXPIRY) == 0


def test_the_other_jobs_rest_when_there_is_nothing_to_do(service: Clocked) -> None:
    create(service)
    for job in (service.settling, service.backfill, service.reclaim, service.tokens):
        assert job.step(service.clock.now()) >= 5
