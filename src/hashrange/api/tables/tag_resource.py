"""TagResource: add tags to a table, or give them new values."""

from typing import Any

from hashrange.api.context import Context
from hashrange.api.kinds import Text
from hashrange.api.plan import Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.tables import shapes, states, tags
from hashrange.api.tables.changes import change_table
from hashrange.core.schema import Table, changed

SHAPE = Shape({"ResourceArn": Text(), "Tags": shapes.TAGS})


@operation("TagResource", SHAPE)
def tag_resource(context: Context, request: dict[str, Any]) -> Plan:
    """All tags of the request are taken, or none."""
    arn = request.get("ResourceArn")
    name = tags.table_name(context, arn)
    wanted = tags.members(request, "Tags", "Tag")
    table = tags.tagged_table(context, str(arn), name)
    given = tags.new_tags(wanted)

    def tagged(current: Table) -> Table:
        states.check_changeable(current)
        merged = current.tags | given
        tags.check_count(merged)
        return changed(current, tags=merged)

    return change_table(context, table, tagged, lambda *_: b"", missing=lambda: tags.missing(str(arn)))
