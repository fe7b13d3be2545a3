"""DescribeScalingPolicies: the policies of the region, by pages."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.core.limits import SCALING_POLICIES_PAGE_MAX
from hashrange.services.autoscaling import pages
from hashrange.services.autoscaling.policy_descriptions import ScalingPolicy, described
from hashrange.services.autoscaling.structures import (
    Id,
    Ids,
    NextToken,
    PageSize,
    ScalableDimension,
    ServiceNamespace,
)
from hashrange.storage.scaling_rows import POLICIES, Policy
from hashrange.storage.setting_rows import Place


class DescribeScalingPolicies(Request, kw_only=True):
    """The request."""

    policy_names: Ids | None = None
    service_namespace: ServiceNamespace
    resource_id: Id | None = None
    scalable_dimension: ScalableDimension | None = None
    max_results: PageSize | None = None
    next_token: NextToken | None = None


SHAPE = Shape(DescribeScalingPolicies)


class DescribeScalingPoliciesOutput(Response, kw_only=True):
    """The answer."""

    scaling_policies: list[ScalingPolicy]
    next_token: str | None = None


def describe_scaling_policies(context: Context, request: DescribeScalingPolicies) -> Plan:
    """A page has ten of them, whatever larger number is asked for."""
    limit = min(request.max_results or SCALING_POLICIES_PAGE_MAX, SCALING_POLICIES_PAGE_MAX)
    names = frozenset(request.policy_names or ())

    def fits(policy: Policy) -> bool:
        return pages.belongs(request, policy) and (not names or policy.name in names)

    def answer(place: Place, shown: list[Policy], token: str | None) -> DescribeScalingPoliciesOutput:
        descriptions = [described(place, policy) for policy in shown]
        return DescribeScalingPoliciesOutput(scaling_policies=descriptions, next_token=token)

    return pages.listed(context, POLICIES, request.next_token, limit, answer, fits=fits)
