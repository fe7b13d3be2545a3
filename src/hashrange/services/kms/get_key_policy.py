"""GetKeyPolicy: the policy of a key."""

from hashrange.api.context import Context
from hashrange.api.keys import permitted
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.kms import policies
from hashrange.services.kms.structures import KeyId, PolicyName
from hashrange.storage.engine import Reader


class GetKeyPolicy(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    policy_name: PolicyName | None = None


SHAPE = Shape(GetKeyPolicy)


class GetKeyPolicyOutput(Response, kw_only=True):
    """The answer."""

    policy: str
    policy_name: str


def get_key_policy(context: Context, request: GetKeyPolicy) -> Plan:
    """Each key has one, with the name `default`."""
    policies.check_name(request.policy_name)

    def step(reader: Reader) -> Described:
        key = permitted.find_exact(context, reader, "GetKeyPolicy", request.key_id)
        return Described(
            GetKeyPolicyOutput(policy=policies.shown_policy(context, key), policy_name=policies.NAME)
        )

    return Read(step)
