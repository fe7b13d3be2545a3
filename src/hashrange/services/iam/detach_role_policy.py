"""DetachRolePolicy: detach a managed policy from a role."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import ROLES
from hashrange.services.iam.structures import Arn, Name


class DetachRolePolicy(Request, kw_only=True):
    """The request."""

    role_name: Name
    policy_arn: Arn


SHAPE = Shape(DetachRolePolicy)


def detach_role_policy(context: Context, request: DetachRolePolicy) -> Plan:
    """Detach a managed policy from a role."""
    return attachments.detach(context, ROLES, request.role_name, request.policy_arn)
