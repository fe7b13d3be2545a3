"""What heat makes of a table's record: more partitions where some stay hot, more on-demand capacity."""

from collections.abc import Iterable

from hashrange.capacity.splitting import PARTITIONS_MAX, Split
from hashrange.core import partitions
from hashrange.core.partitions import Partitions
from hashrange.core.schema import Index, Table, Warm, changed


def followed(table: Table, index: Index | None, splits: Iterable[Split], warm: Warm | None) -> Table:
    """The record after splits and growth of one owner."""
    bounds = _divided(partitions.of(table, index), splits)
    if index is None:
        if bounds is table.partitions and warm is None:
            return table
        return partitions.grown(changed(table, partitions=bounds, warm=warm or table.warm))
    if bounds is index.partitions and warm is None:
        return table
    after = changed(index, partitions=bounds, warm=warm or index.warm)
    indexes = tuple(after if other.name == index.name else other for other in table.indexes)
    return partitions.grown(changed(table, indexes=indexes))


def _divided(bounds: Partitions, splits: Iterable[Split]) -> Partitions:
    for split in splits:
        if split.at is not None and len(bounds) < PARTITIONS_MAX:
            bounds = partitions.split_at(bounds, split.at)
    return bounds
