"""DescribeScalableTargets: the capacities that are scaled, by pages."""

from msgspec import field

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.scaling import targets
from hashrange.api.scaling.resources import NAMESPACE
from hashrange.api.tables.description import timestamp
from hashrange.core.limits import SCALING_PAGE_MAX
from hashrange.services.autoscaling import pages
from hashrange.services.autoscaling.structures import (
    Ids,
    NextToken,
    PageSize,
    ScalableDimension,
    ServiceNamespace,
)
from hashrange.storage.scaling_rows import TARGETS, Target
from hashrange.storage.setting_rows import Place


class DescribeScalableTargets(Request, kw_only=True):
    """The request."""

    service_namespace: ServiceNamespace
    resource_ids: Ids | None = None
    scalable_dimension: ScalableDimension | None = None
    max_results: PageSize | None = None
    next_token: NextToken | None = None


SHAPE = Shape(DescribeScalableTargets)


class SuspendedStateDescription(Response, kw_only=True, omit_defaults=False):
    """What is suspended."""

    dynamic_scaling_in_suspended: bool
    dynamic_scaling_out_suspended: bool
    scheduled_scaling_suspended: bool


class ScalableTarget(Response, kw_only=True):
    """One of them."""

    service_namespace: str
    resource_id: str
    scalable_dimension: str
    min_capacity: int
    max_capacity: int
    role_arn: str = field(name="RoleARN")
    creation_time: float
    suspended_state: SuspendedStateDescription
    scalable_target_arn: str = field(name="ScalableTargetARN")


class DescribeScalableTargetsOutput(Response, kw_only=True):
    """The answer."""

    scalable_targets: list[ScalableTarget]
    next_token: str | None = None


def describe_scalable_targets(context: Context, request: DescribeScalableTargets) -> Plan:
    """Those of other services are none."""
    limit = request.max_results or SCALING_PAGE_MAX
    wanted = frozenset(request.resource_ids or ())

    def fits(target: Target) -> bool:
        return (
            request.service_namespace == NAMESPACE
            and (not wanted or target.resource_id in wanted)
            and request.scalable_dimension in (None, target.dimension)
        )

    def answer(place: Place, shown: list[Target], token: str | None) -> DescribeScalableTargetsOutput:
        described = [_described(place, target) for target in shown]
        return DescribeScalableTargetsOutput(scalable_targets=described, next_token=token)

    return pages.listed(context, TARGETS, request.next_token, limit, answer, fits=fits)


def _described(place: Place, target: Target) -> ScalableTarget:
    suspended = target.suspended
    return ScalableTarget(
        service_namespace=NAMESPACE,
        resource_id=target.resource_id,
        scalable_dimension=target.dimension,
        min_capacity=target.least,
        max_capacity=target.most,
        role_arn=target.role_arn,
        creation_time=timestamp(target.created_at),
        suspended_state=SuspendedStateDescription(
            dynamic_scaling_in_suspended=suspended.scale_in,
            dynamic_scaling_out_suspended=suspended.scale_out,
            scheduled_scaling_suspended=suspended.scheduled,
        ),
        scalable_target_arn=targets.target_arn(place, target),
    )
