"""DescribeTable: everything about one table."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.table_names import described_table
from hashrange.api.tables.description import TableDescription, describe
from hashrange.core.table_life import settled


class DescribeTable(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn


SHAPE = Shape(DescribeTable)


class DescribeTableOutput(Response, kw_only=True):
    """The answer."""

    table: TableDescription


def describe_table(context: Context, request: DescribeTable) -> Plan:
    """Read the table's counters and render its record."""
    now = context.clock.now()
    table = settled(described_table(context, request.table_name), now)
    return Read(lambda reader: Described(DescribeTableOutput(table=describe(reader, table, now))))
