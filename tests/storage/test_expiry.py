"""TTL on every engine: expired items go, with their index entries; all others stay, whatever is done meanwhile."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from clocked import Clocked
from hashrange.core.keys import encoding
from hashrange.core.limits import EXPIRY_AGE_SECONDS_MAX
from hashrange.storage import layout
from hashrange.storage.engine import Engine
from hashrange.storage.verification.report import Problem
from hashrange.storage.verification.rows import problems_of
from hashrange.storage.verification.tables import read_tables
from item_tables import definitions, index, key_schema

TABLE = "tab"


@pytest.fixture
def service(engine: Engine) -> Clocked:
    """A service with a table that has every kind of index."""
    service = Clocked(engine)
    service.call(
        "CreateTable",
        TableName=TABLE,
        KeySchema=key_schema("p", "s"),
        AttributeDefinitions=definitions(p="S", s="S", g="S", l="S"),
        LocalSecondaryIndexes=[index("loc", "p", "l")],
        GlobalSecondaryIndexes=[index("glo", "g")],
        BillingMode="PAY_PER_REQUEST",
    )
    service.settle()
    return service


def switch(service: Clocked, *, enabled: bool = True, attribute: str = "ttl") -> None:
    specification = {"AttributeName": attribute, "Enabled": enabled}
    service.call("UpdateTimeToLive", TableName=TABLE, TimeToLiveSpecification=specification)


def put(service: Clocked, number: int, expires_in: float | None, attribute: str = "ttl") -> None:
    item = {"p": {"S": f"p{number % 3}"}, "s": {"S": f"{number:05}"}, "g": {"S": "g"}, "l": {"S": "l"}}
    if expires_in is not None:
        item[attribute] = {"N": str(service.clock.now() + expires_in)}
    service.call("PutItem", TableName=TABLE, Item=item)


def key(number: int) -> dict[str, Any]:
    return {"p": {"S": f"p{number % 3}"}, "s": {"S": f"{number:05}"}}


def numbers(service: Clocked, index_name: str | None = None) -> set[int]:
    request = {"IndexName": index_name} if index_name else {}
    items = service.call("Scan", TableName=TABLE, **request)["Items"]
    return {int(item["s"]["S"]) for item in items}


def present(service: Clocked) -> set[int]:
    """The items that are there, by the table and by every index."""
    seen = [numbers(service, name) for name in (None, "loc", "glo")]
    assert seen[0] == seen[1] == seen[2]
    assert service.describe(TABLE)["ItemCount"] == len(seen[0])
    return seen[0]


def problems(service: Clocked) -> list[Problem]:
    """What does not fit together, of all rows."""

    def step(reader: Any) -> list[Problem]:
        tables = read_tables(reader, None)
        rows = list(reader.scan(b"", b"\xff" * 8))
        return [problem for row in rows for problem in problems_of(reader, tables, *row)]

    return service.engine.read(step)


def rows(service: Clocked, prefix: bytes) -> int:
    return service.engine.read(
        lambda reader: sum(1 for _ in reader.scan(prefix, encoding.prefix_end(prefix)))
    )


def expiry_rows(service: Clocked) -> int:
    table = service.catalogue.find("000000000000", "us-east-1", TABLE)
    assert table is not None
    assert table.ttl is not None
    return rows(service, layout.rows_prefix(table.number, table.ttl.slot))


def deleted_count(service: Clocked) -> int:
    table = service.catalogue.find("000000000000", "us-east-1", TABLE)
    assert table is not None
    return service.engine.read(lambda reader: reader.counter(layout.expired_items_key(table.number)))


def test_expired_items_are_deleted_and_no_others(service: Clocked) -> None:
    switch(service)
    for number, expires_in in enumerate((-1, -0.5, 0, 5, None, 1e9, 1 - EXPIRY_AGE_SECONDS_MAX)):
        put(service, number, expires_in)
    put(service, 7, -EXPIRY_AGE_SECONDS_MAX)
    assert present(service) == set(range(8)), "expired items can be read until they are deleted"
    service.run_jobs()
    assert present(service) == {2, 3, 4, 5, 7}
    service.clock.advance(1)
    service.run_jobs()
    assert present(service) == {3, 4, 5, 7}
    service.clock.advance(4.9)
    service.run_jobs()
    assert present(service) == {3, 4, 5, 7}
    service.clock.advance(0.1)
    service.run_jobs()
    assert present(service) == {4, 5, 7}
    assert deleted_count(service) == 5
    assert problems(service) == []


def test_items_older_than_the_setting_expire_too(service: Clocked) -> None:
    for number in range(450):
        put(service, number, -10 if number % 2 else 10)
    switch(service)
    service.expiry_backfill.step(service.clock.now())
    assert 0 < expiry_rows(service) < 450
    # The backfill has not come to most of these.
    for number in range(0, 100, 2):
        put(service, number, 1000)
    for number in range(100, 150):
        service.call("DeleteItem", TableName=TABLE, Key=key(number))
    service.run_jobs()
    assert problems(service) == []
    assert present(service) == {number for number in range(0, 450, 2) if not 100 <= number < 150}
    service.clock.advance(11)
    service.run_jobs()
    assert present(service) == set(range(0, 100, 2))
    assert rows(service, layout.BACKFILL) == 0


def test_switching_off_keeps_the_items_and_clears_the_rows(service: Clocked) -> None:
    switch(service)
    for number in range(5):
        put(service, number, 10)
    table = service.catalogue.find("000000000000", "us-east-1", TABLE)
    assert table is not None
    assert table.ttl is not None
    prefix = layout.rows_prefix(table.number, table.ttl.slot)
    assert rows(service, prefix) == 5
    switch(service, enabled=False)
    service.clock.advance(11)
    service.run_jobs()
    assert rows(service, prefix) == rows(service, layout.GARBAGE) == rows(service, layout.BACKFILL) == 0
    assert present(service) == set(range(5))
    switch(service, attribute="other")
    put(service, 5, -1, attribute="other")
    service.run_jobs()
    assert present(service) == set(range(5))
    switch(service, enabled=False, attribute="other")
    switch(service)
    service.run_jobs()
    assert present(service) == set()
    assert problems(service) == []


def test_a_deleted_table_leaves_nothing_of_its_expiry(service: Clocked) -> None:
    switch(service)
    for number in range(5):
        put(service, number, -1 if number else 10)
    service.run_jobs()
    assert deleted_count(service) == 4
    table = service.catalogue.find("000000000000", "us-east-1", TABLE)
    assert table is not None
    switch(service, enabled=False)
    switch(service)
    service.call("DeleteTable", TableName=TABLE)
    service.settle()
    assert rows(service, layout.ROWS) == rows(service, layout.BACKFILL) == rows(service, layout.GARBAGE) == 0
    assert service.engine.read(lambda reader: reader.counter(layout.expired_items_key(table.number))) == 0


def test_an_item_that_is_refreshed_after_it_was_found_stays(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch(service)
    service.run_jobs()
    for number in range(4):
        put(service, number, -1)
    write = service.engine.write

    def refresh_first(step: Callable[[Any], Any]) -> Any:
        """Between the look at the expiry rows and the deletion, clients have three of the items."""
        monkeypatch.undo()
        put(service, 0, 100)
        put(service, 1, None)
        service.call("DeleteItem", TableName=TABLE, Key=key(2))
        return write(step)

    monkeypatch.setattr(service.expire._engine, "write", refresh_first)
    service.run_jobs()
    assert present(service) == {0, 1}
    assert deleted_count(service) == 1
    assert problems(service) == []


def test_ttl_that_is_switched_off_after_items_were_found_deletes_nothing(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch(service)
    service.run_jobs()
    put(service, 0, -1)
    write = service.engine.write

    def switch_first(step: Callable[[Any], Any]) -> Any:
        monkeypatch.undo()
        switch(service, enabled=False)
        return write(step)

    monkeypatch.setattr(service.expire._engine, "write", switch_first)
    service.run_jobs()
    assert present(service) == {0}


def test_large_items_are_deleted_in_smaller_chunks(service: Clocked) -> None:
    switch(service)
    service.run_jobs()
    for number in range(6):
        item = {**key(number), "g": {"S": "g"}, "l": {"S": "l"}, "ttl": {"N": "1699919000"}}
        service.call("PutItem", TableName=TABLE, Item={**item, "text": {"S": "x" * 150_000}})
    service.expire.step(service.clock.now())
    assert len(present(service)) == 4
    service.run_jobs()
    assert present(service) == set()


def test_random_writes_and_switches_against_a_model(service: Clocked) -> None:
    """The model is a dictionary: what is expired when the jobs run is gone, everything else is there."""
    random = Random(11)
    model: dict[int, float | None] = {}
    enabled = False
    for _ in range(25):
        for _ in range(random.randrange(12)):
            number = random.randrange(40)
            if random.random() < 0.2:
                service.call("DeleteItem", TableName=TABLE, Key=key(number))
                model.pop(number, None)
                continue
            expires_in = random.choice((None, -3.25, -1, 0, 0.75, 2, 20))
            put(service, number, expires_in)
            model[number] = None if expires_in is None else service.clock.now() + expires_in
        if random.random() < 0.3:
            enabled = not enabled
            switch(service, enabled=enabled)
        if random.random() < 0.6:
            service.run_jobs()
            now = int(service.clock.now())
            if enabled:
                model = {n: expiry for n, expiry in model.items() if expiry is None or now <= expiry}
            assert present(service) == model.keys()
        assert problems(service) == []
        service.clock.advance(random.choice((0, 0.5, 1, 3)))
