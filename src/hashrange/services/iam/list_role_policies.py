"""ListRolePolicies: the names of the inline policies of a role."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import ROLES, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Marker, MaxItems, Name
from hashrange.storage.engine import Reader


class ListRolePolicies(Request, kw_only=True):
    """The request."""

    role_name: Name
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListRolePolicies)


class ListRolePoliciesOutput(Response, kw_only=True):
    """The answer."""

    policy_names: list[str]
    is_truncated: bool | None = None
    marker: str | None = None


def list_role_policies(context: Context, request: ListRolePolicies) -> Plan:
    """The names of the inline policies of a role."""

    def step(reader: Reader) -> ListRolePoliciesOutput:
        names = sorted(ROLES.get(reader, context, request.role_name).policies)
        listed, more, marker = page(
            ((name, name) for name in names), marker=request.marker, max_items=request.max_items
        )
        return ListRolePoliciesOutput(policy_names=listed, is_truncated=more, marker=marker)

    return shown(step)
