"""GetPolicy: describe a managed policy."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import policies
from hashrange.services.iam.entities import shown
from hashrange.services.iam.structures import Arn, PolicyView
from hashrange.services.iam.views import policy_view
from hashrange.storage.engine import Reader


class GetPolicy(Request, kw_only=True):
    """The request."""

    policy_arn: Arn


SHAPE = Shape(GetPolicy)


class GetPolicyOutput(Response, kw_only=True):
    """The answer."""

    policy: PolicyView


def get_policy(context: Context, request: GetPolicy) -> Plan:
    """Describe a managed policy."""

    def step(reader: Reader) -> GetPolicyOutput:
        account_id, policy = policies.find(reader, context, request.policy_arn)
        attached, bounding = policies.uses(reader, context)
        arn = request.policy_arn
        return GetPolicyOutput(
            policy=policy_view(account_id, policy, attached=attached[arn], bounding=bounding[arn])
        )

    return shown(step)
