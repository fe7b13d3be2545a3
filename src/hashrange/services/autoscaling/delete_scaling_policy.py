"""DeleteScalingPolicy: follow a target no longer; the policy's alarms go with it."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.scaling import policies, resources
from hashrange.api.scaling.resources import identified, object_not_found
from hashrange.services.autoscaling.changes import change
from hashrange.services.autoscaling.structures import Id, Nothing, ScalableDimension, ServiceNamespace
from hashrange.storage.engine import Transaction
from hashrange.storage.scaling_rows import POLICIES, target_id


class DeleteScalingPolicy(Request, kw_only=True):
    """The request."""

    policy_name: Id
    service_namespace: ServiceNamespace
    resource_id: Id
    scalable_dimension: ScalableDimension


SHAPE = Shape(DeleteScalingPolicy)
DeleteScalingPolicyOutput = Nothing


def delete_scaling_policy(context: Context, request: DeleteScalingPolicy) -> Plan:
    """The capacity stays as it is."""
    resource = resources.parse(request.service_namespace, request.resource_id, request.scalable_dimension)
    place, now = resources.place_of(context), context.clock.now()
    policy_id = target_id(resource.id, resource.dimension) + request.policy_name

    def edit(tx: Transaction) -> Nothing:
        policy = POLICIES.find(tx, place, policy_id)
        if policy is None:
            where = identified(resource.id, resource.dimension)
            raise object_not_found(f"No scaling policy found for {where}, policy name: {request.policy_name}")
        policies.remove(tx, place, policy, now)
        return Nothing()

    return change(context, resource, edit)
