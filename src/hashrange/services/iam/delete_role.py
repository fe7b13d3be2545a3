"""DeleteRole: delete a role that has no policies any more; its sessions end."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam.entities import ROLES, changed, place
from hashrange.services.iam.structures import Name
from hashrange.storage import last_uses
from hashrange.storage.engine import Transaction


class DeleteRole(Request, kw_only=True):
    """The request."""

    role_name: Name


SHAPE = Shape(DeleteRole)


def delete_role(context: Context, request: DeleteRole) -> Plan:
    """Delete a role that has no policies any more; its sessions end."""

    def step(tx: Transaction) -> None:
        role = ROLES.get(tx, context, request.role_name)
        ROLES.remove(tx, context, role)
        last_uses.forget(tx, place(context), role.id)

    return changed(context, step)
