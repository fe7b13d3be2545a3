"""ListUserPolicies: the names of the inline policies of a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import USERS, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Marker, MaxItems, Name
from hashrange.storage.engine import Reader


class ListUserPolicies(Request, kw_only=True):
    """The request."""

    user_name: Name
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListUserPolicies)


class ListUserPoliciesOutput(Response, kw_only=True):
    """The answer."""

    policy_names: list[str]
    is_truncated: bool | None = None
    marker: str | None = None


def list_user_policies(context: Context, request: ListUserPolicies) -> Plan:
    """The names of the inline policies of a user."""

    def step(reader: Reader) -> ListUserPoliciesOutput:
        names = sorted(USERS.get(reader, context, request.user_name).policies)
        listed, more, marker = page(
            ((name, name) for name in names), marker=request.marker, max_items=request.max_items
        )
        return ListUserPoliciesOutput(policy_names=listed, is_truncated=more, marker=marker)

    return shown(step)
