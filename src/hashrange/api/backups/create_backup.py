"""CreateBackup: keep a table as it is at this moment, in files that outlive it."""

import secrets

from hashrange.api.backups.descriptions import BackupDetails, details
from hashrange.api.context import Context
from hashrange.api.errors import refuse_inaccessible
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import NewName, Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.table_names import backed_up_table, table_missing
from hashrange.core.table_life import gone, settled
from hashrange.storage import backup_rows, catalogue, holds, store
from hashrange.storage.backup_rows import BACKUPS, Backup
from hashrange.storage.engine import Transaction
from hashrange.storage.job_rows import JobPlace, job_id


class CreateBackup(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn
    backup_name: NewName


SHAPE = Shape(CreateBackup)


class CreateBackupOutput(Response, kw_only=True):
    """The answer."""

    backup_details: BackupDetails


def create_backup(context: Context, request: CreateBackup) -> Plan:
    """Take hold of the moment; a job writes the files."""
    planned = backed_up_table(context, request.table_name)
    now = context.clock.now()
    place = JobPlace(context.account_id, context.region, job_id(now, secrets.token_hex(4)))

    def step(tx: Transaction) -> Described:
        table = catalogue.stored_table(tx, *catalogue.address(planned))
        if table is None or gone(table, now):
            raise table_missing(request.table_name)
        refuse_inaccessible(table)
        moment_us = holds.hold(tx, table, place.id, now)
        source = settled(table, now)
        backup = Backup(
            name=request.backup_name,
            created_at=now,
            source=source,
            moment_us=moment_us,
            items=store.row_count(tx, table),
            size=store.size_bytes(tx, table),
        )
        BACKUPS.save(tx, place, backup, active=True)
        arn = backup_rows.arn(place, table.name)
        return Described(CreateBackupOutput(backup_details=details(arn, backup)))

    return Write(step, after=lambda: context.catalogue.refresh(*catalogue.address(planned)))
