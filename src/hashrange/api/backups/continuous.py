"""Point-in-time recovery as the service describes it."""

from hashrange.api.protocol.structures import Response
from hashrange.core.schema import Table

_DAY_SECONDS = 86_400
_LAG_SECONDS = 300  # that the service's latest restorable time is behind


class PointInTimeRecoveryDescription(Response, kw_only=True):
    """The setting."""

    point_in_time_recovery_status: str
    recovery_period_in_days: int | None = None
    earliest_restorable_date_time: int | None = None
    latest_restorable_date_time: int | None = None


class ContinuousBackupsDescription(Response, kw_only=True):
    """The status says that backups could be made at all: it is ENABLED on every table of the service."""

    continuous_backups_status: str
    point_in_time_recovery_description: PointInTimeRecoveryDescription


def describe(table: Table, now: float) -> ContinuousBackupsDescription:
    """What the service says of a table."""
    setting = PointInTimeRecoveryDescription(point_in_time_recovery_status="DISABLED")
    if table.pitr_since is not None:
        setting = PointInTimeRecoveryDescription(
            point_in_time_recovery_status="ENABLED",
            recovery_period_in_days=table.pitr_days,
            earliest_restorable_date_time=earliest(table, now),
            latest_restorable_date_time=latest(table, now),
        )
    return ContinuousBackupsDescription(
        continuous_backups_status="ENABLED", point_in_time_recovery_description=setting
    )


def earliest(table: Table, now: float) -> int:
    """The first second that the table can be restored to."""
    return int(max(table.pitr_since or now, now - table.pitr_days * _DAY_SECONDS))


def latest(table: Table, now: float) -> int:
    """What the service gives as the last second that the table can be restored to."""
    return int(max(table.pitr_since or now, now - _LAG_SECONDS))
