"""DescribeContinuousBackups: point-in-time recovery, which no table has yet."""

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.table_names import existing_table, table_name


class DescribeContinuousBackups(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn


SHAPE = Shape(DescribeContinuousBackups)


class PointInTimeRecoveryDescription(Response, kw_only=True):
    """The setting."""

    point_in_time_recovery_status: str


class ContinuousBackupsDescription(Response, kw_only=True):
    """The status says that backups could be made at all: it is ENABLED on every table of the service."""

    continuous_backups_status: str
    point_in_time_recovery_description: PointInTimeRecoveryDescription


class DescribeContinuousBackupsOutput(Response, kw_only=True):
    """The answer."""

    continuous_backups_description: ContinuousBackupsDescription


_OUTPUT = DescribeContinuousBackupsOutput(
    continuous_backups_description=ContinuousBackupsDescription(
        continuous_backups_status="ENABLED",
        point_in_time_recovery_description=PointInTimeRecoveryDescription(
            point_in_time_recovery_status="DISABLED"
        ),
    )
)


def describe_continuous_backups(context: Context, request: DescribeContinuousBackups) -> Plan:
    """The backup operations have an error of their own for a missing table."""
    name = table_name(context, request.table_name)
    if existing_table(context, name) is None:
        raise ApiError("TableNotFoundException", f"Table not found: {name}")
    return Answer(Described(_OUTPUT))
