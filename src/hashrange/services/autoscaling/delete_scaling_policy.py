"""DeleteScalingPolicy: follow a target no longer; the policy's alarms go with it."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.scaling import policies
from hashrange.services.autoscaling.changes import delete
from hashrange.services.autoscaling.structures import Id, Nothing, ScalableDimension, ServiceNamespace
from hashrange.storage.scaling_rows import POLICIES


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
    return delete(context, request, (POLICIES, request.policy_name, "scaling policy"), policies.remove)
