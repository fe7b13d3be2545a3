"""DeleteScheduledAction: change a target's bounds at those times no longer."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.autoscaling.changes import delete
from hashrange.services.autoscaling.structures import Id, Nothing, ScalableDimension, ServiceNamespace
from hashrange.storage import scaling_rows
from hashrange.storage.engine import Transaction
from hashrange.storage.scaling_rows import SCHEDULED_ACTIONS, ScheduledAction
from hashrange.storage.setting_rows import Place


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

    def remove(tx: Transaction, place: Place, action: ScheduledAction, _: float) -> None:
        scaling_rows.remove_action(tx, place, action)

    return delete(
        context, request, (SCHEDULED_ACTIONS, request.scheduled_action_name, "scheduled action"), remove
    )
