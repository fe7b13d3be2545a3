"""DeletePolicy: delete a managed policy that nobody has, with its last version."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import attachments, errors, policies
from hashrange.services.iam.entities import changed, place
from hashrange.services.iam.structures import Arn
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import POLICIES


class DeletePolicy(Request, kw_only=True):
    """The request."""

    policy_arn: Arn


SHAPE = Shape(DeletePolicy)


def delete_policy(context: Context, request: DeletePolicy) -> Plan:
    """Delete a managed policy that nobody has, with its last version."""

    def step(tx: Transaction) -> None:
        policy = attachments.managed(tx, context, request.policy_arn)
        attached, bounding = policies.uses(tx, context)
        if attached[request.policy_arn] or bounding[request.policy_arn]:
            raise errors.delete_conflict("Cannot delete a policy attached to entities.")
        if len(policy.versions) > 1:
            raise errors.delete_conflict(
                "This policy has more than one version. Before you delete a policy, you must delete the policy's "
                "versions. The default version is deleted with the policy."
            )
        POLICIES.remove(tx, place(context), policy.name.lower())

    return changed(context, step)
