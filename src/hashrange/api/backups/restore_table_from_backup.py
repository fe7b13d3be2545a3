"""RestoreTableFromBackup: make a new table of the items in a backup."""

import secrets

from hashrange.api.backups import restores
from hashrange.api.backups.descriptions import find, not_found, origin_of
from hashrange.api.backups.restored_tables import Overrides, check_region, invalid, restored_table
from hashrange.api.backups.structures import BackupArn
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Response
from hashrange.api.results import Described
from hashrange.api.tables.description import TableDescription
from hashrange.core import effort
from hashrange.core.schema import Restoring
from hashrange.storage.engine import Transaction
from hashrange.storage.job_rows import JobPlace, job_id
from hashrange.storage.restore_rows import Restore, restored_from


class RestoreTableFromBackup(Overrides, kw_only=True):
    """The request."""

    backup_arn: BackupArn


SHAPE = Shape(RestoreTableFromBackup)


class RestoreTableFromBackupOutput(Response, kw_only=True):
    """The answer."""

    table_description: TableDescription


def restore_table_from_backup(context: Context, request: RestoreTableFromBackup) -> Plan:
    """Check the backup, then begin to fill the new table."""
    origin = origin_of(context, request.backup_arn)
    check_region(context, origin.region, request)
    effort.leave_shared_thread()
    fault = context.backups.fault(origin)
    now = context.clock.now()
    place = JobPlace(context.account_id, context.region, job_id(now, secrets.token_hex(4)))

    def step(tx: Transaction) -> Described:
        backup = find(tx, request.backup_arn, origin)
        if backup.status == "CREATING":
            raise not_found(request.backup_arn)
        if backup.damage is not None:
            state = "has failed" if backup.status == "FAILED" else "is damaged"
            raise invalid(f"Backup {request.backup_arn} {state}: {backup.damage}")
        if fault is not None:
            raise invalid(f"Backup {request.backup_arn} is damaged: {fault}")
        restoring = Restoring(
            source_arn=backup.source.arn, backup_arn=request.backup_arn, restore_at=backup.created_at
        )
        target = restored_table(context, tx, backup.source, request, restoring)
        restores.refuse_taken(tx, target, now)
        if restored_from(tx, origin):  # a backup feeds one restore at a time
            raise ApiError(
                "BackupInUseException", f"Backup is being used to restore another table: {request.backup_arn}"
            )
        restore = Restore(
            target=target.name,
            target_number=0,
            source=backup.source,
            moment_us=backup.moment_us,
            backup=origin,
        )
        description = restores.begin(tx, place, target, restore, now)
        return Described(RestoreTableFromBackupOutput(table_description=description))

    refresh = context.catalogue.refresh
    return Write(step, after=lambda: refresh(context.account_id, context.region, request.target_table_name))
