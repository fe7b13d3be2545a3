"""ListGroupPolicies: the names of the inline policies of a group."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam.entities import GROUPS, shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import LongName, Marker, MaxItems
from hashrange.storage.engine import Reader


class ListGroupPolicies(Request, kw_only=True):
    """The request."""

    group_name: LongName
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListGroupPolicies)


class ListGroupPoliciesOutput(Response, kw_only=True):
    """The answer."""

    policy_names: list[str]
    is_truncated: bool | None = None
    marker: str | None = None


def list_group_policies(context: Context, request: ListGroupPolicies) -> Plan:
    """The names of the inline policies of a group."""

    def step(reader: Reader) -> ListGroupPoliciesOutput:
        names = sorted(GROUPS.get(reader, context, request.group_name).policies)
        listed, more, marker = page(
            ((name, name) for name in names), marker=request.marker, max_items=request.max_items
        )
        return ListGroupPoliciesOutput(policy_names=listed, is_truncated=more, marker=marker)

    return shown(step)
