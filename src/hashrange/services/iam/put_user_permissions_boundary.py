"""PutUserPermissionsBoundary: set the permissions boundary of a user."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import USERS
from hashrange.services.iam.structures import Arn, Name


class PutUserPermissionsBoundary(Request, kw_only=True):
    """The request."""

    user_name: Name
    permissions_boundary: Arn


SHAPE = Shape(PutUserPermissionsBoundary)


def put_user_permissions_boundary(context: Context, request: PutUserPermissionsBoundary) -> Plan:
    """Set the permissions boundary of a user."""
    return attachments.bound(context, USERS, request.user_name, request.permissions_boundary)
