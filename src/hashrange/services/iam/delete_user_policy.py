"""DeleteUserPolicy: take an inline policy away from a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import USERS
from hashrange.services.iam.structures import LongName, Name


class DeleteUserPolicy(Request, kw_only=True):
    """The request."""

    user_name: Name
    policy_name: LongName


SHAPE = Shape(DeleteUserPolicy)


def delete_user_policy(context: Context, request: DeleteUserPolicy) -> Plan:
    """Take an inline policy away from a user."""
    return attachments.delete_inline(context, USERS, request.user_name, request.policy_name)
