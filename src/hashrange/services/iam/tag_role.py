"""TagRole: give a role tags."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam.entities import ROLES, tagged
from hashrange.services.iam.structures import Name, Tag


class TagRole(Request, kw_only=True):
    """The request."""

    role_name: Name
    tags: list[Tag]


SHAPE = Shape(TagRole)


def tag_role(context: Context, request: TagRole) -> Plan:
    """Give a role tags."""
    return ROLES.change(
        context,
        request.role_name,
        lambda _tx, role: msgspec.structs.replace(role, tags=tagged(role.tags, request.tags)),
    )
