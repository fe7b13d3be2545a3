"""ListTagsOfResource: a table's tags, all on one page."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.tables import tags


class ListTagsOfResource(Request, kw_only=True):
    """The request."""

    resource_arn: str | None = None
    next_token: str | None = None


SHAPE = Shape(ListTagsOfResource)


class Tag(Response, kw_only=True):
    """A tag."""

    key: str
    value: str


class ListTagsOfResourceOutput(Response, kw_only=True):
    """The answer."""

    tags: list[Tag]


def list_tags_of_resource(context: Context, request: ListTagsOfResource) -> Plan:
    """Fifty tags fit one page; the service ignores a token it did not give out."""
    arn = request.resource_arn
    table = tags.tagged_table(context, str(arn), tags.table_name(context, arn))
    shown = [Tag(key=key, value=value) for key, value in table.tags.items()]
    return Answer(Described(ListTagsOfResourceOutput(tags=shown)))
