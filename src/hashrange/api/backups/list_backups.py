"""ListBackups: the backups of a table or of all tables, oldest first."""

from typing import Annotated, Literal

from msgspec import Meta

from hashrange.api.backups.descriptions import place_of
from hashrange.api.backups.restored_tables import invalid
from hashrange.api.backups.structures import BackupArn, Timestamp
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.table_names import table_name
from hashrange.api.tables import wording
from hashrange.api.tables.description import timestamp
from hashrange.storage import backup_rows
from hashrange.storage.backup_rows import BACKUPS, Backup
from hashrange.storage.engine import Reader
from hashrange.storage.job_rows import JobPlace

_PAGE_MAX = 100


class ListBackups(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn | None = None
    limit: Annotated[int, Meta(ge=1, le=_PAGE_MAX)] | None = None
    time_range_lower_bound: Timestamp | None = None
    time_range_upper_bound: Timestamp | None = None
    exclusive_start_backup_arn: BackupArn | None = None
    backup_type: Literal["USER", "SYSTEM", "AWS_BACKUP", "ALL"] | None = None


SHAPE = Shape(ListBackups)


class BackupSummary(Response, kw_only=True):
    """One backup."""

    table_name: str
    table_id: str
    table_arn: str
    backup_arn: str
    backup_name: str
    backup_creation_date_time: float
    backup_expiry_date_time: float | None = None
    backup_status: str
    backup_type: str
    backup_size_bytes: int


class ListBackupsOutput(Response, kw_only=True):
    """The answer."""

    backup_summaries: list[BackupSummary]
    last_evaluated_backup_arn: str | None = None


def list_backups(context: Context, request: ListBackups) -> Plan:
    """Go over the backups of the region from where the last page ended."""
    lower, upper = request.time_range_lower_bound, request.time_range_upper_bound
    if lower is not None and upper is not None and lower > upper:
        raise wording.invalid("Time range lower bound must be less than or equal to upper bound")
    start = _start(context, request.exclusive_start_backup_arn)
    name = None if request.table_name is None else table_name(context, request.table_name)
    limit = request.limit or _PAGE_MAX
    kind = request.backup_type or "USER"

    def step(reader: Reader) -> Described:
        page: list[BackupSummary] = []
        for place, backup in BACKUPS.of_region(reader, context.account_id, context.region, after=start):
            if backup.status == "DELETED" or kind not in (backup.type, "ALL"):
                continue
            if name not in (None, backup.source.name) or not _is_within(backup, lower, upper):
                continue
            if len(page) == limit:
                return Described(
                    ListBackupsOutput(backup_summaries=page, last_evaluated_backup_arn=page[-1].backup_arn)
                )
            page.append(_summary(place, backup))
        return Described(ListBackupsOutput(backup_summaries=page))

    return Read(step)


def _start(context: Context, arn: str | None) -> str:
    """The id behind which the page begins; it need not be that of a backup there is."""
    if arn is None:
        return ""
    place = place_of(context, arn)
    if arn.split(":")[3] != context.region:
        raise invalid("The supplied ExclusiveStartBackupArn does not match the region")
    return place.id


def _is_within(backup: Backup, lower: float | None, upper: float | None) -> bool:
    created_at = timestamp(backup.created_at)
    return (lower is None or created_at >= lower) and (upper is None or created_at < upper)


def _summary(place: JobPlace, backup: Backup) -> BackupSummary:
    return BackupSummary(
        table_name=backup.source.name,
        table_id=backup.source.table_id,
        table_arn=backup.source.arn,
        backup_arn=backup_rows.arn(place, backup.source.name),
        backup_name=backup.name,
        backup_creation_date_time=timestamp(backup.created_at),
        backup_expiry_date_time=None if backup.expires_at is None else timestamp(backup.expires_at),
        backup_status=backup.status,
        backup_type=backup.type,
        backup_size_bytes=backup.size,
    )
