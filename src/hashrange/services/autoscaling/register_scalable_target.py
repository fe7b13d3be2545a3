"""RegisterScalableTarget: have a capacity scaled between two bounds, or change how it is."""

from msgspec import field

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.scaling import resources, targets
from hashrange.api.scaling.targets import Registration
from hashrange.services.autoscaling import tags
from hashrange.services.autoscaling.changes import change
from hashrange.services.autoscaling.structures import (
    Capacity,
    Id,
    ScalableDimension,
    ServiceNamespace,
    SuspendedState,
)
from hashrange.storage.engine import Transaction
from hashrange.storage.scaling_rows import Suspended


class RegisterScalableTarget(Request, kw_only=True):
    """The request."""

    service_namespace: ServiceNamespace
    resource_id: Id
    scalable_dimension: ScalableDimension
    min_capacity: Capacity | None = None
    max_capacity: Capacity | None = None
    role_arn: Id | None = field(name="RoleARN", default=None)
    suspended_state: SuspendedState | None = None
    tags: dict[str, str] | None = None


SHAPE = Shape(RegisterScalableTarget)


class RegisterScalableTargetOutput(Response, kw_only=True):
    """The answer."""

    scalable_target_arn: str = field(name="ScalableTargetARN")


def register_scalable_target(context: Context, request: RegisterScalableTarget) -> Plan:
    """The table must be there; what it is doing at the moment does not matter."""
    resource = resources.parse(request.service_namespace, request.resource_id, request.scalable_dimension)
    if request.tags is not None:
        tags.check(request.tags)
    resources.check_exists(context, resource)
    registration = Registration(
        least=request.min_capacity,
        most=request.max_capacity,
        suspended=_suspended(request.suspended_state),
        tags=request.tags,
    )
    place, now = resources.place_of(context), context.clock.now()

    def edit(tx: Transaction) -> RegisterScalableTargetOutput:
        target = targets.register(tx, place, resource, registration, now)
        return RegisterScalableTargetOutput(scalable_target_arn=targets.target_arn(place, target))

    return change(context, resource, edit)


def _suspended(state: SuspendedState | None) -> Suspended | None:
    if state is None:
        return None
    return Suspended(
        scale_in=bool(state.dynamic_scaling_in_suspended),
        scale_out=bool(state.dynamic_scaling_out_suspended),
        scheduled=bool(state.scheduled_scaling_suspended),
    )
