"""ListGroups: describe the groups of the account."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import GROUPS, place, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import GroupView, Marker, MaxItems, PathPrefix
from hashrange.services.iam.views import group_view
from hashrange.storage.engine import Reader


class ListGroups(Request, kw_only=True):
    """The request."""

    path_prefix: PathPrefix | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListGroups)


class ListGroupsOutput(Response, kw_only=True):
    """The answer."""

    groups: list[GroupView]
    is_truncated: bool | None = None
    marker: str | None = None


def list_groups(context: Context, request: ListGroups) -> Plan:
    """Describe the groups of the account."""

    def step(reader: Reader) -> ListGroupsOutput:
        rows = GROUPS.rows.of_region(reader, place(context))
        chosen = (
            (row_id, group_view(context.account_id, group))
            for row_id, group in rows
            if group.path.startswith(request.path_prefix or "/")
        )
        listed, more, marker = page(chosen, marker=request.marker, max_items=request.max_items)
        return ListGroupsOutput(groups=listed, is_truncated=more, marker=marker)

    return shown(step)
