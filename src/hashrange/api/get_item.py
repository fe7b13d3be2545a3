"""GetItem: read one item by its key."""

from functools import partial
from typing import Any

import orjson

from hashrange.api import answers, shapes
from hashrange.api.context import Context
from hashrange.api.item_shapes import ATTRIBUTES, ATTRIBUTES_TO_GET, NAMES
from hashrange.api.kinds import Flag, Member, Text
from hashrange.api.parameters import attribute_map, name_resolver, refuse_idle_placeholders, refuse_mixing
from hashrange.api.plan import Plan, Read
from hashrange.api.quick_get import quick_get, whole_item
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.core import capacity, items
from hashrange.core.capacity import Consumed
from hashrange.core.expressions import Projection, legacy, pick
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.schema import Table
from hashrange.storage import layout
from hashrange.storage.engine import Reader

SHAPE = Shape(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "AttributesToGet": ATTRIBUTES_TO_GET,
        "TableName": Member(shapes.TABLE_NAME, required=True),
        "Key": Member(ATTRIBUTES, required=True),
        "ConsistentRead": Flag(),
        "ProjectionExpression": Text(),
        "ExpressionAttributeNames": NAMES,
    }
)

_LEGACY = ("AttributesToGet",)
_EXPRESSIONS = ("ProjectionExpression",)


@operation("GetItem", SHAPE, quick_get)
def get_item(context: Context, request: dict[str, Any]) -> Plan:
    check_projection_parameters(request)
    key_item = attribute_map(request["Key"])
    projection = read_projection(request)
    table = data_table(context, request["TableName"])
    row = layout.rows_prefix(table.number, layout.BASE_SLOT) + primary_key.of_key(table, key_item)
    key_paths.refuse_nested(table, (), projection)
    eventual = not request.get("ConsistentRead", False)
    if projection is None and not answers.wants_capacity(request):
        return Read(partial(whole_item, row), (row,), eventual)

    def step(reader: Reader) -> bytes:
        return _answer(request, table, projection, reader.get(row))

    return Read(step, (row,), eventual)


def check_projection_parameters(request: dict[str, Any]) -> None:
    """What GetItem and each table of BatchGetItem check first."""
    refuse_mixing(request, _LEGACY, _EXPRESSIONS)
    refuse_idle_placeholders(request, _EXPRESSIONS, ())


def read_projection(request: dict[str, Any]) -> Projection | None:
    """The projection, from an expression or from the legacy parameter."""
    text = request.get("ProjectionExpression")
    if text is not None:
        binding = name_resolver(request)
        projection = binding.projection(text)
        binding.finish()
        return projection
    names = request.get("AttributesToGet")
    return None if names is None else legacy.attributes_to_get(names)


def _answer(
    request: dict[str, Any], table: Table, projection: Projection | None, stored: bytes | None
) -> bytes:
    members = []
    if stored is not None:
        shown = (
            stored[items.HEADER_BYTES :]
            if projection is None
            else orjson.dumps(pick(projection, items.decode(stored)))
        )
        members.append(b'"Item":' + shown)
    mode = request.get("ReturnConsumedCapacity", "NONE")
    if mode != "NONE":
        size = 0 if stored is None else items.stored_size(stored)
        units = capacity.read_units(size, consistent=request.get("ConsistentRead", False))
        report = Consumed(table, request["TableName"], units).report(mode)
        members.append(b'"ConsumedCapacity":' + orjson.dumps(report))
    return answers.pasted(members)
