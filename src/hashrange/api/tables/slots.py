"""Slots: the numbers under which a table keeps its indexes and expiry rows, each used once."""

from hashrange.api.tables.wording import over_limit
from hashrange.core.limits import TABLE_SLOT_MAX
from hashrange.core.schema import Table


def free_slot(table: Table) -> int:
    """The next slot that was never used; after 65,534 of them there is none."""
    if table.next_slot > TABLE_SLOT_MAX:
        raise over_limit(
            f"Indexes and time to live of this table have been switched too often: Table: {table.name}"
        )
    return table.next_slot
