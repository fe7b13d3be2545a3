"""UpdateRole: change the description or the longest session of a role."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import ROLES, changed
from hashrange.services.iam.structures import Description, Name, SessionSeconds
from hashrange.storage.engine import Transaction


class UpdateRole(Request, kw_only=True):
    """The request."""

    role_name: Name
    description: Description | None = None
    max_session_duration: SessionSeconds | None = None


SHAPE = Shape(UpdateRole)


class UpdateRoleOutput(Response, kw_only=True):
    """The answer."""


def update_role(context: Context, request: UpdateRole) -> Plan:
    """Change the description or the longest session of a role."""

    def step(tx: Transaction) -> UpdateRoleOutput:
        role = ROLES.get(tx, context, request.role_name)
        # What is not sent stays as it is, whatever the reference says of the duration (observed on the service).
        after = msgspec.structs.replace(
            role,
            description=role.description if request.description is None else request.description,
            max_session_seconds=request.max_session_duration or role.max_session_seconds,
        )
        ROLES.save(tx, context, after)
        return UpdateRoleOutput()

    return changed(context, step)
