"""GetRole: describe a role."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import trusted
from hashrange.services.iam.entities import ROLES, shown
from hashrange.services.iam.last_uses import last_use
from hashrange.services.iam.structures import Name, RoleView
from hashrange.services.iam.views import role_view
from hashrange.storage.engine import Reader


class GetRole(Request, kw_only=True):
    """The request."""

    role_name: Name


SHAPE = Shape(GetRole)


class GetRoleOutput(Response, kw_only=True):
    """The answer."""

    role: RoleView


def get_role(context: Context, request: GetRole) -> Plan:
    """Describe a role."""

    def step(reader: Reader) -> GetRoleOutput:
        role = ROLES.get(reader, context, request.role_name)
        used = last_use(reader, context, role.id)
        return GetRoleOutput(role=role_view(context.account_id, trusted.shown(context, role), used=used))

    return shown(step)
