"""GetPolicyVersion: show the document of a version."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import policies
from hashrange.services.iam.entities import shown
from hashrange.services.iam.structures import Arn, PolicyVersionView, VersionId
from hashrange.services.iam.views import version_view
from hashrange.storage.engine import Reader


class GetPolicyVersion(Request, kw_only=True):
    """The request."""

    policy_arn: Arn
    version_id: VersionId


SHAPE = Shape(GetPolicyVersion)


class GetPolicyVersionOutput(Response, kw_only=True):
    """The answer."""

    policy_version: PolicyVersionView


def get_policy_version(context: Context, request: GetPolicyVersion) -> Plan:
    """Show the document of a version."""

    def step(reader: Reader) -> GetPolicyVersionOutput:
        _, policy = policies.find(reader, context, request.policy_arn)
        version = policies.version(policy, request.policy_arn, request.version_id)
        return GetPolicyVersionOutput(policy_version=version_view(policy, version))

    return shown(step)
