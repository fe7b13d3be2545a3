"""UpdateRoleDescription: change the description of a role. UpdateRole does more, but Terraform asks for this one."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import ROLES, changed
from hashrange.services.iam.structures import Description, Name, RoleView
from hashrange.services.iam.views import role_view
from hashrange.storage.engine import Transaction


class UpdateRoleDescription(Request, kw_only=True):
    """The request."""

    role_name: Name
    description: Description


SHAPE = Shape(UpdateRoleDescription)


class UpdateRoleDescriptionOutput(Response, kw_only=True):
    """The answer."""

    role: RoleView | None = None


def update_role_description(context: Context, request: UpdateRoleDescription) -> Plan:
    """Change the description of a role."""

    def step(tx: Transaction) -> UpdateRoleDescriptionOutput:
        role = ROLES.get(tx, context, request.role_name)
        after = msgspec.structs.replace(role, description=request.description)
        ROLES.save(tx, context, after)
        return UpdateRoleDescriptionOutput(role=role_view(context.account_id, after))

    return changed(context, step)
