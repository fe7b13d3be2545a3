"""GetUser: describe a user; without a name, whoever asks."""

from hashrange.api.context import Context
from hashrange.api.errors import validation
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.auth.principals import Principal, PrincipalKind
from hashrange.services.iam.entities import USERS, shown
from hashrange.services.iam.structures import Name, UserView
from hashrange.services.iam.views import user_view
from hashrange.storage.engine import Reader


class GetUser(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None


SHAPE = Shape(GetUser)


class GetUserOutput(Response, kw_only=True):
    """The answer."""

    user: UserView


def get_user(context: Context, request: GetUser) -> Plan:
    """Describe a user; without a name, whoever asks."""
    caller = context.caller()

    def step(reader: Reader) -> GetUserOutput:
        if request.user_name is not None:
            user = USERS.get(reader, context, request.user_name)
        elif caller.kind is PrincipalKind.USER:
            user = USERS.get(reader, context, caller.name)
        elif caller.is_root:
            return GetUserOutput(user=_root_view(caller))
        else:
            raise validation("Must specify userName when calling with non-User credentials")
        return GetUserOutput(user=user_view(context.account_id, user))

    return shown(step)


def _root_view(root: Principal) -> UserView:
    return UserView(path="/", user_id=root.principal_id, arn=root.arn, create_date=0.0)
