"""RemoveUserFromGroup: have a user not belong to a group any more."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam.entities import GROUPS, USERS
from hashrange.services.iam.structures import LongName, Name
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import User


class RemoveUserFromGroup(Request, kw_only=True):
    """The request."""

    group_name: LongName
    user_name: Name


SHAPE = Shape(RemoveUserFromGroup)


def remove_user_from_group(context: Context, request: RemoveUserFromGroup) -> Plan:
    """Have a user not belong to a group any more."""

    def change(tx: Transaction, user: User) -> User:
        name = GROUPS.get(tx, context, request.group_name).name.lower()
        return msgspec.structs.replace(user, groups=tuple(other for other in user.groups if other != name))

    return USERS.change(context, request.user_name, change)
