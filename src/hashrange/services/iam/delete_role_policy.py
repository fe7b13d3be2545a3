"""DeleteRolePolicy: take an inline policy away from a role."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import ROLES
from hashrange.services.iam.structures import LongName, Name


class DeleteRolePolicy(Request, kw_only=True):
    """The request."""

    role_name: Name
    policy_name: LongName


SHAPE = Shape(DeleteRolePolicy)


def delete_role_policy(context: Context, request: DeleteRolePolicy) -> Plan:
    """Take an inline policy away from a role."""
    return attachments.delete_inline(context, ROLES, request.role_name, request.policy_name)
