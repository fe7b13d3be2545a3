"""DeleteResourcePolicy: take the policy off a table or a stream; it may be gone already."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.resource_policies import resources, revisions
from hashrange.api.resource_policies.structures import ResourceArn, RevisionId
from hashrange.api.tables import states
from hashrange.api.tables.changes import change_table
from hashrange.core.schema import ResourcePolicy, Table
from hashrange.storage.engine import Transaction


class DeleteResourcePolicy(Request, kw_only=True):
    """The request."""

    resource_arn: ResourceArn
    expected_revision_id: RevisionId | None = None


SHAPE = Shape(DeleteResourcePolicy)


class DeleteResourcePolicyOutput(Response, kw_only=True):
    """The answer."""

    revision_id: str | None = None


def delete_resource_policy(context: Context, request: DeleteResourcePolicy) -> Plan:
    """The answer has the revision of what was deleted; once it is gone, that of its deletion."""
    place = resources.place_of(context, request.resource_arn)
    table = resources.table_of(context, place)
    now = context.clock.now()
    answer = DeleteResourcePolicyOutput()

    def deleted(current: Table) -> Table:
        place.check(current)
        revisions.check_expected(current, place, request.expected_revision_id)
        before = current.policies.get(place.label)
        answer.revision_id = None if before is None else before.revision
        if revisions.current(current, place) is None:
            return current
        states.check_changeable(current)
        revisions.check_cooldown(current, place, now, context.settings.resource_policy_cooldown)
        revision = revisions.next_revision(current, place, now)
        return revisions.with_policy(current, place, ResourcePolicy(document=None, revision=revision))

    def told(_: Transaction, __: Table) -> DeleteResourcePolicyOutput:
        return answer

    return change_table(context, table, deleted, told)
