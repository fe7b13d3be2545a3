"""Changing a table's record: always against what is stored, never against what was remembered."""

from collections.abc import Callable

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.plan import Write
from hashrange.core.schema import Table, changed
from hashrange.core.table_life import gone, settled
from hashrange.storage import catalogue
from hashrange.storage.engine import Transaction

Change = Callable[[Table], Table]
Answer = Callable[[Transaction, Table], bytes]


def change_table(
    context: Context,
    planned: Table,
    change: Change,
    answer: Answer,
    *,
    missing: Callable[[], ApiError] | None = None,
) -> Write:
    """Apply a change to the settled record and answer from what became of it."""
    now = context.clock.now()
    place = catalogue.address(planned)

    def step(tx: Transaction) -> bytes:
        stored = catalogue.stored_table(tx, *place)
        if stored is None or gone(stored, now):
            raise missing() if missing else errors.table_not_found(planned.name)
        after = change(settled(stored, now))
        if after is not stored:
            after = changed(after, version=stored.version + 1)
            catalogue.save(tx, after)
        return answer(tx, after)

    return Write(step, after=lambda: context.catalogue.refresh(*place))
