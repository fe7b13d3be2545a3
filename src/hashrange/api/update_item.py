"""UpdateItem: change one item in place, or make it from its key."""

from typing import Any

from hashrange.api import item_writes
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
from hashrange.api.plan import Plan
from hashrange.api.quick_update import learn, quick_update
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape, is_enumeration
from hashrange.api.table_names import data_table
from hashrange.core import mutation
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, Update, build, legacy
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.schema import Table

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


@operation("UpdateItem", SHAPE, quick_update)
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
    learn(request, table)
    return item_writes.change(table, mutation.Change(key, key_item, update, condition), request)


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
    for name in update.targets:
        if name in table.key_names:
            raise Invalid(
                f"One or more parameter values were invalid: Cannot update attribute {name}. "
                "This attribute is part of the key"
            )
