"""DeleteScheduledAction: change a target's bounds at those times no longer."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.scaling import resources
from hashrange.api.scaling.resources import identified, object_not_found
from hashrange.services.autoscaling.changes import change
from hashrange.services.autoscaling.structures import Id, Nothing, ScalableDimension, ServiceNamespace
from hashrange.storage.engine import Transaction
from hashrange.storage.scaling_rows import SCHEDULED_ACTIONS, target_id


class DeleteScheduledAction(Request, kw_only=True):
    """The request."""

    service_namespace: ServiceNamespace
    scheduled_action_name: Id
    resource_id: Id
    scalable_dimension: ScalableDimension


SHAPE = Shape(DeleteScheduledAction)
DeleteScheduledActionOutput = Nothing


def delete_scheduled_action(context: Context, request: DeleteScheduledAction) -> Plan:
    """The bounds stay as they are."""
    resource = resources.parse(request.service_namespace, request.resource_id, request.scalable_dimension)
    place = resources.place_of(context)
    action_id = target_id(resource.id, resource.dimension) + request.scheduled_action_name

    def edit(tx: Transaction) -> Nothing:
        if SCHEDULED_ACTIONS.find(tx, place, action_id) is None:
            where = identified(resource.id, resource.dimension)
            raise object_not_found(
                f"No scheduled action found for {where}, scheduled action name: {request.scheduled_action_name}"
            )
        SCHEDULED_ACTIONS.remove(tx, place, action_id)
        return Nothing()

    return change(context, resource, edit)
