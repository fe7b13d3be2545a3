"""DescribeTable: everything about one table."""

from typing import Any

from hashrange.api import answers
from hashrange.api.context import Context
from hashrange.api.plan import Plan, Read
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import control_table
from hashrange.api.tables import shapes
from hashrange.api.tables.description import describe
from hashrange.core.table_life import settled

SHAPE = Shape({"TableName": shapes.TABLE_NAME})


@operation("DescribeTable", SHAPE)
def describe_table(context: Context, request: dict[str, Any]) -> Plan:
    """Read the table's counters and render its record."""
    now = context.clock.now()
    table = settled(control_table(context, request["TableName"]), now)
    return Read(lambda reader: answers.body({"Table": describe(reader, table, now)}))
