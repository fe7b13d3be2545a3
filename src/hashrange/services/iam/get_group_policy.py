"""GetGroupPolicy: show an inline policy of a group."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import attachments
from hashrange.services.iam.entities import GROUPS, shown, told
from hashrange.services.iam.structures import LongName
from hashrange.storage.engine import Reader


class GetGroupPolicy(Request, kw_only=True):
    """The request."""

    group_name: LongName
    policy_name: LongName


SHAPE = Shape(GetGroupPolicy)


class GetGroupPolicyOutput(Response, kw_only=True):
    """The answer."""

    group_name: str
    policy_name: str
    policy_document: str


def get_group_policy(context: Context, request: GetGroupPolicy) -> Plan:
    """Show an inline policy of a group."""

    def step(reader: Reader) -> GetGroupPolicyOutput:
        group = GROUPS.get(reader, context, request.group_name)
        document = attachments.inline(GROUPS, group, request.policy_name)
        return GetGroupPolicyOutput(
            group_name=group.name, policy_name=request.policy_name, policy_document=told(document)
        )

    return shown(step)
