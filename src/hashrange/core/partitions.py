"""Partitions: contiguous ranges of keys that a table or global index is divided into.

The list is part of the table's record: scans, shards and capacity all go by it. A partition is its lower bound; the
first begins with the empty key and each ends where the next begins. Keys begin with their hash, so a bound of eight
bytes or fewer lies between item collections; a longer one may lie inside a collection. Partitions are split, never
merged.
"""

from bisect import bisect_left, bisect_right, insort
from itertools import pairwise

import msgspec

from hashrange.core.keys.encoding import HASH_BYTES
from hashrange.core.limits import (
    ON_DEMAND_WARM_READS,
    ON_DEMAND_WARM_WRITES,
    PARTITION_BYTES,
    PARTITION_READ_UNITS,
    PARTITION_WRITE_UNITS,
)
from hashrange.core.schema import Index, Table

HASH_SPACE = 1 << 64

Partitions = tuple[bytes, ...]
WHOLE: Partitions = (b"",)


def bound(position: int) -> bytes:
    """A place in the hash space as a lower bound. Without its last zeros it also precedes every prefix of a key."""
    return position.to_bytes(HASH_BYTES, "big").rstrip(b"\x00")


def even(count: int) -> Partitions:
    """So many partitions of the same width."""
    return tuple(bound(-(-number * HASH_SPACE // count)) for number in range(count))


def split(partitions: Partitions, count: int) -> Partitions:
    """At least so many partitions: the widest are halved, the first of equal ones first."""
    bounds = list(partitions)
    positions = [*map(_position, bounds), HASH_SPACE]
    while len(bounds) < count:
        widths = [end - start for start, end in pairwise(positions)]
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= 1:
            break  # what is left can only be divided by sort key
        middle = positions[widest] + widths[widest] // 2
        positions.insert(widest + 1, middle)
        bounds.insert(widest + 1, bound(middle))
    return tuple(bounds)


def doubled(partitions: Partitions, count: int) -> Partitions:
    """At least so many partitions: throughput is shared evenly, so if one has too much of it, all are halved."""
    while len(partitions) < count:
        more = split(partitions, 2 * len(partitions))
        if more == partitions:
            break
        partitions = more
    return partitions


def split_at(partitions: Partitions, key: bytes) -> Partitions:
    """The partitions with one more bound; the same ones if it is a bound already."""
    if key in partitions:
        return partitions
    bounds = list(partitions)
    insort(bounds, key)
    return tuple(bounds)


def _position(key: bytes) -> int:
    return int.from_bytes(key[:HASH_BYTES].ljust(HASH_BYTES, b"\x00"), "big")


def number_of(partitions: Partitions, key: bytes) -> int:
    """Which partition a key belongs to; a prefix of a key counts as its first."""
    return bisect_right(partitions, key) - 1


def last_before(partitions: Partitions, end: bytes) -> int:
    """Which partition the last key before an end belongs to."""
    return max(bisect_left(partitions, end) - 1, 0)


def of(table: Table, index: Index | None) -> Partitions:
    """The partitions of a table or of one of its indexes; a local index lies in its table's."""
    return table.partitions if index is None or index.local else index.partitions


def crossed(table: Table, index: Index | None, start: bytes, end: bytes) -> Partitions:
    """The partitions of a table or index if some keys lie in several of them, and else `WHOLE`; no end: to the last."""
    bounds = (
        table.partitions if index is None or index.local else index.partitions
    )  # as `of`, for every query
    behind = bisect_right(bounds, start)
    return bounds if behind < len(bounds) and (not end or bounds[behind] < end) else WHOLE


def needed_for_throughput(table: Table, index: Index | None) -> int:
    """How many partitions the throughput asks for that can be served at once."""
    owner = table if index is None or index.local else index
    if owner.warm is not None:
        reads, writes = owner.warm.read_units, owner.warm.write_units
    elif table.on_demand:
        reads, writes = ON_DEMAND_WARM_READS, ON_DEMAND_WARM_WRITES
    else:
        reads, writes = owner.throughput.read_units, owner.throughput.write_units
    return max(1, -(-reads // PARTITION_READ_UNITS), -(-writes // PARTITION_WRITE_UNITS))


def needed_for_size(size_bytes: int) -> int:
    """How many partitions so many bytes fill."""
    return max(1, -(-size_bytes // PARTITION_BYTES))


def created(table: Table) -> Table:
    """The record of a new table, divided for its throughput."""
    return msgspec.structs.replace(
        table,
        partitions=even(needed_for_throughput(table, None)),
        indexes=tuple(
            index
            if index.local
            else msgspec.structs.replace(index, partitions=even(needed_for_throughput(table, index)))
            for index in table.indexes
        ),
    )


def grown(table: Table, table_bytes: int = 0, index_bytes: dict[str, int] | None = None) -> Table:
    """The record with the partitions that are needed now; the same one where there are enough."""
    sizes = index_bytes or {}
    partitions = _grown(table, None, table_bytes)
    indexes = tuple(_grown_index(table, index, sizes.get(index.name, 0)) for index in table.indexes)
    if partitions == table.partitions and indexes == table.indexes:
        return table
    return msgspec.structs.replace(table, partitions=partitions, indexes=indexes)


def _grown(table: Table, index: Index | None, size_bytes: int) -> Partitions:
    partitions = doubled(of(table, index), needed_for_throughput(table, index))
    return split(partitions, needed_for_size(size_bytes))


def _grown_index(table: Table, index: Index, size_bytes: int) -> Index:
    if index.local:
        return index
    partitions = _grown(table, index, size_bytes)
    return index if partitions == index.partitions else msgspec.structs.replace(index, partitions=partitions)
