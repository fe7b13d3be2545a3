"""GetResourcePolicy: the policy of a table or a stream."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.resource_policies import documents, resources, revisions
from hashrange.api.resource_policies.structures import ResourceArn
from hashrange.api.results import Described


class GetResourcePolicy(Request, kw_only=True):
    """The request."""

    resource_arn: ResourceArn


SHAPE = Shape(GetResourcePolicy)


class GetResourcePolicyOutput(Response, kw_only=True):
    """The answer."""

    policy: str
    revision_id: str


def get_resource_policy(context: Context, request: GetResourcePolicy) -> Plan:
    """In the form in which it is kept, which is not quite the one it was sent in."""
    place = resources.place_of(context, request.resource_arn)
    policy = revisions.current(resources.table_of(context, place), place)
    if policy is None or policy.document is None:
        raise revisions.not_found(request.resource_arn)
    text = documents.shown(context, policy.document)
    return Answer(Described(GetResourcePolicyOutput(policy=text, revision_id=policy.revision)))
