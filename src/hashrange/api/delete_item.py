"""DeleteItem: remove one item by its key."""

from typing import Any

from hashrange.api import item_writes
from hashrange.api.context import Context
from hashrange.api.item_shapes import single_write
from hashrange.api.parameters import attribute_map
from hashrange.api.plan import Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.core import mutation
from hashrange.core.keys import key_paths, primary_key

SHAPE = Shape(
    single_write("Key"),
    prefixed=True,
)


@operation("DeleteItem", SHAPE)
def delete_item(context: Context, request: dict[str, Any]) -> Plan:
    item_writes.check_parameters(request)
    key_item = attribute_map(request["Key"])
    wants_old = item_writes.check_return_values(request)
    condition = item_writes.condition(request)
    table = data_table(context, request["TableName"])
    key = primary_key.of_key(table, key_item)
    key_paths.refuse_nested(table, table.indexes, condition)
    command = mutation.Delete(key, condition)
    return item_writes.write(table, command, request, key_item, wants_old=wants_old)
