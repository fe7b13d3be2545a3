"""UntagUser: take tags away from a user."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam.entities import USERS, untagged
from hashrange.services.iam.structures import Name, TagKey


class UntagUser(Request, kw_only=True):
    """The request."""

    user_name: Name
    tag_keys: list[TagKey]


SHAPE = Shape(UntagUser)


def untag_user(context: Context, request: UntagUser) -> Plan:
    """Take tags away from a user."""
    return USERS.change(
        context,
        request.user_name,
        lambda _tx, user: msgspec.structs.replace(user, tags=untagged(user.tags, request.tag_keys)),
    )
