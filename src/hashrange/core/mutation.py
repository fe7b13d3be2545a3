"""Writes as pure computation: a command meets the stored item and says what it becomes."""

import msgspec

from hashrange.core import capacity, indexes
from hashrange.core.errors import ConditionFailed, Invalid
from hashrange.core.expressions import Applied, Condition, Update, apply_update, matches, update_charge
from hashrange.core.items import item_size
from hashrange.core.limits import ITEM_BYTES_MAX, NESTING_LEVELS_MAX
from hashrange.core.schema import Table
from hashrange.core.values import Item, depth

_TOO_LARGE = "Item size has exceeded the maximum allowed size"
_UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"


class Put(msgspec.Struct):
    """Store this item whole."""

    key: bytes
    item: Item
    size: int
    condition: Condition | None = None
    wants_old: bool = False


class Delete(msgspec.Struct):
    """Remove the item."""

    key: bytes
    condition: Condition | None = None
    wants_old: bool = False


class Change(msgspec.Struct):
    """Update the item, or make one from its key."""

    key: bytes
    key_item: Item
    update: Update
    condition: Condition | None = None


class Check(msgspec.Struct):
    """Only look whether the condition holds."""

    key: bytes
    condition: Condition


Command = Put | Delete | Change | Check


class Outcome(msgspec.Struct):
    """What a command does: the images before and after, and what it costs."""

    before: Item | None
    after: Item | None
    before_size: int
    after_size: int
    units: int
    index_changes: list[indexes.Change]
    applied: Applied | None = None


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
        raise Invalid(_UPDATE_TOO_LARGE)


def holds(condition: Condition | None, stored: Item | None) -> None:
    """Raise ConditionFailed unless the condition holds for the stored item (or for none)."""
    if condition is not None and not matches(condition, stored or {}):
        raise ConditionFailed


def changed_item(table: Table, command: Change, stored: Item | None, stored_size: int) -> tuple[Applied, int]:
    """The updated item and its size, after the checks that need the finished item."""
    applied = apply_update(command.update, command.key_item if stored is None else stored)
    item, names = applied.item, command.update.targets
    touched = {name: item[name] for name in names if name in item}
    if stored is None:
        size = item_size(item)
    else:
        replaced = {name: stored[name] for name in names if name in stored}
        size = stored_size + item_size(touched) - item_size(replaced)
    if size > ITEM_BYTES_MAX:
        raise Invalid(_UPDATE_TOO_LARGE)
    for value in touched.values():
        if ("M" in value or "L" in value) and depth(value) > NESTING_LEVELS_MAX:
            raise Invalid("Nesting Levels have exceeded supported limits")
    if table.indexes:
        indexes.check_index_keys(table, touched, update=True)
        indexes.check_key_totals(table, applied.item)
    return applied, size


def only_removes(update: Update) -> bool:
    """Whether an update can make no item where there is none: one that does nothing at all still makes one."""
    return bool(update.actions) and update.removes_only


def units_of(before_size: int, after_size: int) -> int:
    """A write is charged for the larger image."""
    return capacity.write_units(max(before_size, after_size))
