"""DeleteRolePermissionsBoundary: take the permissions boundary of a role away."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import ROLES
from hashrange.services.iam.structures import Name


class DeleteRolePermissionsBoundary(Request, kw_only=True):
    """The request."""

    role_name: Name


SHAPE = Shape(DeleteRolePermissionsBoundary)


def delete_role_permissions_boundary(context: Context, request: DeleteRolePermissionsBoundary) -> Plan:
    """Take the permissions boundary of a role away."""
    return attachments.bound(context, ROLES, request.role_name, None)
