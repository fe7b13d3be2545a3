"""PutResourcePolicy: give a table or a stream a policy, or another one."""

from typing import Annotated

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.permissions import guard, policies, targets
from hashrange.api.protocol import kinds
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.resource_policies import documents, resources, revisions
from hashrange.api.resource_policies.structures import ResourceArn, RevisionId
from hashrange.api.tables import states
from hashrange.api.tables.changes import change_table
from hashrange.core.schema import TABLE_POLICY, ResourcePolicy, Table
from hashrange.storage.engine import Transaction

_LOCKED_OUT = "The new resource policy will not allow you to update the resource policy in the future."


class PutResourcePolicy(Request, kw_only=True):
    """The request."""

    resource_arn: ResourceArn
    policy: Annotated[str, kinds.Text()]
    expected_revision_id: RevisionId | None = None
    confirm_remove_self_resource_access: bool | None = None


SHAPE = Shape(PutResourcePolicy)


class PutResourcePolicyOutput(Response, kw_only=True):
    """The answer."""

    revision_id: str


def put_resource_policy(context: Context, request: PutResourcePolicy) -> Plan:
    """The same policy again changes nothing, not even its revision."""
    place = resources.place_of(context, request.resource_arn)
    document = documents.checked(context, request.policy, stream=place.label != TABLE_POLICY)
    table = resources.table_of(context, place)
    if not request.confirm_remove_self_resource_access:
        _refuse_lockout(context, place.arn, document.text)
    now = context.clock.now()

    def put(current: Table) -> Table:
        place.check(current)
        revisions.check_expected(current, place, request.expected_revision_id)
        before = revisions.current(current, place)
        if before is not None and documents.same(before.document, document, versioned=before.versioned):
            return current
        states.check_changeable(current)
        revisions.check_cooldown(current, place, now, context.settings.resource_policy_cooldown)
        policy = ResourcePolicy(
            document=document.text,
            revision=revisions.next_revision(current, place, now),
            versioned=document.versioned,
        )
        return revisions.with_policy(current, place, policy)

    def told(_: Transaction, after: Table) -> PutResourcePolicyOutput:
        return PutResourcePolicyOutput(revision_id=after.policies[place.label].revision)

    return change_table(context, table, put, told)


def _refuse_lockout(context: Context, arn: str, document: str) -> None:
    """Whoever puts a policy must be able to put the next one."""
    principal = context.caller()
    need = targets.arn(context, "dynamodb:PutResourcePolicy", arn)
    if guard.judged(context, principal, need, policies.compiled(document)) is not None:
        raise ApiError("AccessDeniedException", _LOCKED_OUT)
