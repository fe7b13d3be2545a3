"""SetDefaultPolicyVersion: choose the version that counts."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments, policies
from hashrange.services.iam.entities import changed, now
from hashrange.services.iam.structures import Arn, VersionId
from hashrange.storage.engine import Transaction


class SetDefaultPolicyVersion(Request, kw_only=True):
    """The request."""

    policy_arn: Arn
    version_id: VersionId


SHAPE = Shape(SetDefaultPolicyVersion)


def set_default_policy_version(context: Context, request: SetDefaultPolicyVersion) -> Plan:
    """Choose the version that counts."""
    moment = now(context)

    def step(tx: Transaction) -> None:
        policy = attachments.managed(tx, context, request.policy_arn)
        number = policies.version(policy, request.policy_arn, request.version_id).number
        policies.save(tx, context, msgspec.structs.replace(policy, default=number, updated_at=moment))

    return changed(context, step)
