"""AttachGroupPolicy: attach a managed policy to a group."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import GROUPS
from hashrange.services.iam.structures import Arn, LongName


class AttachGroupPolicy(Request, kw_only=True):
    """The request."""

    group_name: LongName
    policy_arn: Arn


SHAPE = Shape(AttachGroupPolicy)


def attach_group_policy(context: Context, request: AttachGroupPolicy) -> Plan:
    """Attach a managed policy to a group."""
    return attachments.attach(context, GROUPS, request.group_name, request.policy_arn)
