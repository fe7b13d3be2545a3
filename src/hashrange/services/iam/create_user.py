"""CreateUser: make a user, who has neither keys nor permissions yet."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import USERS, changed, new_id, now, tagged
from hashrange.services.iam.structures import Arn, Name, Path, Tag, UserView
from hashrange.services.iam.views import user_view
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import User


class CreateUser(Request, kw_only=True):
    """The request."""

    path: Path | None = None
    user_name: Name
    permissions_boundary: Arn | None = None
    tags: list[Tag] | None = None


SHAPE = Shape(CreateUser)


class CreateUserOutput(Response, kw_only=True):
    """The answer."""

    user: UserView


def create_user(context: Context, request: CreateUser) -> Plan:
    """Make a user, who has neither keys nor permissions yet."""
    user = User(
        name=request.user_name,
        path=request.path or "/",
        id=new_id(USERS.id_prefix),
        created_at=now(context),
        tags=tagged({}, request.tags or ()),
        boundary=request.permissions_boundary,
    )

    def step(tx: Transaction) -> CreateUserOutput:
        if user.boundary is not None:
            attachments.check_attachable(tx, context, user.boundary)
        USERS.add(tx, context, user)
        return CreateUserOutput(user=user_view(context.account_id, user))

    return changed(context, step)
