"""ListAttachedUserPolicies: the managed policies that are attached to a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import USERS, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import AttachedPolicy, Marker, MaxItems, Name, PathPrefix
from hashrange.services.iam.views import attached_view, path_of
from hashrange.storage.engine import Reader


class ListAttachedUserPolicies(Request, kw_only=True):
    """The request."""

    user_name: Name
    path_prefix: PathPrefix | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListAttachedUserPolicies)


class ListAttachedUserPoliciesOutput(Response, kw_only=True):
    """The answer."""

    attached_policies: list[AttachedPolicy]
    is_truncated: bool | None = None
    marker: str | None = None


def list_attached_user_policies(context: Context, request: ListAttachedUserPolicies) -> Plan:
    """The managed policies that are attached to a user."""

    def step(reader: Reader) -> ListAttachedUserPoliciesOutput:
        arns = sorted(USERS.get(reader, context, request.user_name).attached)
        chosen = (
            (arn, attached_view(arn)) for arn in arns if path_of(arn).startswith(request.path_prefix or "/")
        )
        listed, more, marker = page(chosen, marker=request.marker, max_items=request.max_items)
        return ListAttachedUserPoliciesOutput(attached_policies=listed, is_truncated=more, marker=marker)

    return shown(step)
