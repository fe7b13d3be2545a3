"""UpdateItem: change one item in place, or make it from its key."""

from typing import Any

from hashrange.api import answers, item_writes
from hashrange.api.context import Context
from hashrange.api.item_shapes import ATTRIBUTE_UPDATES, single_write
from hashrange.api.kinds import Text, Violation
from hashrange.api.parameters import (
    attribute_map,
    legacy_map,
    refuse_idle_placeholders,
    refuse_mixing,
    resolver,
)
from hashrange.api.plan import Plan, Write
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape, is_enumeration
from hashrange.api.table_names import data_table
from hashrange.core import key_paths, mutation, primary_key
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, Update, build, legacy, select_paths
from hashrange.core.mutation import Outcome
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import store
from hashrange.storage.engine import Transaction

_ENUMERATIONS = ("ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics")


def _narrowed(given: dict[str, Any], found: list[Violation]) -> list[Violation]:
    """Of several bad enumerations only one is reported, unless the key is missing too (measured)."""
    broken = [each[1] for each in found if is_enumeration(each)]
    first = next((name for name in _ENUMERATIONS if name in broken), None)
    if "Key" not in given or first is None:
        return found
    return [each for each in found if not is_enumeration(each) or each[1] == first]


SHAPE = Shape(
    single_write("Key", {"AttributeUpdates": ATTRIBUTE_UPDATES, "UpdateExpression": Text()}),
    prefixed=True,
    narrowed=_narrowed,
)

_LEGACY = ("AttributeUpdates", "Expected", "ConditionalOperator")
_EXPRESSIONS = ("UpdateExpression", "ConditionExpression")
_NOTHING = build.update(())


@operation("UpdateItem", SHAPE)
def update_item(context: Context, request: dict[str, Any]) -> Plan:
    refuse_mixing(request, _LEGACY, _EXPRESSIONS)
    refuse_idle_placeholders(request, _EXPRESSIONS, _EXPRESSIONS)
    key_item = attribute_map(request["Key"])
    update, condition = read_update(request)
    table = data_table(context, request["TableName"])
    key = primary_key.of_key(table, key_item)
    refuse_key_update(table, update)
    key_paths.refuse_nested(table, table.indexes, update, condition)
    if "UpdateExpression" in request:
        mutation.check_charge(update)
    command = mutation.Change(key, key_item, update, condition)

    def step(tx: Transaction) -> bytes:
        current, outcome = item_writes.run(tx, table, command, request)
        members = answers.write_members(tx, request, current, outcome, key_item, key)
        attributes = returned(request.get("ReturnValues", "NONE"), outcome)
        if attributes:
            members["Attributes"] = attributes
        return answers.body(members)

    return Write(step, reads=lambda: store.reads(table, key))


def read_update(request: dict[str, Any]) -> tuple[Update, Condition | None]:
    """The update and the condition, from expressions or from the legacy parameters."""
    if "UpdateExpression" not in request and "ConditionExpression" not in request:
        updates = legacy_map(request.get("AttributeUpdates"))
        update = _NOTHING if updates is None else legacy.attribute_updates(updates)
        return update, item_writes.expected(request)
    binding = resolver(request)
    text = request.get("UpdateExpression")
    update = _NOTHING if text is None else binding.update(text)
    condition_text = request.get("ConditionExpression")
    condition = None if condition_text is None else binding.condition("ConditionExpression", condition_text)
    binding.finish()
    return update, condition


def refuse_key_update(table: Table, update: Update) -> None:
    """An item's key never changes."""
    for name in mutation.targets(update):
        if name in table.key_names:
            raise Invalid(
                f"One or more parameter values were invalid: Cannot update attribute {name}. "
                "This attribute is part of the key"
            )


def returned(wanted: str, outcome: Outcome) -> Item | None:
    """The Attributes member for each of the five choices."""
    paths = () if outcome.applied is None else outcome.applied.paths
    match wanted:
        case "ALL_OLD":
            return outcome.before
        case "ALL_NEW":
            return outcome.after
        case "UPDATED_OLD":
            return None if outcome.before is None else select_paths(paths, outcome.before)
        case "UPDATED_NEW":
            return None if outcome.after is None else select_paths(paths, outcome.after)
        case _:
            return None
