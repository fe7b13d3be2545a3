"""ListRoleTags: the tags of a role."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import ROLES, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Marker, MaxItems, Name, TagView
from hashrange.storage.engine import Reader


class ListRoleTags(Request, kw_only=True):
    """The request."""

    role_name: Name
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListRoleTags)


class ListRoleTagsOutput(Response, kw_only=True):
    """The answer."""

    tags: list[TagView]
    is_truncated: bool | None = None
    marker: str | None = None


def list_role_tags(context: Context, request: ListRoleTags) -> Plan:
    """The tags of a role."""

    def step(reader: Reader) -> ListRoleTagsOutput:
        tags = ROLES.get(reader, context, request.role_name).tags
        rows = ((key, TagView(key=key, value=tags[key])) for key in sorted(tags))
        listed, more, marker = page(rows, marker=request.marker, max_items=request.max_items)
        return ListRoleTagsOutput(tags=listed, is_truncated=more, marker=marker)

    return shown(step)
