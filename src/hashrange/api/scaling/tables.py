"""The table of an operation on replicas, which has an error of its own for one that is not there."""

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.table_names import existing_table, table_name
from hashrange.core.schema import Table
from hashrange.core.table_life import settled


def scaled_table(context: Context, name_or_arn: str) -> Table:
    """The table, as it is by now."""
    name = table_name(context, name_or_arn)
    table = existing_table(context, name)
    if table is None:
        raise errors.not_found(f"Global table with name: '{name}' does not exist.")
    return settled(table, context.clock.now())
