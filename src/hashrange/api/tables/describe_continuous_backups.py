"""DescribeContinuousBackups: point-in-time recovery, which no table has yet."""

from typing import Any

from hashrange.api import answers
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.plan import Answer, Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import existing_table, table_name
from hashrange.api.tables import shapes

SHAPE = Shape({"TableName": shapes.TABLE_NAME})
# The first status says that backups could be made at all and is ENABLED on every table of the service;
# the second one is the setting.
_BODY = answers.body(
    {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
        }
    }
)


@operation("DescribeContinuousBackups", SHAPE)
def describe_continuous_backups(context: Context, request: dict[str, Any]) -> Plan:
    """The backup operations have an error of their own for a missing table."""
    name = table_name(context, request["TableName"])
    if existing_table(context, name) is None:
        raise ApiError("TableNotFoundException", f"Table not found: {name}")
    return Answer(_BODY)
