"""DeleteItem: remove one item by its key."""

from functools import partial
from operator import attrgetter

from hashrange.api.context import Context
from hashrange.api.items import writes
from hashrange.api.items.newer_shapes import WriteShape
from hashrange.api.items.structures import Expected
from hashrange.api.protocol.plan import Plan, Write
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
from hashrange.api.results import ItemWritten, PlainWritten
from hashrange.api.table_names import data_table, ready_table
from hashrange.api.throttling.gate import Tab
from hashrange.core import values
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.mutation import DeleteCommand, Origin
from hashrange.core.schema import Table
from hashrange.storage import store
from hashrange.storage.engine import Transaction


class DeleteItem(Request, kw_only=True):
    """The request."""

    return_consumed_capacity: ReturnConsumedCapacity | None = None
    table_name: TableName
    return_values: ReturnValues | None = None
    return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure | None = None
    return_item_collection_metrics: ReturnItemCollectionMetrics | None = None
    conditional_operator: UncheckedConditionalOperator | None = None
    key: AttributeMap
    expected: Expected | None = None
    condition_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None
    expression_attribute_values: AttributeMap | None = None


SHAPE = WriteShape(DeleteItem, old_values_only=writes.OLD_VALUES_ONLY)

# What a condition is made of.
_CONDITION = (
    "condition_expression",
    "expected",
    "conditional_operator",
    "expression_attribute_names",
    "expression_attribute_values",
)
_condition = attrgetter(*_CONDITION)
_NO_CONDITION = (None,) * len(_CONDITION)


def delete_item(context: Context, request: DeleteItem) -> Plan:
    """Check the key and the condition, then both against the table."""
    plan = _plain(context, request)
    if plan is not None:
        return plan
    writes.check_return_values_of_deep(request, request.key)
    writes.check_return_values(request)
    writes.check_parameters(request)
    key_item = values.canonical_item(request.key)
    condition = writes.condition(request)
    table = data_table(context, request.table_name)
    key = primary_key.of_key(table, key_item)
    key_paths.refuse_nested(table, table.indexes, condition)
    return writes.plan(context, table, DeleteCommand(key, condition), request, key_item)


def _plain(context: Context, request: DeleteItem) -> Plan | None:
    """The plan of a request for a key and nothing else, as most are; None: all of it has to be judged."""
    if _condition(request) != _NO_CONDITION or request.return_values not in (None, "ALL_OLD", "NONE"):
        return None
    table = ready_table(context, request.table_name)
    key = None if table is None else primary_key.of_key_or_none(table, request.key)
    if table is None or key is None:
        return None
    command = DeleteCommand(key, None)
    if (
        request.return_values != "ALL_OLD"
        and request.return_item_collection_metrics is None
        and table.is_plain
    ):
        tab = writes.tab(context, table)
        step = partial(_remove, table, request.table_name, command, Origin(context.clock.now()), tab)
        reads = partial(store.reads, table, key)
        return Write(step if tab is None else partial(tab.write, step), reads=reads)
    # A number may be spelled in several ways, and is told in one.
    key_item = values.canonical_item(request.key) if table.has_number_key else request.key
    return writes.plan(context, table, command, request, key_item)


def _remove(
    table: Table, name: str, command: DeleteCommand, origin: Origin, tab: Tab | None, tx: Transaction
) -> PlainWritten | ItemWritten:
    """Remove an item that nobody asks back for, from the table as it is now."""
    current = writes.admitted(tx, table, command.key, tab)
    if current.is_plain:
        return PlainWritten(current, name, (command.key,), (store.remove(tx, current, command.key, origin),))
    # It has got an index or an expiry since the request was planned.
    return ItemWritten(current, name, store.apply(tx, current, command, origin))
