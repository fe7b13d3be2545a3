"""GetGroup: describe a group and its users."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import GROUPS, USERS, place, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import GroupView, LongName, Marker, MaxItems, UserView
from hashrange.services.iam.views import group_view, user_view
from hashrange.storage.engine import Reader


class GetGroup(Request, kw_only=True):
    """The request."""

    group_name: LongName
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(GetGroup)


class GetGroupOutput(Response, kw_only=True):
    """The answer."""

    group: GroupView
    users: list[UserView]
    is_truncated: bool | None = None
    marker: str | None = None


def get_group(context: Context, request: GetGroup) -> Plan:
    """Describe a group and its users."""

    def step(reader: Reader) -> GetGroupOutput:
        group = GROUPS.get(reader, context, request.group_name)
        members = (
            (row_id, user_view(context.account_id, user, whole=False))
            for row_id, user in USERS.rows.of_region(reader, place(context))
            if group.name.lower() in user.groups
        )
        listed, more, marker = page(members, marker=request.marker, max_items=request.max_items)
        shown_group = group_view(context.account_id, group)
        return GetGroupOutput(group=shown_group, users=listed, is_truncated=more, marker=marker)

    return shown(step)
