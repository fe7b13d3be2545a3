"""Partitions: equal shares of the hash space, as many as the throughput and the size of a table or index need."""

from hashrange.core.limits import (
    ON_DEMAND_WARM_READS,
    ON_DEMAND_WARM_WRITES,
    PARTITION_BYTES,
    PARTITION_READ_UNITS,
    PARTITION_WRITE_UNITS,
)
from hashrange.core.schema import Index, Table

_HASH_SPACE = 1 << 64


def partition_start(partition: int, partitions: int) -> bytes:
    """Where one of so many equal partitions of the hash space begins."""
    return (-(-partition * _HASH_SPACE // partitions)).to_bytes(8, "big")


def partition_of(key: bytes, partitions: int) -> int:
    """Which of so many equal partitions of the hash space a key belongs to."""
    return int.from_bytes(key[:8].ljust(8, b"\x00"), "big") * partitions >> 64


def partition_count(table: Table, index: Index | None, size_bytes: int) -> int:
    """How many partitions a table or index has: by its warm throughput and by its size."""
    owner = table if index is None or index.local else index
    reads_per_second, writes_per_second = _throughput(table, owner)
    return max(
        1,
        -(-reads_per_second // PARTITION_READ_UNITS),
        -(-writes_per_second // PARTITION_WRITE_UNITS),
        -(-size_bytes // PARTITION_BYTES),
    )


def _throughput(table: Table, owner: Table | Index) -> tuple[int, int]:
    if owner.warm is not None:
        return owner.warm.read_units, owner.warm.write_units
    if table.on_demand:
        return ON_DEMAND_WARM_READS, ON_DEMAND_WARM_WRITES
    return owner.throughput.read_units, owner.throughput.write_units
