"""CreateRole: make a role, with who may assume it."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import ROLES, changed, check_trust, new_id, now, tagged
from hashrange.services.iam.structures import (
    Arn,
    Description,
    Document,
    Name,
    Path,
    RoleView,
    SessionSeconds,
    Tag,
)
from hashrange.services.iam.trusted import named_ids
from hashrange.services.iam.views import role_view
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import Role


class CreateRole(Request, kw_only=True):
    """The request."""

    path: Path | None = None
    role_name: Name
    assume_role_policy_document: Document
    description: Description | None = None
    max_session_duration: SessionSeconds | None = None
    permissions_boundary: Arn | None = None
    tags: list[Tag] | None = None


SHAPE = Shape(CreateRole)


class CreateRoleOutput(Response, kw_only=True):
    """The answer."""

    role: RoleView


def create_role(context: Context, request: CreateRole) -> Plan:
    """Make a role, with who may assume it."""
    check_trust(request.assume_role_policy_document)
    role = Role(
        name=request.role_name,
        path=request.path or "/",
        id=new_id(ROLES.id_prefix),
        created_at=now(context),
        trust=request.assume_role_policy_document,
        description=request.description,
        max_session_seconds=request.max_session_duration or 3600,
        tags=tagged({}, request.tags or ()),
        boundary=request.permissions_boundary,
    )

    def step(tx: Transaction) -> CreateRoleOutput:
        if role.boundary is not None:
            attachments.check_attachable(tx, context, role.boundary)
        trusted = named_ids(tx, context, role.trust)
        ROLES.add(tx, context, msgspec.structs.replace(role, trusted=trusted))
        return CreateRoleOutput(role=role_view(context.account_id, role))

    return changed(context, step)
