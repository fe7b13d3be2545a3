"""PutRolePolicy: give a role an inline policy, or replace one."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import ROLES
from hashrange.services.iam.structures import Document, LongName, Name


class PutRolePolicy(Request, kw_only=True):
    """The request."""

    role_name: Name
    policy_name: LongName
    policy_document: Document


SHAPE = Shape(PutRolePolicy)


def put_role_policy(context: Context, request: PutRolePolicy) -> Plan:
    """Give a role an inline policy, or replace one."""
    return attachments.put_inline(
        context, ROLES, request.role_name, request.policy_name, request.policy_document
    )
