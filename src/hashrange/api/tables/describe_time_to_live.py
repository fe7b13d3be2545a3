"""DescribeTimeToLive: whether items expire, and by which attribute."""

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.table_names import control_table


class DescribeTimeToLive(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn


SHAPE = Shape(DescribeTimeToLive)


class TimeToLiveDescription(Response, kw_only=True):
    """Whether items expire."""

    time_to_live_status: str
    attribute_name: str | None = None


class DescribeTimeToLiveOutput(Response, kw_only=True):
    """The answer."""

    time_to_live_description: TimeToLiveDescription


def describe_time_to_live(context: Context, request: DescribeTimeToLive) -> Plan:
    """A table that comes or goes has nothing to tell."""
    table = control_table(context, request.table_name)
    status = table.status_at(context.clock.now())
    if status in ("CREATING", "DELETING"):
        raise errors.validation(
            f"Cannot describe time to live while table is in {status} state: Current table state is {status}"
        )
    attribute = None if table.ttl is None else table.ttl.attribute
    description = TimeToLiveDescription(
        time_to_live_status="DISABLED" if attribute is None else "ENABLED", attribute_name=attribute
    )
    return Answer(Described(DescribeTimeToLiveOutput(time_to_live_description=description)))
