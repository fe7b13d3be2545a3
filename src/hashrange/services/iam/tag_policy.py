"""TagPolicy: give a managed policy tags."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments, policies
from hashrange.services.iam.entities import changed, tagged
from hashrange.services.iam.structures import Arn, Tag
from hashrange.storage.engine import Transaction


class TagPolicy(Request, kw_only=True):
    """The request."""

    policy_arn: Arn
    tags: list[Tag]


SHAPE = Shape(TagPolicy)


def tag_policy(context: Context, request: TagPolicy) -> Plan:
    """Give a managed policy tags."""

    def step(tx: Transaction) -> None:
        policy = attachments.managed(tx, context, request.policy_arn)
        after = msgspec.structs.replace(policy, tags=tagged(policy.tags, request.tags))
        policies.save(tx, context, after)

    return changed(context, step)
