"""Capacity units: what reads and writes cost."""

from collections.abc import Sequence

from hashrange.core.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES


def write_units(size_bytes: int) -> int:
    """Units of one write; at least one."""
    return -(-size_bytes // WRITE_UNIT_BYTES) or 1


def all_write_units(sizes: Sequence[int], befores: Sequence[int]) -> list[float]:
    """Units of writes, each for the larger one of the item as it is and as it was."""
    if max((*sizes, *befores), default=0) <= WRITE_UNIT_BYTES:
        return [1.0] * len(sizes)
    return [float(write_units(size)) for size in map(max, sizes, befores)]


def read_units(size_bytes: int, *, consistent: bool) -> float:
    """Units of one read; a missing item costs as much as the smallest."""
    units = -(-size_bytes // READ_UNIT_BYTES) or 1
    return float(units) if consistent else units / 2
