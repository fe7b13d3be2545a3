"""DeleteRole: delete a role that has no policies any more; its sessions end."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam.entities import ROLES, changed
from hashrange.services.iam.structures import Name
from hashrange.storage.engine import Transaction


class DeleteRole(Request, kw_only=True):
    """The request."""

    role_name: Name


SHAPE = Shape(DeleteRole)


def delete_role(context: Context, request: DeleteRole) -> Plan:
    """Delete a role that has no policies any more; its sessions end."""

    def step(tx: Transaction) -> None:
        ROLES.remove(tx, context, ROLES.get(tx, context, request.role_name))

    return changed(context, step)
