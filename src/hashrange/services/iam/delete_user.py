"""DeleteUser: delete a user that has nothing any more."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import errors
from hashrange.services.iam.entities import USERS, changed, place
from hashrange.services.iam.structures import Name
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import keys_of_user


class DeleteUser(Request, kw_only=True):
    """The request."""

    user_name: Name


SHAPE = Shape(DeleteUser)


def delete_user(context: Context, request: DeleteUser) -> Plan:
    """Delete a user that has nothing any more."""

    def step(tx: Transaction) -> None:
        user = USERS.get(tx, context, request.user_name)
        if any(True for _ in keys_of_user(tx, place(context), user.name.lower())):
            raise errors.delete_conflict("Cannot delete entity, must delete access keys first.")
        if user.groups:
            raise errors.delete_conflict("Cannot delete entity, must remove users from group first.")
        USERS.remove(tx, context, user)

    return changed(context, step)
