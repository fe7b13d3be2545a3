"""ListUsers: describe the users of the account."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import USERS, place, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Marker, MaxItems, PathPrefix, UserView
from hashrange.services.iam.views import user_view
from hashrange.storage.engine import Reader


class ListUsers(Request, kw_only=True):
    """The request."""

    path_prefix: PathPrefix | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListUsers)


class ListUsersOutput(Response, kw_only=True):
    """The answer."""

    users: list[UserView]
    is_truncated: bool | None = None
    marker: str | None = None


def list_users(context: Context, request: ListUsers) -> Plan:
    """Describe the users of the account."""

    def step(reader: Reader) -> ListUsersOutput:
        rows = USERS.rows.of_region(reader, place(context))
        chosen = (
            (row_id, user_view(context.account_id, user, whole=False))
            for row_id, user in rows
            if user.path.startswith(request.path_prefix or "/")
        )
        listed, more, marker = page(chosen, marker=request.marker, max_items=request.max_items)
        return ListUsersOutput(users=listed, is_truncated=more, marker=marker)

    return shown(step)
