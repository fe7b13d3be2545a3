"""UpdateItem: change one item in place, or make it from its key."""

from hashrange.api.context import Context
from hashrange.api.items import writes
from hashrange.api.items.newer_shapes import UpdateShape
from hashrange.api.items.parameters import refuse_idle_names, refuse_idle_values, refuse_mixing, resolver
from hashrange.api.items.structures import AttributeUpdates, Expected
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.structures import (
    AttributeMap,
    AttributeNames,
    Request,
    ReturnConsumedCapacity,
    ReturnItemCollectionMetrics,
    ReturnValues,
    ReturnValuesOnConditionCheckFailure,
    TableName,
    UncheckedConditionalOperator,
)
from hashrange.api.table_names import data_table, ready_table
from hashrange.core import mutation, values
from hashrange.core.errors import Refused
from hashrange.core.expressions import Binder, Condition, Update, build, legacy
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.mutation import UpdateCommand
from hashrange.core.values import Malformed


class UpdateItem(Request, kw_only=True):
    """The request."""

    return_consumed_capacity: ReturnConsumedCapacity | None = None
    table_name: TableName
    return_values: ReturnValues | None = None
    return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure | None = None
    return_item_collection_metrics: ReturnItemCollectionMetrics | None = None
    conditional_operator: UncheckedConditionalOperator | None = None
    key: AttributeMap
    expected: Expected | None = None
    attribute_updates: AttributeUpdates | None = None
    update_expression: str | None = None
    condition_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None
    expression_attribute_values: AttributeMap | None = None


SHAPE = UpdateShape(UpdateItem)

_LEGACY = ("attribute_updates", "expected", "conditional_operator")
_EXPRESSIONS = ("update_expression", "condition_expression")
_NOTHING = build.update(())


def update_item(context: Context, request: UpdateItem) -> Plan:
    """Bind an update that was accepted before, or resolve it; then change the item."""
    plan = _prepared(context, request)
    if plan is not None:
        return plan
    refuse_mixing(request, _LEGACY, _EXPRESSIONS)
    refuse_idle_names(request, request.update_expression, request.condition_expression)
    refuse_idle_values(request, _EXPRESSIONS, named=False)
    key_item = values.canonical_item(request.key)
    binding, update, condition = _read(request)
    table = data_table(context, request.table_name)
    key = primary_key.of_key(table, key_item)
    mutation.refuse_key_update(table, update)
    key_paths.refuse_nested(table, table.indexes, update, condition)
    if request.update_expression is not None:
        mutation.check_charge(update)
    if binding is not None:
        prepared_key = writes.prepared_key(table, request, request.update_expression)
        context.prepared.add_write(prepared_key, table, binding, update, condition)
    command = UpdateCommand(key, key_item, update, condition)
    return writes.plan(context, table, command, request, key_item)


def _prepared(context: Context, request: UpdateItem) -> Plan | None:
    """The plan of an update like one that was accepted before; None if the long path has to judge it."""
    text = request.update_expression
    table = ready_table(context, request.table_name)
    if table is None or text is None:
        return None
    if request.expected is not None or request.conditional_operator or request.attribute_updates is not None:
        return None
    prepared = context.prepared.writes.get(writes.prepared_key(table, request, text))
    if prepared is None or prepared.table is not table:
        return None
    bound = prepared.bind(request.expression_attribute_values)
    update, condition = bound or (None, None)
    if update is None:
        return None
    try:
        mutation.check_charge(update)
        key = primary_key.of_key_or_none(table, request.key)
        # A number may be spelled in several ways, and is stored in one.
        key_item = values.canonical_item(request.key) if table.has_number_key else request.key
    except (Refused, Malformed):
        return None
    if key is None:
        return None
    command = UpdateCommand(key, key_item, update, condition)
    return writes.plan(context, table, command, request, key_item)


def _read(request: UpdateItem) -> tuple[Binder | None, Update, Condition | None]:
    """The update and the condition, from expressions or from the legacy parameters."""
    if request.update_expression is None and request.condition_expression is None:
        updates = request.attribute_updates
        update = _NOTHING
        if updates is not None:
            update = legacy.attribute_updates({name: value.canonical() for name, value in updates.items()})
        return None, update, writes.expected(request)
    binding = resolver(request)
    text, condition_text = request.update_expression, request.condition_expression
    if condition_text == "":
        # Of two empty expressions this is the one that is reported.
        binding.condition("ConditionExpression", condition_text)
    update = _NOTHING if text is None else binding.update(text)
    condition = None if condition_text is None else binding.condition("ConditionExpression", condition_text)
    binding.finish()
    return (None if text is None else binding), update, condition
