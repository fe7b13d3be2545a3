"""GetContextKeysForPrincipalPolicy: the condition keys that the policies of a user, a group or a role name."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.auth.policy.documents import Kind
from hashrange.services.iam import simulated_entities, simulation
from hashrange.services.iam.entities import shown
from hashrange.services.iam.simulation import Documents
from hashrange.services.iam.structures import Arn
from hashrange.storage.engine import Reader


class GetContextKeysForPrincipalPolicy(Request, kw_only=True):
    """The request."""

    policy_source_arn: Arn
    policy_input_list: Documents | None = None


SHAPE = Shape(GetContextKeysForPrincipalPolicy)


class GetContextKeysForPrincipalPolicyOutput(Response, kw_only=True):
    """The answer."""

    context_key_names: list[str]


def get_context_keys_for_principal_policy(
    context: Context, request: GetContextKeysForPrincipalPolicy
) -> Plan:
    """The keys of their policies, of their boundary, and of the policies in the request."""
    added = simulation.sources(request.policy_input_list, "PolicyInputList", Kind.IDENTITY)

    def step(reader: Reader) -> GetContextKeysForPrincipalPolicyOutput:
        who = simulated_entities.entity(reader, context, request.policy_source_arn)
        bounding = () if who.boundary is None else (who.boundary,)
        names = simulation.names([*who.identity, *bounding, *added])
        return GetContextKeysForPrincipalPolicyOutput(context_key_names=names)

    return shown(step)
