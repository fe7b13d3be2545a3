"""AttachUserPolicy: attach a managed policy to a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import USERS
from hashrange.services.iam.structures import Arn, Name


class AttachUserPolicy(Request, kw_only=True):
    """The request."""

    user_name: Name
    policy_arn: Arn


SHAPE = Shape(AttachUserPolicy)


def attach_user_policy(context: Context, request: AttachUserPolicy) -> Plan:
    """Attach a managed policy to a user."""
    return attachments.attach(context, USERS, request.user_name, request.policy_arn)
