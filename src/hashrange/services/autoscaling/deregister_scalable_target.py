"""DeregisterScalableTarget: scale a capacity no longer; its policies and scheduled actions go too."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.scaling import resources, targets
from hashrange.services.autoscaling.changes import change
from hashrange.services.autoscaling.structures import Id, Nothing, ScalableDimension, ServiceNamespace
from hashrange.storage.engine import Transaction


class DeregisterScalableTarget(Request, kw_only=True):
    """The request."""

    service_namespace: ServiceNamespace
    resource_id: Id
    scalable_dimension: ScalableDimension


SHAPE = Shape(DeregisterScalableTarget)
DeregisterScalableTargetOutput = Nothing


def deregister_scalable_target(context: Context, request: DeregisterScalableTarget) -> Plan:
    """The capacity stays as it is."""
    resource = resources.parse(request.service_namespace, request.resource_id, request.scalable_dimension)
    place, now = resources.place_of(context), context.clock.now()

    def edit(tx: Transaction) -> Nothing:
        targets.deregister(tx, place, resource, now)
        return Nothing()

    return change(context, resource, edit)
