"""TagResource: add tags to a table, or give them new values."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.tables import states, tags
from hashrange.api.tables.changes import change_table
from hashrange.api.tables.structures import Tag
from hashrange.core.schema import Table, changed


class TagResource(Request, kw_only=True):
    """The request."""

    resource_arn: str | None = None
    tags: list[Tag] | None = None


SHAPE = Shape(TagResource)


def tag_resource(context: Context, request: TagResource) -> Plan:
    """All tags of the request are taken, or none."""
    arn = request.resource_arn
    name = tags.table_name(context, arn)
    sent = tags.required(request.tags, "tags", "Tag")
    table = tags.tagged_table(context, str(arn), name)
    new = tags.new_tags(sent)

    def tagged(current: Table) -> Table:
        states.check_changeable(current)
        merged = current.tags | new
        tags.check_count(merged)
        return changed(current, tags=merged)

    return change_table(context, table, tagged, lambda *_: None, missing=lambda: tags.missing(str(arn)))
