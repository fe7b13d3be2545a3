"""DetachGroupPolicy: detach a managed policy from a group."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import GROUPS
from hashrange.services.iam.structures import Arn, LongName


class DetachGroupPolicy(Request, kw_only=True):
    """The request."""

    group_name: LongName
    policy_arn: Arn


SHAPE = Shape(DetachGroupPolicy)


def detach_group_policy(context: Context, request: DetachGroupPolicy) -> Plan:
    """Detach a managed policy from a group."""
    return attachments.detach(context, GROUPS, request.group_name, request.policy_arn)
