"""DeleteTable: the table and all its indexes, at once for its clients and in the background for the disk."""

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, TableNameOrArn
from hashrange.api.resource_policies import revisions
from hashrange.api.table_names import described_table
from hashrange.api.tables import states
from hashrange.api.tables.changes import change_table
from hashrange.api.tables.description import TableDescription, describe
from hashrange.core.schema import Table, changed
from hashrange.storage.engine import Transaction


class DeleteTable(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn


SHAPE = Shape(DeleteTable)


class DeleteTableOutput(Response, kw_only=True):
    """The answer."""

    table_description: TableDescription


def delete_table(context: Context, request: DeleteTable) -> Plan:
    """Mark the table as going; a job removes its record and its rows."""
    table = described_table(context, request.table_name)
    now = context.clock.now()

    def deleted(current: Table) -> Table:
        states.check_changeable(current)
        if current.deletion_protection:
            raise errors.validation(
                "Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
                "protection first."
            )
        states.check_deletable(current, now)
        revisions.check_settled(current, now, context.settings.resource_policy_cooldown)
        return changed(current, status="DELETING", settles_at=now + context.settings.transition_ms / 1000)

    def described(tx: Transaction, going: Table) -> DeleteTableOutput:
        tx.use_reserve()
        return DeleteTableOutput(table_description=describe(tx, going, now))

    return change_table(context, table, deleted, described)
