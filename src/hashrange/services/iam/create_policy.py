"""CreatePolicy: make a managed policy."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.core import limits
from hashrange.services.iam import errors, policies
from hashrange.services.iam.entities import changed, new_id, now, place, tagged
from hashrange.services.iam.structures import Description, Document, LongName, Path, PolicyView, Tag
from hashrange.services.iam.views import policy_view
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import POLICIES, ManagedPolicy, Version


class CreatePolicy(Request, kw_only=True):
    """The request."""

    policy_name: LongName
    path: Path | None = None
    policy_document: Document
    description: Description | None = None
    tags: list[Tag] | None = None


SHAPE = Shape(CreatePolicy)


class CreatePolicyOutput(Response, kw_only=True):
    """The answer."""

    policy: PolicyView


def create_policy(context: Context, request: CreatePolicy) -> Plan:
    """Make a managed policy."""
    policies.check(request.policy_document)
    created_at = now(context)
    policy = ManagedPolicy(
        name=request.policy_name,
        path=request.path or "/",
        id=new_id("ANPA"),
        created_at=created_at,
        updated_at=created_at,
        description=request.description,
        tags=tagged({}, request.tags or ()),
        versions=(Version(1, request.policy_document, created_at),),
        default=1,
        last=1,
    )

    def step(tx: Transaction) -> CreatePolicyOutput:
        if POLICIES.find(tx, place(context), policy.name.lower()) is not None:
            raise errors.already_exists(
                f"A policy called {policy.name} already exists. Duplicate names are not allowed."
            )
        if sum(1 for _ in POLICIES.of_region(tx, place(context))) >= limits.IAM_POLICIES_MAX:
            raise errors.quota("PoliciesPerAccount", limits.IAM_POLICIES_MAX)
        policies.save(tx, context, policy)
        return CreatePolicyOutput(policy=policy_view(context.account_id, policy, attached=0, bounding=0))

    return changed(context, step)
