"""DescribeTableReplicaAutoScaling: how the capacity of a table and of its indexes is scaled."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.scaling.resources import place_of
from hashrange.api.scaling.settings import TableAutoScalingDescription, described_table_scaling
from hashrange.api.scaling.tables import scaled_table
from hashrange.storage.engine import Reader


class DescribeTableReplicaAutoScaling(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn


SHAPE = Shape(DescribeTableReplicaAutoScaling)


class DescribeTableReplicaAutoScalingOutput(Response, kw_only=True):
    """The answer."""

    table_auto_scaling_description: TableAutoScalingDescription


def describe_table_replica_auto_scaling(context: Context, request: DescribeTableReplicaAutoScaling) -> Plan:
    """A table counts as a global table whose only replica is itself."""
    table, now = scaled_table(context, request.table_name), context.clock.now()

    def step(reader: Reader) -> Described:
        shown = described_table_scaling(reader, place_of(context), table, now)
        return Described(DescribeTableReplicaAutoScalingOutput(table_auto_scaling_description=shown))

    return Read(step)
