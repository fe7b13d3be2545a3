"""UntagRole: take tags away from a role."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam.entities import ROLES, untagged
from hashrange.services.iam.structures import Name, TagKey


class UntagRole(Request, kw_only=True):
    """The request."""

    role_name: Name
    tag_keys: list[TagKey]


SHAPE = Shape(UntagRole)


def untag_role(context: Context, request: UntagRole) -> Plan:
    """Take tags away from a role."""
    return ROLES.change(
        context,
        request.role_name,
        lambda _tx, role: msgspec.structs.replace(role, tags=untagged(role.tags, request.tag_keys)),
    )
