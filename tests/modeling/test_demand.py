"""Capacity units that patterns take, computed by hand for small models."""

from dataclasses import replace
from typing import Any

import pytest

from hashrange.modeling.conditions import parse_condition
from hashrange.modeling.demand import read_demand, write_demand
from hashrange.modeling.model import (
    Assignment,
    Attribute,
    ReadOperation,
    ReadPattern,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.planning import plan_read
from small_models import USER, entity, index, model, read, table

# PK and SK with their values take 2 + 41 + 2 + 28 bytes, the attributes' names 19, their values 36 + 26 + size + 6.
BODY = Attribute("body", size=1888)
POST = entity(
    "Post",
    {"PK": "USER#{user_id}", "SK": "P#{post_id}"},
    parent="User",
    count=50,
    user_id="uuid",
    post_id="ulid",
    body=BODY,
    kind="A|B|C|D",
)
SHOP = model(table(), USER, POST)


def demand(pattern: ReadPattern) -> tuple[Any, ...]:
    found = read_demand(SHOP, plan_read(SHOP, pattern))
    return found.items_read, found.items_returned, found.rcu


def test_one_item_takes_units_by_its_size() -> None:
    where = "user_id = ?u and post_id = ?p"
    assert demand(read("Post", where=where)) == (1, 1, 0.5)
    assert demand(read("Post", where=where, consistent=True)) == (1, 1, 1)
    assert demand(read("Post", where=where, batch=10)) == (10, 10, 5)
    transaction = read("Post", where=where, batch=3, operation=ReadOperation.TRANSACT_GET_ITEMS)
    assert demand(transaction) == (3, 3, 6)


def test_a_query_takes_units_by_what_it_reads_not_by_what_it_returns() -> None:
    # Fifty posts of 2.0 KB are 100 KB, which is 25 units of 4 KB, or half of that.
    assert demand(read("Post", where="user_id = ?u")) == (50, 50, pytest.approx(12.5, abs=0.5))
    items, returned, units = demand(read("Post", where="user_id = ?u", filter='kind = "A"'))
    assert (items, returned) == (50, 12.5)
    assert units == pytest.approx(12.5, abs=0.5)


def test_a_limit_bounds_what_is_read() -> None:
    assert demand(read("Post", where="user_id = ?u", limit=10)) == (10, 10, pytest.approx(2.5, abs=0.5))
    filtered = demand(read("Post", where="user_id = ?u", limit=10, filter='kind = "A"'))
    assert filtered == (50, 10, pytest.approx(12.5, abs=0.5)), "the page is read before the filter"


def test_a_scan_reads_the_table() -> None:
    found = read_demand(SHOP, plan_read(SHOP, read("Post", where='kind = "A"')))
    assert found.items_read == 51_000
    assert found.items_returned == 12_500
    assert found.pages == pytest.approx(100, abs=5)


def test_every_shard_is_asked_for_the_whole_limit() -> None:
    gsi = index("GSI1", "GSI1PK", "GSI1SK")
    keys = {"PK": "P#{id}", "SK": "P", "GSI1PK": "ALL#{shard(id, 10)}", "GSI1SK": "{at}"}
    post = entity("Post", keys, id="ulid", at="timestamp", count=1e6)
    shop = model(table(gsi), post)
    found = read_demand(shop, plan_read(shop, read("Post", order="at desc", limit=20)))
    assert (found.items_read, found.items_returned, found.pages) == (200, 20, 10)


ITEM = entity(
    "Item",
    {"PK": "I#{id}", "SK": "I", "GSI1PK": "{owner}", "GSI2PK": "OPEN", "GSI2SK": "{id}"},
    id="ulid",
    owner="uuid",
    status="OPEN|DONE",
    body=Attribute("body", size=3000),
)
ITEM = replace(ITEM, only_if={key: parse_condition('status = "OPEN"') for key in ("GSI2PK", "GSI2SK")})
INDEXES = (
    index("GSI1", "GSI1PK", projection="INCLUDE", included=("status",)),
    index("GSI2", "GSI2PK", "GSI2SK", projection="KEYS_ONLY"),
)
STORE = model(table(*INDEXES), ITEM)


def written(step: WriteStep, *, transaction: bool = False) -> tuple[float, dict[str, float]]:
    found = write_demand(STORE, WritePattern("W1", (step,), transaction=transaction))
    return found.steps[0].wcu, dict(found.steps[0].indexes)


def update(attribute: str) -> WriteStep:
    return WriteStep("update", "Item", assignments=(Assignment("set", attribute, "x"),))


def test_a_put_writes_the_item_and_its_index_entries() -> None:
    assert written(WriteStep("put", "Item")) == (4, {"GSI1": 1, "GSI2": 0.5})
    assert written(WriteStep("delete", "Item")) == (4, {"GSI1": 1, "GSI2": 0.5})
    assert written(WriteStep("put", "Item", count=3)) == (12, {"GSI1": 3, "GSI2": 1.5})


def test_an_update_touches_only_indexes_that_show_it() -> None:
    assert written(update("body")) == (4, {})
    assert written(update("owner")) == (4, {"GSI1": 2}), "a key that changes is deleted and put"
    assert written(update("status")) == (4, {"GSI1": 1, "GSI2": 1}), "the sparse entry comes or goes"


def test_a_transaction_doubles_the_table_and_not_the_indexes() -> None:
    assert written(WriteStep("put", "Item"), transaction=True) == (8, {"GSI1": 1, "GSI2": 0.5})
    assert written(WriteStep("check", "Item"), transaction=True) == (8, {})


def test_a_read_before_a_write_costs_too() -> None:
    found = write_demand(STORE, WritePattern("W1", (WriteStep("put", "Item", reads_first=True),)))
    assert found.rcu == 0.5
    assert found.wcu == 5.5


def test_numbers_and_dates_that_every_partition_has_narrow_a_query() -> None:
    seat = entity(
        "Seat",
        {"PK": "USER#{user_id}", "SK": "{row:03}#{day}#{seat_id}"},
        parent="User",
        count=200,
        user_id="uuid",
        row=Attribute("row", "N", format="integer", minimum=1, maximum=20),
        day="date",
        seat_id="ulid",
    )
    hall = model(table(), USER, seat)
    for where, items in [
        ("user_id = ?u and row = ?r", 10),
        ("user_id = ?u and row = ?r and day = ?d", 1),
    ]:
        plan = plan_read(hall, read("Seat", where=where))
        assert read_demand(hall, plan).items_read == pytest.approx(items), where
