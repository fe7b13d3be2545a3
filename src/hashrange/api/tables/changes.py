"""Changing a table's record: always against what is stored, never against what was remembered."""

from collections.abc import Callable

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Write
from hashrange.api.protocol.structures import Response
from hashrange.api.results import Described
from hashrange.core.schema import Table, changed
from hashrange.core.table_life import gone, settled
from hashrange.storage import catalogue
from hashrange.storage.engine import Transaction

TableEdit = Callable[[Table], Table]
TableEditIn = Callable[[Transaction, Table], Table]
Describe = Callable[[Transaction, Table], Response | None]
Discard = Callable[[Transaction, Table, Table], None]  # takes the record as it was and as it is now


def change_table(
    context: Context,
    planned: Table,
    edit: TableEdit,
    describe: Describe,
    *,
    discard: Discard | None = None,
    missing: Callable[[], ApiError] | None = None,
) -> Write:
    """Apply a change to the settled record and answer from what became of it; `discard` clears away what it left."""
    return change_table_in(
        context, planned, lambda _, table: edit(table), describe, discard=discard, missing=missing
    )


def change_table_in(
    context: Context,
    planned: Table,
    edit: TableEditIn,
    describe: Describe,
    *,
    discard: Discard | None = None,
    missing: Callable[[], ApiError] | None = None,
) -> Write:
    """The same for a change that has to look at more than the record."""
    now = context.clock.now()
    place = catalogue.address(planned)

    def step(tx: Transaction) -> Described:
        stored = catalogue.stored_table(tx, *place)
        if stored is None or gone(stored, now):
            raise missing() if missing else errors.table_not_found(planned.name)
        after = edit(tx, settled(stored, now))
        if after is not stored:
            after = changed(after, version=stored.version + 1)
            after = catalogue.save(tx, after, now)
            if discard is not None:
                discard(tx, stored, after)
        return Described(describe(tx, after))

    return Write(step, after=lambda: context.catalogue.refresh(*place))
