"""PutItem: store one whole item, replacing any item with the same key."""

from functools import partial

from hashrange.api.context import Context
from hashrange.api.items import sent_puts, writes
from hashrange.api.items.newer_shapes import WriteShape
from hashrange.api.items.sent_puts import SentPutItem
from hashrange.api.items.structures import Expected
from hashrange.api.protocol.operation import Shortcut
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
from hashrange.api.table_names import data_table
from hashrange.api.throttling.gate import Tab
from hashrange.core import indexes, items, mutation, plain_items
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.mutation import Origin
from hashrange.core.schema import Table
from hashrange.storage import store
from hashrange.storage.engine import Transaction


class PutItem(Request, kw_only=True):
    """The request."""

    return_consumed_capacity: ReturnConsumedCapacity | None = None
    table_name: TableName
    return_values: ReturnValues | None = None
    return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure | None = None
    return_item_collection_metrics: ReturnItemCollectionMetrics | None = None
    conditional_operator: UncheckedConditionalOperator | None = None
    item: AttributeMap
    expected: Expected | None = None
    condition_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None
    expression_attribute_values: AttributeMap | None = None


SHAPE = WriteShape(PutItem)


def put_item(context: Context, request: PutItem) -> Plan:
    """Check the item and the condition, then the table and what it asks of its items."""
    writes.check_parameters(request)
    if request.return_values is None:
        item, size, json = plain_items.canonical(request.item)
    else:
        writes.check_return_values_of_deep(request, request.item)
        item, size, json = plain_items.canonical(request.item)
        writes.check_return_values(request)
    mutation.refuse_large(size)
    condition = writes.condition(request)
    table = data_table(context, request.table_name)
    key = primary_key.of_item(table, item)
    if table.indexes:
        indexes.check_index_keys(table, item)
    if condition is not None:
        key_paths.refuse_nested(table, table.indexes, condition)
    command = mutation.PutCommand(key, item, size, condition, json)
    return writes.plan(context, table, command, request, item)


def _put_sent(context: Context, request: SentPutItem) -> Plan | None:
    """The plan of a put that the helper has read, if nothing is wrong with it."""
    table = data_table(context, request.table_name)
    if table.indexes or not table.is_plain:
        # Somebody is going to look into the item; it is checked and measured all the same.
        item = items.of_json(request.json)
        key = primary_key.of_item(table, item)
        indexes.check_index_keys(table, item)
        command = mutation.PutCommand(key, item, request.size, None, request.json)
        return writes.plan(context, table, command, request, item)
    sent_key = sent_puts.key_or_none(table, request.json)
    if sent_key is None:
        return None
    tab = writes.tab(context, table)
    step = partial(_store, table, request, sent_key, Origin(context.clock.now()), tab)
    reads = partial(store.reads, table, sent_key)
    return Write(step if tab is None else partial(tab.write, step), reads=reads)


def _store(
    table: Table, request: SentPutItem, key: bytes, origin: Origin, tab: Tab | None, tx: Transaction
) -> PlainWritten | ItemWritten:
    """Store an item that nobody looks into, in the table as it is now."""
    current = writes.admitted(tx, table, key, tab)
    json, size = request.json, request.size
    if current.is_plain:
        units = store.put(tx, current, key, json, size, origin)
        return PlainWritten(current, request.table_name, (key,), (units,))
    # It has got an index or an expiry since the request was planned.
    command = mutation.PutCommand(key, items.of_json(json), size, None, json)
    return ItemWritten(current, request.table_name, store.apply(tx, current, command, origin))


SHORTCUT = Shortcut(SentPutItem, sent_puts.read_one, _put_sent)
