"""ListPolicies: describe the managed policies of the account, and those that every account has."""

from typing import Literal

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import policies
from hashrange.services.iam.entities import shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Marker, MaxItems, PathPrefix, PolicyView
from hashrange.services.iam.views import policy_view
from hashrange.storage.engine import Reader


class ListPolicies(Request, kw_only=True):
    """The request."""

    scope: Literal["All", "AWS", "Local"] | None = None
    only_attached: bool | None = None
    path_prefix: PathPrefix | None = None
    policy_usage_filter: Literal["PermissionsPolicy", "PermissionsBoundary"] | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListPolicies)


class ListPoliciesOutput(Response, kw_only=True):
    """The answer."""

    policies: list[PolicyView]
    is_truncated: bool | None = None
    marker: str | None = None


def list_policies(context: Context, request: ListPolicies) -> Plan:
    """Describe the managed policies of the account, and those that every account has."""

    def step(reader: Reader) -> ListPoliciesOutput:
        attached, bounding = policies.uses(reader, context)
        used = {
            "PermissionsPolicy": attached.keys(),
            "PermissionsBoundary": bounding.keys(),
            None: attached.keys() | bounding.keys(),
        }[request.policy_usage_filter]
        only_used = request.only_attached or request.policy_usage_filter is not None
        rows = (
            (
                arn,
                policy_view(account_id, policy, attached=attached[arn], bounding=bounding[arn], whole=False),
            )
            for arn, account_id, policy in policies.listed(reader, context, request.scope or "All")
            if policy.path.startswith(request.path_prefix or "/") and (arn in used or not only_used)
        )
        listed, more, marker = page(rows, marker=request.marker, max_items=request.max_items)
        return ListPoliciesOutput(policies=listed, is_truncated=more, marker=marker)

    return shown(step)
