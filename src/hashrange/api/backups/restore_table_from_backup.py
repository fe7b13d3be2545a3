"""RestoreTableFromBackup: make a new table of the items in a backup."""

import secrets

from hashrange.api.backups import restores
from hashrange.api.backups.descriptions import find, not_found, place_of
from hashrange.api.backups.restored_tables import invalid, restored_table
from hashrange.api.backups.structures import BackupArn
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import NewName, Request, Response
from hashrange.api.results import Described
from hashrange.api.tables.description import TableDescription
from hashrange.api.tables.structures import (
    BillingMode,
    GlobalSecondaryIndex,
    LocalSecondaryIndex,
    OnDemandThroughput,
    ProvisionedThroughput,
    SSESpecification,
)
from hashrange.core.schema import Restoring
from hashrange.storage.engine import Transaction
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.restore_rows import RESTORES, Restore


class RestoreTableFromBackup(Request, kw_only=True):
    """The request."""

    target_table_name: NewName
    backup_arn: BackupArn
    billing_mode_override: BillingMode | None = None
    global_secondary_index_override: list[GlobalSecondaryIndex] | None = None
    local_secondary_index_override: list[LocalSecondaryIndex] | None = None
    provisioned_throughput_override: ProvisionedThroughput | None = None
    on_demand_throughput_override: OnDemandThroughput | None = None
    sse_specification_override: SSESpecification | None = None


SHAPE = Shape(RestoreTableFromBackup)


class RestoreTableFromBackupOutput(Response, kw_only=True):
    """The answer."""

    table_description: TableDescription


def restore_table_from_backup(context: Context, request: RestoreTableFromBackup) -> Plan:
    """Check the backup, then begin to fill the new table."""
    origin = place_of(context, request.backup_arn)
    now = context.clock.now()
    place = JobPlace(context.account_id, context.region, f"{int(now * 1000):014d}-{secrets.token_hex(4)}")

    def step(tx: Transaction) -> Described:
        backup = find(tx, request.backup_arn, origin)
        if backup.status == "CREATING":
            raise not_found(request.backup_arn)
        if backup.damage is not None:
            raise invalid(f"Backup {request.backup_arn} is damaged: {backup.damage}")
        restoring = Restoring(
            source_arn=backup.source.arn, backup_arn=request.backup_arn, restore_at=backup.created_at
        )
        target = restored_table(context, backup.source, request, restoring, now)
        restores.refuse_taken(tx, target, now)
        _refuse_second(tx, request.backup_arn, origin.id)
        restore = Restore(
            target=target.name,
            target_number=0,
            source=backup.source,
            moment_us=backup.moment_us,
            backup_id=origin.id,
        )
        description = restores.begin(tx, place, target, restore, now)
        return Described(RestoreTableFromBackupOutput(table_description=description))

    refresh = context.catalogue.refresh
    return Write(step, after=lambda: refresh(context.account_id, context.region, request.target_table_name))


def _refuse_second(tx: Transaction, arn: str, backup_id: str) -> None:
    """A backup feeds one restore at a time."""
    for other in RESTORES.active(tx):
        restore = RESTORES.find(tx, other)
        if restore is not None and restore.backup_id == backup_id:
            raise ApiError("BackupInUseException", f"Backup is being used to restore another table: {arn}")
