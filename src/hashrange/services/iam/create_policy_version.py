"""CreatePolicyVersion: give a managed policy another document, of which it keeps five."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.core import limits
from hashrange.services.iam import attachments, errors, policies
from hashrange.services.iam.entities import changed, now
from hashrange.services.iam.structures import Arn, Document, PolicyVersionView
from hashrange.services.iam.views import version_view
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import Version


class CreatePolicyVersion(Request, kw_only=True):
    """The request."""

    policy_arn: Arn
    policy_document: Document
    set_as_default: bool | None = None


SHAPE = Shape(CreatePolicyVersion)


class CreatePolicyVersionOutput(Response, kw_only=True):
    """The answer."""

    policy_version: PolicyVersionView


def create_policy_version(context: Context, request: CreatePolicyVersion) -> Plan:
    """Give a managed policy another document, of which it keeps five."""
    policies.check(request.policy_document)
    created_at = now(context)

    def step(tx: Transaction) -> CreatePolicyVersionOutput:
        policy = attachments.managed(tx, context, request.policy_arn)
        if len(policy.versions) >= limits.IAM_POLICY_VERSIONS_MAX:
            raise errors.limit_exceeded(
                f"A managed policy can have up to {limits.IAM_POLICY_VERSIONS_MAX} versions. Before you create a new "
                "version, you must delete an existing version."
            )
        version = Version(policy.last + 1, request.policy_document, created_at)
        after = msgspec.structs.replace(
            policy,
            versions=(*policy.versions, version),
            last=version.number,
            default=version.number if request.set_as_default else policy.default,
            updated_at=created_at,
        )
        policies.save(tx, context, after)
        return CreatePolicyVersionOutput(policy_version=version_view(after, version, document=False))

    return changed(context, step)
