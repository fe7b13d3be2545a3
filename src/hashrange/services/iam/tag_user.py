"""TagUser: give a user tags."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam.entities import USERS, tagged
from hashrange.services.iam.structures import Name, Tag


class TagUser(Request, kw_only=True):
    """The request."""

    user_name: Name
    tags: list[Tag]


SHAPE = Shape(TagUser)


def tag_user(context: Context, request: TagUser) -> Plan:
    """Give a user tags."""
    return USERS.change(
        context,
        request.user_name,
        lambda _tx, user: msgspec.structs.replace(user, tags=tagged(user.tags, request.tags)),
    )
