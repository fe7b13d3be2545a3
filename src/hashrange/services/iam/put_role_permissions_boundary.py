"""PutRolePermissionsBoundary: set the permissions boundary of a role."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import ROLES
from hashrange.services.iam.structures import Arn, Name


class PutRolePermissionsBoundary(Request, kw_only=True):
    """The request."""

    role_name: Name
    permissions_boundary: Arn


SHAPE = Shape(PutRolePermissionsBoundary)


def put_role_permissions_boundary(context: Context, request: PutRolePermissionsBoundary) -> Plan:
    """Set the permissions boundary of a role."""
    return attachments.bound(context, ROLES, request.role_name, request.permissions_boundary)
