"""DeleteGroupPolicy: take an inline policy away from a group."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import GROUPS
from hashrange.services.iam.structures import LongName


class DeleteGroupPolicy(Request, kw_only=True):
    """The request."""

    group_name: LongName
    policy_name: LongName


SHAPE = Shape(DeleteGroupPolicy)


def delete_group_policy(context: Context, request: DeleteGroupPolicy) -> Plan:
    """Take an inline policy away from a group."""
    return attachments.delete_inline(context, GROUPS, request.group_name, request.policy_name)
