"""UntagResource: take tags off a table."""

from typing import Any

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.kinds import ListOf, Member, Text
from hashrange.api.plan import Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.tables import states, tags
from hashrange.api.tables.changes import change_table
from hashrange.core.schema import Table, changed

SHAPE = Shape({"ResourceArn": Text(), "TagKeys": Member(ListOf(Text()), required=True)})


@operation("UntagResource", SHAPE)
def untag_resource(context: Context, request: dict[str, Any]) -> Plan:
    """Keys that the table does not have are no error."""
    arn = request.get("ResourceArn")
    table = tags.tagged_table(context, arn)
    keys = request["TagKeys"]
    if not keys:
        raise errors.validation("Atleast one Tag Key needs to be provided as Input.")
    for key in keys:
        tags.check_key(key)
    tags.check_count(keys)

    def untagged(current: Table) -> Table:
        states.check_changeable(current)
        return changed(current, tags={key: value for key, value in current.tags.items() if key not in keys})

    return change_table(context, table, untagged, lambda *_: b"", missing=lambda: tags.missing(str(arn)))
