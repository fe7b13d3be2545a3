"""ListPolicyVersions: the versions of a managed policy, the newest first."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import policies
from hashrange.services.iam.entities import shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Arn, Marker, MaxItems, PolicyVersionView
from hashrange.services.iam.views import version_view
from hashrange.storage.engine import Reader


class ListPolicyVersions(Request, kw_only=True):
    """The request."""

    policy_arn: Arn
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListPolicyVersions)


class ListPolicyVersionsOutput(Response, kw_only=True):
    """The answer."""

    versions: list[PolicyVersionView]
    is_truncated: bool | None = None
    marker: str | None = None


def list_policy_versions(context: Context, request: ListPolicyVersions) -> Plan:
    """The versions of a managed policy, the newest first."""

    def step(reader: Reader) -> ListPolicyVersionsOutput:
        _, policy = policies.find(reader, context, request.policy_arn)
        rows = (
            (f"{place:02d}", version_view(policy, version, document=False))
            for place, version in enumerate(reversed(policy.versions))
        )
        listed, more, marker = page(rows, marker=request.marker, max_items=request.max_items)
        return ListPolicyVersionsOutput(versions=listed, is_truncated=more, marker=marker)

    return shown(step)
