"""AddUserToGroup: have a user belong to a group."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.core import limits
from hashrange.services.iam import errors
from hashrange.services.iam.entities import GROUPS, USERS
from hashrange.services.iam.structures import LongName, Name
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import User


class AddUserToGroup(Request, kw_only=True):
    """The request."""

    group_name: LongName
    user_name: Name


SHAPE = Shape(AddUserToGroup)


def add_user_to_group(context: Context, request: AddUserToGroup) -> Plan:
    """Have a user belong to a group."""

    def change(tx: Transaction, user: User) -> User:
        name = GROUPS.get(tx, context, request.group_name).name.lower()
        if name in user.groups:
            return user
        if len(user.groups) >= limits.IAM_GROUPS_PER_USER_MAX:
            raise errors.quota("GroupsPerUser", limits.IAM_GROUPS_PER_USER_MAX)
        return msgspec.structs.replace(user, groups=(*user.groups, name))

    return USERS.change(context, request.user_name, change)
