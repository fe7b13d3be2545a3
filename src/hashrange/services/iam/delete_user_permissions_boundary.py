"""DeleteUserPermissionsBoundary: take the permissions boundary of a user away."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import USERS
from hashrange.services.iam.structures import Name


class DeleteUserPermissionsBoundary(Request, kw_only=True):
    """The request."""

    user_name: Name


SHAPE = Shape(DeleteUserPermissionsBoundary)


def delete_user_permissions_boundary(context: Context, request: DeleteUserPermissionsBoundary) -> Plan:
    """Take the permissions boundary of a user away."""
    return attachments.bound(context, USERS, request.user_name, None)
