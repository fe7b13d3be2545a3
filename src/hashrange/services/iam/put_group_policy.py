"""PutGroupPolicy: give a group an inline policy, or replace one."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import GROUPS
from hashrange.services.iam.structures import Document, LongName


class PutGroupPolicy(Request, kw_only=True):
    """The request."""

    group_name: LongName
    policy_name: LongName
    policy_document: Document


SHAPE = Shape(PutGroupPolicy)


def put_group_policy(context: Context, request: PutGroupPolicy) -> Plan:
    """Give a group an inline policy, or replace one."""
    return attachments.put_inline(
        context, GROUPS, request.group_name, request.policy_name, request.policy_document
    )
