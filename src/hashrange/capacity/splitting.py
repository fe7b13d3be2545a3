"""Splitting for heat: which partition is hot for how long, where to split it, and when that would not help."""

from typing import Literal

import msgspec

from hashrange.capacity import limits, shares
from hashrange.capacity.heat import MINUTE_SECONDS, Window
from hashrange.capacity.shares import Sampled
from hashrange.core import partitions
from hashrange.core.keys import key_parts
from hashrange.core.keys.encoding import HASH_BYTES
from hashrange.core.schema import Index, Table

HEAT_MINUTES = 5  # ours: the service says "several minutes"
HOT_SHARE = 0.8  # ours: of what a partition can serve
PARTITIONS_MAX = 1000  # ours: of one table or index, which then has more than its quotas can use
# A split that leaves more than this on one side does not help.
_WORST_SHARE = 0.9
# Keys of the last minute that lie behind, or before, those of the first: by chance it is half of them.
_SWEPT_SHARE = 0.95

Obstacle = Literal["item", "collection", "sequential", "unknown"]


class Split(msgspec.Struct, frozen=True):
    """A hot partition, and where to split it; or why not to."""

    number: int
    write: bool
    at: bytes | None = None
    obstacle: Obstacle | None = None


def splits(table: Table, index: Index | None, windows: list[Window], now: float) -> list[Split]:
    """The hot partitions of a table or global index, those with the most reads or writes for too long."""
    bounds = partitions.of(table, index)
    found: dict[int, Split] = {}
    for write in (True, False):
        for number in _hot(bounds, windows, now, write=write):
            if number not in found or found[number].at is None:
                found[number] = _split(table, index, windows, now, number, write=write)
    return list(found.values())


def _hot(bounds: partitions.Partitions, windows: list[Window], now: float, *, write: bool) -> list[int]:
    """The partitions that were hot in every one of the last minutes."""
    hottest = HOT_SHARE * limits.partition_units(write=write) * MINUTE_SECONDS
    hot = set(range(len(bounds)))
    for minute in shares.complete_minutes(now, HEAT_MINUTES):
        units = shares.by_partition(shares.of_minute(windows, minute, write=write), bounds)
        hot = {number for number in hot if units[number] >= hottest}
    return sorted(hot)


def _split(
    table: Table, index: Index | None, windows: list[Window], now: float, number: int, *, write: bool
) -> Split:
    bounds = partitions.of(table, index)
    minutes = [
        [
            sampled
            for sampled in shares.samples(shares.of_minute(windows, minute, write=write))
            if partitions.number_of(bounds, sampled.key) == number
        ]
        for minute in shares.complete_minutes(now, HEAT_MINUTES)
    ]
    if is_swept(minutes[0], minutes[-1]):
        return Split(number, write, obstacle="sequential")
    sampled = [one for minute in minutes for one in minute]
    at, obstacle = _point(table, index, sampled)
    if at is not None and not _is_within(bounds, number, at):
        return Split(number, write, obstacle="unknown")
    return Split(number, write, at, obstacle)


def _is_within(bounds: partitions.Partitions, number: int, at: bytes) -> bool:
    return bounds[number] < at and (number + 1 == len(bounds) or at < bounds[number + 1])


def is_swept(early: list[Sampled], late: list[Sampled]) -> bool:
    """Whether the traffic moves through the keys: a new bound would soon have it all on one side again."""
    if not early or not late:
        return False
    keys = sorted(one.key for one in early)
    behind, before = keys[-1 - len(keys) // 20], keys[len(keys) // 20]
    ahead = sum(one.key > behind for one in late) / len(late)
    back = sum(one.key < before for one in late) / len(late)
    return max(ahead, back) >= _SWEPT_SHARE


def _point(table: Table, index: Index | None, sampled: list[Sampled]) -> tuple[bytes | None, Obstacle | None]:
    """The bound that comes nearest to halving the traffic; if none helps, what stands against it."""
    whole = not may_divide_collections(table, index)
    units = shares.by_key(sampled)
    items: dict[bytes, float] = {}
    for key in sorted(units):
        place = key[:HASH_BYTES] if whole else key_parts.own_key(index, key)
        items[place] = items.get(place, 0.0) + units[key]
    places = list(items)
    total, left, best, point = sum(items.values()), 0.0, 1.0, 0
    for number, place in enumerate(places[:-1], 1):
        left += items[place]
        worse = max(left, total - left) / total
        if worse < best:
            best, point = worse, number
    if best <= _WORST_SHARE:
        return _separator(places[point - 1], places[point]), None
    is_collection = (
        whole and len({key for key in units if key.startswith(max(items, key=items.__getitem__))}) > 1
    )
    return None, "collection" if is_collection else "item"


def may_divide_collections(table: Table, index: Index | None) -> bool:
    """Items with one partition key may be on several partitions if they have sort keys, and no local index."""
    if index is not None:
        return bool(index.range)
    return table.range is not None and not table.local_indexes


def _separator(left: bytes, right: bytes) -> bytes:
    """The shortest key that is behind the one and not behind the other: bounds are kept in the table's record."""
    size = next(
        (at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), len(left)
    )
    return right[: size + 1]
