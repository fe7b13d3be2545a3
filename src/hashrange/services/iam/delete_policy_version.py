"""DeletePolicyVersion: delete a version that is not the default."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments, errors, policies
from hashrange.services.iam.entities import changed
from hashrange.services.iam.structures import Arn, VersionId
from hashrange.storage.engine import Transaction


class DeletePolicyVersion(Request, kw_only=True):
    """The request."""

    policy_arn: Arn
    version_id: VersionId


SHAPE = Shape(DeletePolicyVersion)


def delete_policy_version(context: Context, request: DeletePolicyVersion) -> Plan:
    """Delete a version that is not the default."""

    def step(tx: Transaction) -> None:
        policy = attachments.managed(tx, context, request.policy_arn)
        version = policies.version(policy, request.policy_arn, request.version_id)
        if version.number == policy.default:
            raise errors.delete_conflict("Cannot delete the default version of a policy.")
        left = tuple(other for other in policy.versions if other is not version)
        policies.save(tx, context, msgspec.structs.replace(policy, versions=left))

    return changed(context, step)
