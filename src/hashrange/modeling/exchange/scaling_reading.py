"""Auto scaling that a file has beside its tables: targets with their bounds, and policies that say how full to be."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from hashrange.modeling.model import Scaling, Table
from hashrange.modeling.reading.tables import UNITS_MAX

_READS, _WRITES = "dynamodb:table:ReadCapacityUnits", "dynamodb:table:WriteCapacityUnits"


class ScalableTarget(NamedTuple):
    """What is scaled, `table/shop` by one dimension, and between which units."""

    resource: str
    dimension: str
    minimum: int
    maximum: int


class ScalingPolicy(NamedTuple):
    """How much of its capacity a target should use."""

    resource: str
    dimension: str
    percent: float


class FoundScaling:
    """All targets and policies of a file. Those of indexes are not looked at: in a model they share the table's."""

    def __init__(self, targets: Iterable[ScalableTarget], policies: Iterable[ScalingPolicy]) -> None:
        self._targets = {(target.resource, target.dimension): target for target in targets}
        self._percents = {(policy.resource, policy.dimension): policy.percent for policy in policies}

    def applied(self, table: Table, *names: str) -> Table:
        """The table with its bounds; `names` are others by which the file calls it."""
        for name in dict.fromkeys((table.name, *names)):
            reads = self._scaling(f"table/{name}", _READS) or table.read_scaling
            writes = self._scaling(f"table/{name}", _WRITES) or table.write_scaling
            table = replace(table, read_scaling=reads, write_scaling=writes)
        return table

    def _scaling(self, resource: str, dimension: str) -> Scaling | None:
        target = self._targets.get((resource, dimension))
        if target is None:
            return None
        return bounded(target.minimum, target.maximum, self._percents.get((resource, dimension)))


def bounded(minimum: int, maximum: int, percent: float | None) -> Scaling:
    """Bounds as a model may have them."""
    least = min(max(minimum, 1), UNITS_MAX)
    most = min(max(maximum, least), UNITS_MAX)
    return Scaling(
        least, most, Scaling().target_percent if percent is None else min(max(percent, 20.0), 90.0)
    )
