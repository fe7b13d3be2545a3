"""UpdateAssumeRolePolicy: change who may assume a role."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam.entities import ROLES, check_trust
from hashrange.services.iam.structures import Document, Name
from hashrange.services.iam.trusted import named_ids


class UpdateAssumeRolePolicy(Request, kw_only=True):
    """The request."""

    role_name: Name
    policy_document: Document


SHAPE = Shape(UpdateAssumeRolePolicy)


def update_assume_role_policy(context: Context, request: UpdateAssumeRolePolicy) -> Plan:
    """Change who may assume a role."""
    check_trust(request.policy_document)
    return ROLES.change(
        context,
        request.role_name,
        lambda tx, role: msgspec.structs.replace(
            role,
            trust=request.policy_document,
            trusted=named_ids(tx, context, request.policy_document),
        ),
    )
