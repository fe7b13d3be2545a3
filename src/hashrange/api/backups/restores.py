"""Beginning a restore: the new table, the hold on the past and the job, all in one transaction."""

from hashrange.api.errors import ApiError, limit_exceeded
from hashrange.api.tables.description import TableDescription, describe
from hashrange.core.schema import Restoring, Table, changed
from hashrange.core.table_life import gone
from hashrange.storage import backup_rows, catalogue
from hashrange.storage.engine import Transaction
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.restore_rows import ACTIVE_MAX, RESTORES, Restore


def begin(tx: Transaction, place: JobPlace, target: Table, restore: Restore, now: float) -> TableDescription:
    """Store the table and the job that fills it."""
    refuse_taken(tx, target, now)
    if len(RESTORES.active(tx)) >= ACTIVE_MAX:
        raise limit_exceeded(
            f"Subscriber limit exceeded: Only {ACTIVE_MAX} restore operations can be done simultaneously"
        )
    table = catalogue.save(tx, changed(target, number=catalogue.next_number(tx)), now)
    RESTORES.save(tx, place, changed(restore, target_number=table.number), active=True)
    return _described(tx, table, now)


def refuse_taken(tx: Transaction, target: Table, now: float) -> None:
    """The name must be free; whoever is going still has it."""
    stored = catalogue.stored_table(tx, *catalogue.address(target))
    if stored is None:
        return
    if gone(stored, now):
        backup_rows.remove_table(tx, stored, now)
        return
    if stored.restoring is not None:
        raise _being_restored(stored.name, stored.restoring)
    raise ApiError("TableAlreadyExistsException", f"Table already exists: {stored.name}")


def _being_restored(name: str, restoring: Restoring) -> ApiError:
    source = restoring.backup_arn or restoring.source_arn
    return ApiError("TableInUseException", f"Table: {name} is already being restored from backup: {source}")


def _described(tx: Transaction, table: Table, now: float) -> TableDescription:
    body = describe(tx, table, now, created=True)
    for index in body.global_secondary_indexes or ():
        index.index_status = None  # not shown until the table is there (measured)
    return body
