"""UpdateUser: give a user another name or path."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam.entities import USERS, changed, place
from hashrange.services.iam.structures import Name, Path
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import ACCESS_KEYS, keys_of_user


class UpdateUser(Request, kw_only=True):
    """The request."""

    user_name: Name
    new_path: Path | None = None
    new_user_name: Name | None = None


SHAPE = Shape(UpdateUser)


def update_user(context: Context, request: UpdateUser) -> Plan:
    """Give a user another name or path."""
    where = place(context)

    def step(tx: Transaction) -> None:
        user = USERS.get(tx, context, request.user_name)
        name = request.new_user_name or user.name
        renamed = msgspec.structs.replace(user, name=name, path=request.new_path or user.path)
        if name.lower() == user.name.lower():
            USERS.save(tx, context, renamed)
            return
        USERS.rows.remove(tx, where, user.name.lower())
        USERS.add(tx, context, renamed)
        for key in list(keys_of_user(tx, where, user.name.lower())):
            ACCESS_KEYS.save(tx, where, key.id, msgspec.structs.replace(key, user=name.lower()))

    return changed(context, step)
