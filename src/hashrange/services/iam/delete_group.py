"""DeleteGroup: delete a group that has neither users nor policies."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import errors
from hashrange.services.iam.entities import GROUPS, USERS, changed, place
from hashrange.services.iam.structures import LongName
from hashrange.storage.engine import Transaction


class DeleteGroup(Request, kw_only=True):
    """The request."""

    group_name: LongName


SHAPE = Shape(DeleteGroup)


def delete_group(context: Context, request: DeleteGroup) -> Plan:
    """Delete a group that has neither users nor policies."""

    def step(tx: Transaction) -> None:
        group = GROUPS.get(tx, context, request.group_name)
        users = USERS.rows.of_region(tx, place(context))
        if any(group.name.lower() in user.groups for _, user in users):
            raise errors.delete_conflict("Cannot delete entity, must remove users from group first.")
        GROUPS.remove(tx, context, group)

    return changed(context, step)
