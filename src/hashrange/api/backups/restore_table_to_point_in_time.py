"""RestoreTableToPointInTime: make a new table of another one's items as they were at a second of the past."""

import re
import secrets
from datetime import UTC, datetime
from typing import Annotated

from hashrange.api import errors
from hashrange.api.backups import continuous, restores
from hashrange.api.backups.restored_tables import Overrides, check_region, invalid, restored_table
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol import kinds
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import NewName, Response
from hashrange.api.results import Described
from hashrange.api.table_names import table_missing
from hashrange.api.tables.description import TableDescription
from hashrange.core.schema import Restoring, Table
from hashrange.core.table_life import gone
from hashrange.storage import catalogue, holds
from hashrange.storage.engine import Transaction
from hashrange.storage.job_rows import JobPlace, job_id
from hashrange.storage.restore_rows import Restore

_MICROSECONDS = 1_000_000
_ARN = re.compile(r"arn:aws[^:]*:dynamodb:([^:]+):([0-9]{12}):table/([a-zA-Z0-9_.-]{3,255})")


class RestoreTableToPointInTime(Overrides, kw_only=True):
    """The request."""

    source_table_arn: Annotated[str, kinds.Text(least=1, most=1024)] | None = None
    source_table_name: NewName | None = None
    use_latest_restorable_time: bool | None = None
    restore_date_time: Annotated[float, kinds.Timestamp()] | None = None


SHAPE = Shape(RestoreTableToPointInTime)


class RestoreTableToPointInTimeOutput(Response, kw_only=True):
    """The answer."""

    table_description: TableDescription


def restore_table_to_point_in_time(context: Context, request: RestoreTableToPointInTime) -> Plan:
    """Check the moment, then hold the past and begin to fill the new table."""
    _check_moment_members(request)
    planned = _source(context, request)
    now = context.clock.now()
    place = JobPlace(context.account_id, context.region, job_id(now, secrets.token_hex(4)))

    def step(tx: Transaction) -> Described:
        source = catalogue.stored_table(tx, *catalogue.address(planned))
        if source is None or gone(source, now):
            raise table_missing(planned.name)
        second = _second(source, request, now)
        restoring = Restoring(source_arn=source.arn, restore_at=float(second))
        target = restored_table(context, tx, source, request, restoring)
        moment_us = (second + 1) * _MICROSECONDS - 1
        restore = Restore(target=target.name, target_number=0, source=source, moment_us=moment_us)
        description = restores.begin(tx, place, target, restore, now)
        holds.hold(tx, source, place.id, now, moment_us=moment_us)
        return Described(RestoreTableToPointInTimeOutput(table_description=description))

    def after() -> None:
        context.catalogue.refresh(context.account_id, context.region, request.target_table_name)
        context.catalogue.refresh(*catalogue.address(planned))

    return Write(step, after=after)


def _check_moment_members(request: RestoreTableToPointInTime) -> None:
    if request.restore_date_time is not None and request.use_latest_restorable_time:
        raise invalid(
            "Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore request. "
            "Please specify either RestoreDateTime time or UseLatestRestorableTime"
        )
    if request.restore_date_time is None and not request.use_latest_restorable_time:
        raise invalid(
            "Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"
        )


def _source(context: Context, request: RestoreTableToPointInTime) -> Table:
    name, arn, region = request.source_table_name, request.source_table_arn, context.region
    if name is not None and arn is not None:
        raise errors.validation("Must provide exactly one of: sourceTableArn, sourceTableName")
    if arn is not None:
        match = _ARN.fullmatch(arn)
        if match is None:
            raise errors.validation("sourceTableArn is not a valid ARN")
        if match[2] != context.account_id:
            raise errors.validation(
                "This action is only supported by accounts that match the resource owner\u2019s account."
            )
        check_region(context, match[1], request)
        name, region = match[3], match[1]
    if name is None:
        raise errors.validation("The parameter 'TableName' is required but was not present in the request")
    table = context.catalogue.find(context.account_id, region, name)
    if (
        table is None
        or gone(table, context.clock.now())
        or table.status_at(context.clock.now()) == "CREATING"
    ):
        raise table_missing(name)
    return table


def _second(source: Table, request: RestoreTableToPointInTime, now: float) -> int:
    """The second that is asked for; everything committed in it is included."""
    if source.pitr_since is None or source.status == "DELETING":
        raise ApiError(
            "PointInTimeRecoveryUnavailableException",
            f"Point in time recovery is not enabled for table '{source.name}'",
        )
    first, last = continuous.earliest(source, now), continuous.latest(source, now)
    if request.restore_date_time is None:
        return last
    # The log is complete up to now, so a moment later than what the service calls the latest is as good.
    if not first <= request.restore_date_time <= now:
        raise ApiError(
            "InvalidRestoreTimeException",
            f"RestoreDateTime '{_iso(request.restore_date_time)}' must be within EarliestRestorableDateTime "
            f"'{_iso(first)}' and LatestRestorableDateTime '{_iso(last)}'",
        )
    return int(request.restore_date_time)


def _iso(moment: float) -> str:
    try:
        return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(int(moment)) if abs(moment) < 2**63 else str(moment)
