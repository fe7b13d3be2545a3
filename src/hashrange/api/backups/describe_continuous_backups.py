"""DescribeContinuousBackups: whether a table can be restored to a point in time, and to which."""

from hashrange.api.backups import continuous
from hashrange.api.backups.continuous import ContinuousBackupsDescription
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.table_names import backed_up_table


class DescribeContinuousBackups(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn


SHAPE = Shape(DescribeContinuousBackups)


class DescribeContinuousBackupsOutput(Response, kw_only=True):
    """The answer."""

    continuous_backups_description: ContinuousBackupsDescription


def describe_continuous_backups(context: Context, request: DescribeContinuousBackups) -> Plan:
    """Read the setting from the table's record."""
    table = backed_up_table(context, request.table_name)
    description = continuous.describe(table, context.clock.now())
    return Answer(Described(DescribeContinuousBackupsOutput(continuous_backups_description=description)))
