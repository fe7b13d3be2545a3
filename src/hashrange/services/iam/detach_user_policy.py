"""DetachUserPolicy: detach a managed policy from a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import USERS
from hashrange.services.iam.structures import Arn, Name


class DetachUserPolicy(Request, kw_only=True):
    """The request."""

    user_name: Name
    policy_arn: Arn


SHAPE = Shape(DetachUserPolicy)


def detach_user_policy(context: Context, request: DetachUserPolicy) -> Plan:
    """Detach a managed policy from a user."""
    return attachments.detach(context, USERS, request.user_name, request.policy_arn)
