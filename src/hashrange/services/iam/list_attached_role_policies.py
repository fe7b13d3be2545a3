"""ListAttachedRolePolicies: the managed policies that are attached to a role."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import ROLES, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import AttachedPolicy, Marker, MaxItems, Name, PathPrefix
from hashrange.services.iam.views import attached_view, path_of
from hashrange.storage.engine import Reader


class ListAttachedRolePolicies(Request, kw_only=True):
    """The request."""

    role_name: Name
    path_prefix: PathPrefix | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListAttachedRolePolicies)


class ListAttachedRolePoliciesOutput(Response, kw_only=True):
    """The answer."""

    attached_policies: list[AttachedPolicy]
    is_truncated: bool | None = None
    marker: str | None = None


def list_attached_role_policies(context: Context, request: ListAttachedRolePolicies) -> Plan:
    """The managed policies that are attached to a role."""

    def step(reader: Reader) -> ListAttachedRolePoliciesOutput:
        arns = sorted(ROLES.get(reader, context, request.role_name).attached)
        chosen = (
            (arn, attached_view(arn)) for arn in arns if path_of(arn).startswith(request.path_prefix or "/")
        )
        listed, more, marker = page(chosen, marker=request.marker, max_items=request.max_items)
        return ListAttachedRolePoliciesOutput(attached_policies=listed, is_truncated=more, marker=marker)

    return shown(step)
