"""Auto scaling of provisioned tables and indexes, as Application Auto Scaling names its parts."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from hashrange.modeling.model import Scaling, Table

NAMESPACE = "dynamodb"
ServiceMetric = Literal["DynamoDBReadCapacityUtilization", "DynamoDBWriteCapacityUtilization"]


class ScalingTarget(NamedTuple):
    """What is scaled: `table/shop` or `table/shop/index/GSI1`, by one dimension, between bounds."""

    resource: str
    dimension: str
    metric: ServiceMetric
    scaling: Scaling

    @property
    def title(self) -> str:
        """A name for policies and resources: shop-GSI1-read."""
        words = self.resource.replace("table/", "", 1).replace("/index/", "-")
        return f"{words}-{'read' if 'Read' in self.dimension else 'write'}"


def scaling_targets(table: Table) -> Iterator[ScalingTarget]:
    """Everything of a table that is scaled; global indexes have the table's bounds."""
    if table.billing == "PAY_PER_REQUEST":
        return
    indexes = (f"table/{table.name}/index/{index.name}" for index in table.indexes if not index.local)
    for resource in (f"table/{table.name}", *indexes):
        kind = "index" if "/index/" in resource else "table"
        sides: tuple[tuple[str, ServiceMetric, Scaling], ...] = (
            ("ReadCapacityUnits", "DynamoDBReadCapacityUtilization", table.read_scaling),
            ("WriteCapacityUnits", "DynamoDBWriteCapacityUtilization", table.write_scaling),
        )
        for units, metric, scaling in sides:
            if scaling.minimum < scaling.maximum:
                yield ScalingTarget(resource, f"{NAMESPACE}:{kind}:{units}", metric, scaling)
