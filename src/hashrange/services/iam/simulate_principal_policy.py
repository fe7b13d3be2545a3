"""SimulatePrincipalPolicy: what the policies of a user, a group or a role would decide."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.auth.policy.documents import Kind
from hashrange.services.iam import simulated_entities, simulation
from hashrange.services.iam.entities import shown
from hashrange.services.iam.simulation import (
    ActionNames,
    ContextEntry,
    Documents,
    Pairs,
    ResourceName,
    Simulated,
    SimulationOutput,
)
from hashrange.services.iam.structures import Arn, Document, Marker, MaxItems
from hashrange.storage.engine import Reader


class SimulatePrincipalPolicy(Request, kw_only=True):
    """The request."""

    policy_source_arn: Arn
    policy_input_list: Documents | None = None
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


SHAPE = Shape(SimulatePrincipalPolicy)


class SimulatePrincipalPolicyOutput(SimulationOutput, kw_only=True):
    """The answer."""


def simulate_principal_policy(context: Context, request: SimulatePrincipalPolicy) -> Plan:
    """What is sent along is added, but for a boundary, which takes the place of the one that there is."""
    added = simulation.sources(request.policy_input_list, "PolicyInputList", Kind.IDENTITY)
    boundary = simulation.boundary(request.permissions_boundary_policy_input_list)
    resource = simulation.resource_policy(request.resource_policy)
    owner = simulation.owner_of(request.resource_owner)
    given = simulation.given_keys(request.context_entries)
    caller = None if request.caller_arn is None else simulation.caller_of(request.caller_arn)
    pairs = Pairs(request.action_names, request.resource_arns, request.marker, request.max_items)

    def step(reader: Reader) -> msgspec.Struct:
        known = simulated_entities.entity(reader, context, request.policy_source_arn)
        who = Simulated(
            caller=caller or known.caller,
            keys={**known.keys, **given},
            identity=[*known.identity, *added],
            boundary=boundary or known.boundary,
            resource=resource,
            owner=owner,
            has_all_tags=known.has_all_tags,
        )
        return simulation.simulated(who, pairs)

    return shown(step)
