"""Writes as pure computation: command and stored item in, outcome out."""

from typing import Any

import pytest

from hashrange.core import items, mutation
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Binder, Condition, Update
from hashrange.core.items import StoredItem
from hashrange.core.mutation import (
    CheckCommand,
    Command,
    DeleteCommand,
    Origin,
    PutCommand,
    Rejected,
    UpdateCommand,
)
from hashrange.core.schema import Table
from schemas import index, table

KEY = {"pk": {"S": "k"}}
PLAIN = table("pk:S")
INDEXED = table("pk:S", indexes=(index("g", "g:S"),))
NOW = Origin(1_700_000_000.0, "ttl")


def stored(**attributes: dict[str, Any]) -> StoredItem:
    item = KEY | attributes
    return StoredItem(items.encode(item, items.item_size(item), 1.0))


def condition(text: str) -> Condition:
    return Binder(None, None).condition("ConditionExpression", text)


def update(text: str, **values: dict[str, Any]) -> Update:
    return Binder(None, {f":{name}": value for name, value in values.items()}).update(text)


def put(asked: Condition | None = None, **attributes: dict[str, Any]) -> PutCommand:
    item = KEY | attributes
    return PutCommand(b"key", item, items.item_size(item), asked)


def test_an_overwrite_knows_what_it_replaced_without_decoding_it() -> None:
    before = StoredItem(b"\x02" + (2000).to_bytes(4, "big") + bytes(11) + b"this is no JSON")
    outcome = mutation.apply(PLAIN, put(a={"S": "x"}), before, NOW)
    assert outcome.before is before
    assert outcome.before_size == 2000
    assert outcome.units == 2  # of the larger image
    assert outcome.after == KEY | {"a": {"S": "x"}}


@pytest.mark.parametrize("asked", [PLAIN, INDEXED])
def test_the_outcome_says_who_wrote_and_when(asked: Table) -> None:
    assert mutation.apply(asked, put(), None, NOW).origin == NOW


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [
        (put(a={"S": "1"}), None, {"a": {"S": "1"}}),
        (put(a={"S": "1"}), {"b": {"S": "2"}}, {"a": {"S": "1"}}),
        (DeleteCommand(b"key"), {"b": {"S": "2"}}, None),
        (DeleteCommand(b"key"), None, None),
        (UpdateCommand(b"key", KEY, update("SET a = :a", a={"S": "1"})), None, {"a": {"S": "1"}}),
        (UpdateCommand(b"key", KEY, update("REMOVE b")), {"b": {"S": "2"}}, {}),
        # What only takes away makes no item where there is none.
        (UpdateCommand(b"key", KEY, update("REMOVE b")), None, None),
        (CheckCommand(b"key", condition("attribute_exists(b)")), {"b": {"S": "2"}}, {"b": {"S": "2"}}),
    ],
)
def test_images(command: Command, before: Any, after: Any) -> None:
    outcome = mutation.apply(PLAIN, command, None if before is None else stored(**before), NOW)
    assert outcome.before_item == (None if before is None else KEY | before)
    assert outcome.after == (None if after is None else KEY | after)
    assert outcome.after_size == (0 if outcome.after is None else items.item_size(outcome.after))
    assert outcome.checked_only == isinstance(command, CheckCommand)


def test_a_condition_that_fails_gives_the_stored_item() -> None:
    with pytest.raises(Rejected) as rejected:
        mutation.apply(PLAIN, put(condition("attribute_not_exists(pk)")), stored(b={"N": "1"}), NOW)
    assert rejected.value.item == KEY | {"b": {"N": "1"}}
    with pytest.raises(Rejected) as rejected:
        mutation.apply(PLAIN, put(condition("attribute_exists(pk)")), None, NOW)
    assert rejected.value.item is None


def test_index_rows_come_move_and_go() -> None:
    made = mutation.apply(INDEXED, put(g={"S": "a"}), None, NOW)
    first = made.index_diffs[0].after
    moved = mutation.apply(INDEXED, put(g={"S": "b"}), stored(g={"S": "a"}), NOW)
    (diff,) = moved.index_diffs
    assert diff.before == first
    assert diff.after is not None
    assert diff.before is not None
    assert diff.after.key != diff.before.key
    assert diff.units == 2  # a delete and an insert
    gone = mutation.apply(INDEXED, DeleteCommand(b"key"), stored(g={"S": "a"}), NOW)
    assert [(diff.before, diff.after) for diff in gone.index_diffs] == [(first, None)]
    assert mutation.apply(INDEXED, put(g={"S": "a"}), stored(g={"S": "a"}), NOW).index_diffs == []


def test_an_update_is_measured_by_what_it_touches() -> None:
    before = stored(a={"S": "x" * 100}, b={"S": "y" * 50})
    command = UpdateCommand(b"key", KEY, update("SET a = :a", a={"S": "z"}))
    outcome = mutation.apply(PLAIN, command, before, NOW)
    assert outcome.after_size == before.size - 99


def test_an_updated_item_may_not_pass_the_limit() -> None:
    before = stored(a={"S": "x" * 300_000})
    command = UpdateCommand(b"key", KEY, update("SET b = :b", b={"S": "y" * 150_000}))
    with pytest.raises(Invalid, match="Item size to update has exceeded"):
        mutation.apply(PLAIN, command, before, NOW)
