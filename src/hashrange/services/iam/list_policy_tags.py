"""ListPolicyTags: the tags of a managed policy."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import policies
from hashrange.services.iam.entities import shown
from hashrange.services.iam.pages import page
from hashrange.services.iam.structures import Arn, Marker, MaxItems, TagView
from hashrange.storage.engine import Reader


class ListPolicyTags(Request, kw_only=True):
    """The request."""

    policy_arn: Arn
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListPolicyTags)


class ListPolicyTagsOutput(Response, kw_only=True):
    """The answer."""

    tags: list[TagView]
    is_truncated: bool | None = None
    marker: str | None = None


def list_policy_tags(context: Context, request: ListPolicyTags) -> Plan:
    """The tags of a managed policy."""

    def step(reader: Reader) -> ListPolicyTagsOutput:
        _, policy = policies.find(reader, context, request.policy_arn)
        rows = ((key, TagView(key=key, value=policy.tags[key])) for key in sorted(policy.tags))
        listed, more, marker = page(rows, marker=request.marker, max_items=request.max_items)
        return ListPolicyTagsOutput(tags=listed, is_truncated=more, marker=marker)

    return shown(step)
