"""GetContextKeysForCustomPolicy: the condition keys that policies name, which are sent along."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.auth.policy.documents import Kind
from hashrange.services.iam import simulation
from hashrange.services.iam.simulation import Documents


class GetContextKeysForCustomPolicy(Request, kw_only=True):
    """The request."""

    policy_input_list: Documents


SHAPE = Shape(GetContextKeysForCustomPolicy)


class GetContextKeysForCustomPolicyOutput(Response, kw_only=True):
    """The answer."""

    context_key_names: list[str]


def get_context_keys_for_custom_policy(_context: Context, request: GetContextKeysForCustomPolicy) -> Plan:
    """The keys of the policies in the request."""
    sources = simulation.sources(request.policy_input_list, "PolicyInputList", Kind.IDENTITY)
    return Answer(Described(GetContextKeysForCustomPolicyOutput(context_key_names=simulation.names(sources))))
