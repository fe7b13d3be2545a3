"""UpdateContinuousBackups: switch point-in-time recovery on or off, or change how far it reaches back."""

from typing import Annotated

from msgspec import Meta

from hashrange.api import errors
from hashrange.api.backups import continuous
from hashrange.api.backups.continuous import ContinuousBackupsDescription
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, Structure, TableNameOrArn
from hashrange.api.table_names import backed_up_table, table_missing
from hashrange.api.tables.changes import change_table
from hashrange.core.limits import RECOVERY_DAYS_MAX
from hashrange.core.schema import Table, changed
from hashrange.storage.engine import Transaction


class PointInTimeRecoverySpecification(Structure, kw_only=True):
    """The setting that is wanted."""

    point_in_time_recovery_enabled: bool
    recovery_period_in_days: Annotated[int, Meta(ge=1, le=RECOVERY_DAYS_MAX)] | None = None


class UpdateContinuousBackups(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn
    point_in_time_recovery_specification: PointInTimeRecoverySpecification


SHAPE = Shape(UpdateContinuousBackups)


class UpdateContinuousBackupsOutput(Response, kw_only=True):
    """The answer."""

    continuous_backups_description: ContinuousBackupsDescription


def update_continuous_backups(context: Context, request: UpdateContinuousBackups) -> Plan:
    """The change is made at once, and made again it changes nothing."""
    spec = request.point_in_time_recovery_specification
    enable, days = spec.point_in_time_recovery_enabled, spec.recovery_period_in_days
    table = backed_up_table(context, request.table_name)
    now = context.clock.now()
    if not enable and days is not None:
        raise errors.validation(
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        )

    def switched(current: Table) -> Table:
        if not enable:
            return current if current.pitr_since is None else changed(current, pitr_since=None)
        if current.pitr_since is None:
            return changed(current, pitr_since=now, pitr_days=days or RECOVERY_DAYS_MAX)
        if days in (None, current.pitr_days):
            return current
        # What was trimmed under the old period does not come back with a longer one.
        since = max(current.pitr_since, now - current.pitr_days * continuous.DAY_SECONDS)
        return changed(current, pitr_since=since, pitr_days=days)

    def described(_: object, after: Table) -> UpdateContinuousBackupsOutput:
        return UpdateContinuousBackupsOutput(continuous_backups_description=continuous.describe(after, now))

    missing = lambda: table_missing(request.table_name)  # noqa: E731
    return change_table(
        context, table, switched, described, discard=None if enable else _free_history, missing=missing
    )


def _free_history(tx: Transaction, _before: Table, _after: Table) -> None:
    """A full disk is a reason to do without history: there must be room for saying so."""
    tx.use_reserve()
