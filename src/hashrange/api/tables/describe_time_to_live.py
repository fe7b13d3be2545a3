"""DescribeTimeToLive: whether items expire, and by which attribute."""

from typing import Any

from hashrange.api import answers, errors
from hashrange.api.context import Context
from hashrange.api.plan import Answer, Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import control_table
from hashrange.api.tables import shapes

SHAPE = Shape({"TableName": shapes.TABLE_NAME})


@operation("DescribeTimeToLive", SHAPE)
def describe_time_to_live(context: Context, request: dict[str, Any]) -> Plan:
    """A table that comes or goes has nothing to tell."""
    table = control_table(context, request["TableName"])
    status = table.status_at(context.clock.now())
    if status in ("CREATING", "DELETING"):
        raise errors.validation(
            f"Cannot describe time to live while table is in {status} state: Current table state is {status}"
        )
    description = {"TimeToLiveStatus": "DISABLED"}
    if table.ttl_attribute is not None:
        description = {"TimeToLiveStatus": "ENABLED", "AttributeName": table.ttl_attribute}
    return Answer(answers.body({"TimeToLiveDescription": description}))
