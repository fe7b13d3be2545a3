"""UntagResource: take tags off a table."""

from typing import Any

from hashrange.api.context import Context
from hashrange.api.kinds import ListOf, Text
from hashrange.api.plan import Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.tables import states, tags
from hashrange.api.tables.changes import change_table
from hashrange.core.schema import Table, changed

SHAPE = Shape({"ResourceArn": Text(), "TagKeys": ListOf(Text())})


@operation("UntagResource", SHAPE)
def untag_resource(context: Context, request: dict[str, Any]) -> Plan:
    """Keys that the table does not have are no error."""
    arn = request.get("ResourceArn")
    name = tags.table_name(context, arn)
    keys = tags.members(request, "TagKeys", "Tag Key")
    table = tags.tagged_table(context, str(arn), name)
    for key in keys:
        tags.check_key(key)
    tags.check_count(keys)

    def untagged(current: Table) -> Table:
        states.check_changeable(current)
        return changed(current, tags={key: value for key, value in current.tags.items() if key not in keys})

    return change_table(context, table, untagged, lambda *_: b"", missing=lambda: tags.missing(str(arn)))
