"""ListGroupsForUser: the groups that a user belongs to."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import GROUPS, USERS, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import GroupView, Marker, MaxItems, Name
from hashrange.services.iam.views import group_view
from hashrange.storage.engine import Reader


class ListGroupsForUser(Request, kw_only=True):
    """The request."""

    user_name: Name
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListGroupsForUser)


class ListGroupsForUserOutput(Response, kw_only=True):
    """The answer."""

    groups: list[GroupView]
    is_truncated: bool | None = None
    marker: str | None = None


def list_groups_for_user(context: Context, request: ListGroupsForUser) -> Plan:
    """The groups that a user belongs to."""

    def step(reader: Reader) -> ListGroupsForUserOutput:
        names = sorted(USERS.get(reader, context, request.user_name).groups)
        rows = ((name, group_view(context.account_id, GROUPS.get(reader, context, name))) for name in names)
        listed, more, marker = page(rows, marker=request.marker, max_items=request.max_items)
        return ListGroupsForUserOutput(groups=listed, is_truncated=more, marker=marker)

    return shown(step)
