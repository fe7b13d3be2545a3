"""PutUserPolicy: give a user an inline policy, or replace one."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import USERS
from hashrange.services.iam.structures import Document, LongName, Name


class PutUserPolicy(Request, kw_only=True):
    """The request."""

    user_name: Name
    policy_name: LongName
    policy_document: Document


SHAPE = Shape(PutUserPolicy)


def put_user_policy(context: Context, request: PutUserPolicy) -> Plan:
    """Give a user an inline policy, or replace one."""
    return attachments.put_inline(
        context, USERS, request.user_name, request.policy_name, request.policy_document
    )
