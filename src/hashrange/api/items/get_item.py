"""GetItem: read one item by its key."""

from collections.abc import Callable
from functools import partial

from hashrange.api.context import Context
from hashrange.api.items.newer_shapes import NewerShape
from hashrange.api.items.parameters import mixing, read_projection, refuse_idle_names
from hashrange.api.items.structures import AttributesToGet
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.structures import (
    AttributeMap,
    AttributeNames,
    Request,
    ReturnConsumedCapacity,
    TableName,
)
from hashrange.api.results import ItemRead, Result
from hashrange.api.table_names import data_table, ready_table
from hashrange.capacity.admission import Allowance
from hashrange.core import capacity, items, values
from hashrange.core.expressions import Projection, picked_json
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.limits import READ_UNIT_BYTES
from hashrange.core.schema import Table
from hashrange.storage import store
from hashrange.storage.engine import Reader


class GetItem(Request, kw_only=True):
    """The request."""

    return_consumed_capacity: ReturnConsumedCapacity | None = None
    attributes_to_get: AttributesToGet | None = None
    table_name: TableName
    key: AttributeMap
    consistent_read: bool | None = None
    projection_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None


SHAPE = NewerShape(GetItem)


def get_item(context: Context, request: GetItem) -> Plan:
    """Check the key and the projection, then the key against the table."""
    if (
        request.projection_expression is None
        and request.attributes_to_get is None
        and request.expression_attribute_names is None
    ):
        # As most requests are; what is wrong with a key is told below.
        table = ready_table(context, request.table_name)
        key = None if table is None else primary_key.of_key_or_none(table, request.key)
        if table is not None and key is not None:
            return _plan(context, request, table, key, None)
    if request.attributes_to_get is not None and request.projection_expression is not None:
        raise mixing(["AttributesToGet"], ["ProjectionExpression"])
    refuse_idle_names(request, request.projection_expression)
    key_item = values.canonical_item(request.key)
    projection = read_projection(request, request.attributes_to_get)
    table = data_table(context, request.table_name)
    key = primary_key.of_key(table, key_item)
    key_paths.refuse_nested(table, table.indexes, projection)
    return _plan(context, request, table, key, projection)


def _plan(
    context: Context, request: GetItem, table: Table, key: bytes, projection: Projection | None
) -> Read:
    consistent = request.consistent_read is True
    row = store.row_key(table, key)
    gate = context.gate
    if gate is None or not (table.tags or gate.guards_all):
        plain = partial(_read, table, request.table_name, key, row, projection, consistent, None)
        return Read(plain, (row,), not consistent)
    allowance = gate.read_allowance(table, None, key)
    step: Callable[[Reader], Result] = partial(
        _read, table, request.table_name, key, row, projection, consistent, allowance
    )
    if allowance is None:
        step = gate.guarded(table, None, key, step)
    return Read(step, (row,), not consistent)


def _read(
    table: Table,
    name: str,
    key: bytes,
    row: bytes,
    projection: Projection | None,
    consistent: bool,
    allowance: Allowance | None,
    reader: Reader,
) -> ItemRead:
    """Read the item, and pay for it from what was lent to its partition, if that was."""
    stored = reader.get(row)
    if allowance is not None:
        # JSON is never shorter than the item's size.
        if stored is None or len(stored) <= READ_UNIT_BYTES:
            allowance.left -= 1.0 if consistent else 0.5
        else:
            allowance.left -= capacity.read_units(items.stored_size(stored), consistent=consistent)
    picked = None if projection is None or stored is None else picked_json(projection, stored)
    return ItemRead(table, name, key, stored, picked, consistent)
