"""ListRoles: describe the roles of the account."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import trusted
from hashrange.services.iam.entities import ROLES, place, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Marker, MaxItems, PathPrefix, RoleView
from hashrange.services.iam.views import role_view
from hashrange.storage.engine import Reader


class ListRoles(Request, kw_only=True):
    """The request."""

    path_prefix: PathPrefix | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListRoles)


class ListRolesOutput(Response, kw_only=True):
    """The answer."""

    roles: list[RoleView]
    is_truncated: bool | None = None
    marker: str | None = None


def list_roles(context: Context, request: ListRoles) -> Plan:
    """Describe the roles of the account."""

    def step(reader: Reader) -> ListRolesOutput:
        rows = ROLES.rows.of_region(reader, place(context))
        chosen = (
            (row_id, role_view(context.account_id, trusted.shown(context, role), whole=False))
            for row_id, role in rows
            if role.path.startswith(request.path_prefix or "/")
        )
        listed, more, marker = page(chosen, marker=request.marker, max_items=request.max_items)
        return ListRolesOutput(roles=listed, is_truncated=more, marker=marker)

    return shown(step)
