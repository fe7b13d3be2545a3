"""Writes as pure computation: a command meets the stored item, at a time and by somebody, and has an outcome.

Every write goes through `apply`: single items, batches, transactions, PartiQL and background jobs.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, assert_never

import msgspec

from hashrange.core import capacity, indexes, plain_items
from hashrange.core.errors import Invalid
from hashrange.core.expressions import (
    Applied,
    Condition,
    Update,
    apply_update,
    matches,
    update_charge,
    update_too_large,
)
from hashrange.core.indexes import IndexDiff
from hashrange.core.items import StoredItem, item_json, item_size, of_json
from hashrange.core.limits import ITEM_BYTES_MAX, NESTING_LEVELS_MAX
from hashrange.core.schema import Table
from hashrange.core.values import Item, depth

_TOO_LARGE = "Item size has exceeded the maximum allowed size"

Actor = Literal["client", "ttl", "replication", "restore"]


class Origin(msgspec.Struct, frozen=True):
    """When a write happens, and on whose behalf."""

    time: float
    actor: Actor = "client"


class PutCommand(msgspec.Struct):
    """Store this item whole."""

    key: bytes
    item: Item
    size: int
    condition: Condition | None = None
    json: bytes | None = None  # of the item, where checking it has made that already


class Puts(msgspec.Struct, frozen=True):
    """Items to be stored whole in one table, without conditions, by columns: nobody looks into them."""

    keys: list[bytes]
    sizes: list[int]
    jsons: list[bytes]

    @classmethod
    def of(cls, commands: Sequence[PutCommand]) -> "Puts":
        """The puts of these commands."""
        return cls(
            [command.key for command in commands],
            [command.size for command in commands],
            [item_json(command.item) if command.json is None else command.json for command in commands],
        )

    def commands(self) -> Iterator[PutCommand]:
        """The same one by one, for somebody who does look into the items."""
        for key, size, json in zip(self.keys, self.sizes, self.jsons, strict=True):
            yield PutCommand(key, of_json(json), size, None, json)


class DeleteCommand(msgspec.Struct):
    """Remove the item."""

    key: bytes
    condition: Condition | None = None


class UpdateCommand(msgspec.Struct):
    """Change the item in place, or make one from its key."""

    key: bytes
    key_item: Item
    update: Update
    condition: Condition | None = None


class CheckCommand(msgspec.Struct):
    """Only look whether the condition holds."""

    key: bytes
    condition: Condition


Command = PutCommand | DeleteCommand | UpdateCommand | CheckCommand


class Rejected(Exception):
    """The condition did not hold for the stored item, or for there being none."""

    def __init__(self, before: StoredItem | None) -> None:
        super().__init__()
        self.before = before

    @property
    def item(self) -> Item | None:
        """The stored item."""
        return None if self.before is None else self.before.item


class Outcome(msgspec.Struct):
    """What a command does: the images before and after, what becomes of the indexes, and what it costs."""

    key: bytes
    before: StoredItem | None
    after: Item | None
    after_size: int
    units: int
    index_diffs: list[IndexDiff]
    origin: Origin
    applied: Applied | None = None  # of an update: the paths it touched
    checked_only: bool = False  # nothing is written
    after_json: bytes | None = None  # of the new item, if somebody has made it already

    @property
    def before_item(self) -> Item | None:
        """The item as it was; decoded now if nobody needed it until now."""
        return None if self.before is None else self.before.item

    @property
    def before_size(self) -> int:
        """The size of the item as it was; 0 if there was none."""
        return 0 if self.before is None else self.before.size


def apply(table: Table, command: Command, before: StoredItem | None, origin: Origin) -> Outcome:
    """What the command makes of the stored item. Raises `Rejected`, or `Invalid` where the result breaks a rule."""
    condition = command.condition
    if condition is not None:
        item, stored_bytes = ({}, 0) if before is None else (before.item, len(before.stored))
        if not matches(condition, item, stored_bytes):
            raise Rejected(before)
    applied = after_json = None
    match command:
        case PutCommand():
            after: Item | None = command.item
            size, after_json = command.size, command.json
        case UpdateCommand():
            if before is None and only_removes(command.update):
                after, size = None, 0
            else:
                applied, size, after_json = _updated(table, command, before)
                after = applied.item
        case DeleteCommand():
            after, size = None, 0
        case CheckCommand():
            return _checked(command.key, before, origin)
        case _:
            assert_never(command)
    before_size = 0 if before is None else before.size
    # The stored item is decoded only where an index, the condition or the update itself needs it.
    diffs = indexes.diffs(table, command.key, before, after, size) if table.live_indexes else []
    units = capacity.write_units(max(size, before_size))
    return Outcome(command.key, before, after, size, units, diffs, origin, applied, False, after_json)


def _checked(key: bytes, before: StoredItem | None, origin: Origin) -> Outcome:
    item, size = (None, 0) if before is None else (before.item, before.size)
    return Outcome(key, before, item, size, capacity.write_units(size), [], origin, checked_only=True)


def sized_put(item: Item) -> int:
    """The size of an item to be put, checked against the limit."""
    size = item_size(item)
    refuse_large(size)
    return size


def refuse_large(size: int) -> None:
    """Hold the size of an item to be put against the limit."""
    if size > ITEM_BYTES_MAX:
        raise Invalid(_TOO_LARGE)


def check_charge(update: Update) -> None:
    """UpdateItem's statement itself is charged bytes too, before anything is read (measured on the 400 KB gate)."""
    if update_charge(update) > ITEM_BYTES_MAX:
        raise update_too_large()


def refuse_key_update(table: Table, update: Update) -> None:
    """An item's key never changes."""
    for name in update.targets:
        if name in table.key_names:
            raise Invalid(
                f"One or more parameter values were invalid: Cannot update attribute {name}. "
                "This attribute is part of the key"
            )


def _updated(
    table: Table, command: UpdateCommand, before: StoredItem | None
) -> tuple[Applied, int, bytes | None]:
    """The updated item, its size and maybe its JSON, after the checks that need the finished item."""
    stored = None if before is None else before.item
    applied = apply_update(command.update, command.key_item if stored is None else stored)
    item, names = applied.item, command.update.targets
    touched = {name: item[name] for name in names if name in item}
    size, json = _measured(item, before, touched, names)
    if size > ITEM_BYTES_MAX:
        raise update_too_large()
    for value in touched.values():
        if ("M" in value or "L" in value) and depth(value) > NESTING_LEVELS_MAX:
            raise Invalid("Nesting Levels have exceeded supported limits")
    if table.indexes:
        new_key = command.key_item if stored is None else {}
        indexes.check_index_keys(table, {**new_key, **touched}, update=True)
        indexes.check_key_totals(table, applied.item)
    return applied, size, json


def _measured(
    item: Item, before: StoredItem | None, touched: Item, names: tuple[str, ...]
) -> tuple[int, bytes | None]:
    """The size of an updated item, and maybe its JSON."""
    plain = plain_items.measured_or_none(item)
    if plain is not None:
        return plain
    if before is None:
        return item_size(item), None
    # Where Python has to do it, only what was touched is measured: an item may have very many attributes.
    stored = before.item
    replaced = {name: stored[name] for name in names if name in stored}
    return before.size + item_size(touched) - item_size(replaced), None


def only_removes(update: Update) -> bool:
    """Whether an update can make no item where there is none: one that does nothing at all still makes one."""
    return bool(update.actions) and update.removes_only
