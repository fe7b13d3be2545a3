"""PutItem: store one whole item, replacing any item with the same key."""

from typing import Any

from hashrange.api import item_writes
from hashrange.api.context import Context
from hashrange.api.item_shapes import single_write
from hashrange.api.kinds import Violation
from hashrange.api.plan import Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.core import indexes, mutation, values
from hashrange.core.keys import key_paths, primary_key


def _narrowed(given: dict[str, Any], found: list[Violation]) -> list[Violation]:
    """An empty table name is reported alone (measured)."""
    return [each for each in found if each[1] == "TableName"] if given.get("TableName") == "" else found


SHAPE = Shape(
    single_write("Item"),
    prefixed=True,
    narrowed=_narrowed,
)


@operation("PutItem", SHAPE)
def put_item(context: Context, request: dict[str, Any]) -> Plan:
    item_writes.check_parameters(request)
    item, size = values.canonical_sized(request["Item"])
    wants_old = item_writes.check_return_values(request)
    mutation.refuse_large(size)
    condition = item_writes.condition(request)
    table = data_table(context, request["TableName"])
    key = primary_key.of_item(table, item)
    if table.indexes:
        indexes.check_index_keys(table, item)
    key_paths.refuse_nested(table, table.indexes, condition)
    command = mutation.Put(key, item, size, condition, wants_old)
    return item_writes.write(table, command, request, item, wants_old=wants_old)
