"""DeleteBackup: gone at once for clients; a job deletes the files."""

from datetime import UTC, datetime

from hashrange.api.backups.descriptions import BackupDescription, described, find, place_of
from hashrange.api.backups.restored_tables import invalid
from hashrange.api.backups.structures import BackupArn
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.core.schema import changed
from hashrange.storage import backup_rows, holds
from hashrange.storage.backup_rows import BACKUPS
from hashrange.storage.engine import Transaction
from hashrange.storage.restore_rows import restored_from


class DeleteBackup(Request, kw_only=True):
    """The request."""

    backup_arn: BackupArn


SHAPE = Shape(DeleteBackup)


class DeleteBackupOutput(Response, kw_only=True):
    """The answer."""

    backup_description: BackupDescription


def delete_backup(context: Context, request: DeleteBackup) -> Plan:
    """Refuse while a table is being restored from it, and for the backup of a deleted table.

    The service has a deleted table's backup within seconds. Here it may be that it cannot be written, because the disk
    is full of the very table; until it is there it can be deleted, and its table is cleared away.
    """
    place = place_of(context, request.backup_arn)
    now = context.clock.now()

    def step(tx: Transaction) -> Described:
        backup = find(tx, request.backup_arn, place)
        tx.use_reserve()
        if backup.type == "SYSTEM" and backup.status == "AVAILABLE":
            expiry = datetime.fromtimestamp(backup.expires_at or now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[
                :-3
            ]
            raise invalid(
                f"User is not allowed to delete the system backup with arn {request.backup_arn}. It will "
                f"automatically expire on {expiry}Z"
            )
        if restored_from(tx, place):
            raise ApiError(
                "BackupInUseException", f"Backup is being used to restore table: {request.backup_arn}"
            )
        if backup.status == "CREATING":
            holds.release(tx, backup.source, place.id, now)
        BACKUPS.save(tx, place, changed(backup, status="DELETED"), active=True)
        return Described(
            DeleteBackupOutput(backup_description=described(request.backup_arn, backup, "DELETED"))
        )

    source = backup_rows.table_name(request.backup_arn)
    refresh = context.catalogue.refresh
    return Write(step, after=lambda: refresh(context.account_id, context.region, source))
