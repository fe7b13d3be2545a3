"""SimulateCustomPolicy: what policies that are sent along would decide."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.auth import arns
from hashrange.auth.policy.documents import Kind
from hashrange.auth.policy.grantees import Caller
from hashrange.services.iam import simulation
from hashrange.services.iam.simulation import (
    ActionNames,
    ContextEntry,
    Documents,
    Pairs,
    ResourceName,
    Simulated,
    SimulationOutput,
)
from hashrange.services.iam.structures import Document, Marker, MaxItems


class SimulateCustomPolicy(Request, kw_only=True):
    """The request."""

    policy_input_list: Documents
    permissions_boundary_policy_input_list: Documents | None = None
    action_names: ActionNames
    resource_arns: list[ResourceName] | None = None
    resource_policy: Document | None = None
    resource_owner: ResourceName | None = None
    caller_arn: ResourceName | None = None
    context_entries: list[ContextEntry] | None = None
    resource_handling_option: str | None = None
    max_items: MaxItems | None = None
    marker: Marker | None = None


SHAPE = Shape(SimulateCustomPolicy)


class SimulateCustomPolicyOutput(SimulationOutput, kw_only=True):
    """The answer."""


def simulate_custom_policy(context: Context, request: SimulateCustomPolicy) -> Plan:
    """Without a caller, somebody of the account who is named nowhere."""
    nobody = Caller(context.account_id, arns.account_root(context.account_id))
    who = Simulated(
        caller=nobody if request.caller_arn is None else simulation.caller_of(request.caller_arn),
        keys=simulation.given_keys(request.context_entries),
        identity=simulation.sources(request.policy_input_list, "PolicyInputList", Kind.IDENTITY),
        boundary=simulation.boundary(request.permissions_boundary_policy_input_list),
        resource=simulation.resource_policy(request.resource_policy),
        owner=simulation.owner_of(request.resource_owner),
    )
    pairs = Pairs(request.action_names, request.resource_arns, request.marker, request.max_items)
    return Answer(Described(simulation.simulated(who, pairs)))
