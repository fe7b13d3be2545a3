"""The quick way of GetItem: a whole item by its key, and nothing else asked."""

from functools import partial
from typing import Any

from hashrange.api.context import Context
from hashrange.api.plan import Read
from hashrange.api.table_names import ready_table
from hashrange.core import items
from hashrange.core.keys import primary_key
from hashrange.storage import layout
from hashrange.storage.engine import Reader


def quick_get(context: Context, request: dict[str, Any]) -> Read | None:
    """What get_item would plan, if all members are plainly right; whatever is not, it has to judge."""
    eventual = True
    if len(request) != 2:  # TableName and Key
        consistent = request.get("ConsistentRead")
        if len(request) != 3 or type(consistent) is not bool:
            return None
        eventual = not consistent
    name = request.get("TableName")
    if type(name) is not str:
        return None
    table = ready_table(context, name)
    if table is None:
        return None
    key = primary_key.of_key_or_none(table, request.get("Key"))
    if key is None:
        return None
    row = layout.rows_prefix(table.number, layout.BASE_SLOT) + key
    return Read(partial(whole_item, row), (row,), eventual)


def whole_item(row: bytes, reader: Reader) -> bytes:
    """The answer of a GetItem without projection and report."""
    stored = reader.get(row)
    return b"{}" if stored is None else b'{"Item":' + stored[items.HEADER_BYTES :] + b"}"
