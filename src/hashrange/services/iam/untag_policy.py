"""UntagPolicy: take tags away from a managed policy."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments, policies
from hashrange.services.iam.entities import changed, untagged
from hashrange.services.iam.structures import Arn, TagKey
from hashrange.storage.engine import Transaction


class UntagPolicy(Request, kw_only=True):
    """The request."""

    policy_arn: Arn
    tag_keys: list[TagKey]


SHAPE = Shape(UntagPolicy)


def untag_policy(context: Context, request: UntagPolicy) -> Plan:
    """Take tags away from a managed policy."""

    def step(tx: Transaction) -> None:
        policy = attachments.managed(tx, context, request.policy_arn)
        after = msgspec.structs.replace(policy, tags=untagged(policy.tags, request.tag_keys))
        policies.save(tx, context, after)

    return changed(context, step)
