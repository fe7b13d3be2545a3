"""UntagResource: take tags off a table."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.tables import states, tags
from hashrange.api.tables.changes import change_table
from hashrange.core.schema import Table, changed


class UntagResource(Request, kw_only=True):
    """The request."""

    resource_arn: str | None = None
    tag_keys: list[str] | None = None


SHAPE = Shape(UntagResource)


def untag_resource(context: Context, request: UntagResource) -> Plan:
    """Keys that the table does not have are no error."""
    arn = request.resource_arn
    name = tags.table_name(context, arn)
    keys = tags.required(request.tag_keys, "tagKeys", "Tag Key")
    table = tags.tagged_table(context, str(arn), name)
    for key in keys:
        tags.check_key(key)
    tags.check_count(keys)

    def untagged(current: Table) -> Table:
        states.check_changeable(current)
        return changed(current, tags={key: value for key, value in current.tags.items() if key not in keys})

    return change_table(context, table, untagged, lambda *_: None, missing=lambda: tags.missing(str(arn)))
