"""ListUserTags: the tags of a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import USERS, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Marker, MaxItems, Name, TagView
from hashrange.storage.engine import Reader


class ListUserTags(Request, kw_only=True):
    """The request."""

    user_name: Name
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListUserTags)


class ListUserTagsOutput(Response, kw_only=True):
    """The answer."""

    tags: list[TagView]
    is_truncated: bool | None = None
    marker: str | None = None


def list_user_tags(context: Context, request: ListUserTags) -> Plan:
    """The tags of a user."""

    def step(reader: Reader) -> ListUserTagsOutput:
        tags = USERS.get(reader, context, request.user_name).tags
        rows = ((key, TagView(key=key, value=tags[key])) for key in sorted(tags))
        listed, more, marker = page(rows, marker=request.marker, max_items=request.max_items)
        return ListUserTagsOutput(tags=listed, is_truncated=more, marker=marker)

    return shown(step)
