"""Partitions: contiguous ranges of the key hash that a table or global index is divided into.

The list is part of the table's record: scans, shards and capacity all go by it. A partition is its lower bound; the
first begins at 0 and each ends where the next begins. Partitions are split, never merged.
"""

from bisect import bisect_right
from itertools import pairwise

import msgspec

from hashrange.core.limits import (
    ON_DEMAND_WARM_READS,
    ON_DEMAND_WARM_WRITES,
    PARTITION_BYTES,
    PARTITION_READ_UNITS,
    PARTITION_WRITE_UNITS,
)
from hashrange.core.schema import Index, Table

HASH_SPACE = 1 << 64

Partitions = tuple[int, ...]


def even(count: int) -> Partitions:
    """So many partitions of the same width."""
    return tuple(-(-number * HASH_SPACE // count) for number in range(count))


def split(partitions: Partitions, count: int) -> Partitions:
    """At least so many partitions: the widest are halved, the first of equal ones first."""
    bounds = [*partitions, HASH_SPACE]
    while len(bounds) <= count:
        widths = [end - start for start, end in pairwise(bounds)]
        widest = max(range(len(widths)), key=widths.__getitem__)
        bounds.insert(widest + 1, bounds[widest] + widths[widest] // 2)
    return tuple(bounds[:-1])


def number_of(partitions: Partitions, key: bytes) -> int:
    """Which partition a key belongs to; a prefix of a key counts as its first."""
    return bisect_right(partitions, int.from_bytes(key[:8].ljust(8, b"\x00"), "big")) - 1


def start_of(partitions: Partitions, number: int) -> bytes:
    """Where a partition begins, as the first bytes of its keys."""
    return partitions[number].to_bytes(8, "big")


def of(table: Table, index: Index | None) -> Partitions:
    """The partitions of a table or of one of its indexes; a local index lies in its table's."""
    return table.partitions if index is None or index.local else index.partitions


def needed(table: Table, index: Index | None, size_bytes: int) -> int:
    """How many partitions the throughput that can be served at once and the size ask for."""
    owner = table if index is None or index.local else index
    if owner.warm is not None:
        reads, writes = owner.warm.read_units, owner.warm.write_units
    elif table.on_demand:
        reads, writes = ON_DEMAND_WARM_READS, ON_DEMAND_WARM_WRITES
    else:
        reads, writes = owner.throughput.read_units, owner.throughput.write_units
    return max(
        1,
        -(-reads // PARTITION_READ_UNITS),
        -(-writes // PARTITION_WRITE_UNITS),
        -(-size_bytes // PARTITION_BYTES),
    )


def created(table: Table) -> Table:
    """The record of a new table, divided for its throughput."""
    return msgspec.structs.replace(
        table,
        partitions=even(needed(table, None, 0)),
        indexes=tuple(
            index if index.local else msgspec.structs.replace(index, partitions=even(needed(table, index, 0)))
            for index in table.indexes
        ),
    )


def grown(table: Table, table_bytes: int = 0, index_bytes: dict[str, int] | None = None) -> Table:
    """The record with the partitions that are needed now; the same one where there are enough."""
    sizes = index_bytes or {}
    partitions = split(table.partitions, needed(table, None, table_bytes))
    indexes = tuple(_grown_index(table, index, sizes.get(index.name, 0)) for index in table.indexes)
    if partitions == table.partitions and indexes == table.indexes:
        return table
    return msgspec.structs.replace(table, partitions=partitions, indexes=indexes)


def _grown_index(table: Table, index: Index, size_bytes: int) -> Index:
    if index.local:
        return index
    partitions = split(index.partitions, needed(table, index, size_bytes))
    return index if partitions == index.partitions else msgspec.structs.replace(index, partitions=partitions)
