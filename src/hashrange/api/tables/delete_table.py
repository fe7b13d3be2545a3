"""DeleteTable: the table and all its indexes, at once for its clients and in the background for the disk."""

from typing import Any

from hashrange.api import answers, errors
from hashrange.api.context import Context
from hashrange.api.plan import Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import control_table
from hashrange.api.tables import shapes, states
from hashrange.api.tables.changes import change_table
from hashrange.api.tables.description import describe
from hashrange.core.schema import Table, changed
from hashrange.storage.engine import Transaction

SHAPE = Shape({"TableName": shapes.TABLE_NAME})


@operation("DeleteTable", SHAPE)
def delete_table(context: Context, request: dict[str, Any]) -> Plan:
    """Mark the table as going; a job removes its record and its rows."""
    table = control_table(context, request["TableName"])
    now = context.clock.now()

    def deleted(current: Table) -> Table:
        states.check_changeable(current)
        if current.deletion_protection:
            raise errors.validation(
                "Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
                "protection first."
            )
        states.check_deletable(current, now)
        return changed(current, status="DELETING", settles_at=now + context.settings.transition_ms / 1000)

    def answer(tx: Transaction, going: Table) -> bytes:
        return answers.body({"TableDescription": describe(tx, going, now)})

    return change_table(context, table, deleted, answer)
