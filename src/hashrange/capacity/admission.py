"""Admission: whether the capacity of a table, of its indexes and of their partitions allows one more request.

A request is admitted while every bucket that it needs has tokens, and is charged what it turned out to cost, so that a
bucket may be overdrawn by one request. A hot partition takes what the others leave of the table's bucket, up to its
own ceiling: that is all there is to adaptive capacity once the table has one bucket. Nothing here waits or looks at a
clock; one thread at a time may use it. The record is docs/design/022-capacity-model.md.
"""

from bisect import bisect_right

import msgspec

from hashrange.capacity import limits
from hashrange.capacity.bucket import Bucket
from hashrange.capacity.limits import CEILING_SECONDS, NEW_BURST_SECONDS, Limit, Rate
from hashrange.core import partitions
from hashrange.core.partitions import Partitions
from hashrange.core.schema import Index, Table

_OWNERS_BEFORE_SWEEP = 1024
_PARTITION: Limit = "KeyRangeThroughputExceeded"


class Charged(msgspec.Struct, frozen=True):
    """What was charged here to one partition since the last exchange with other processes."""

    table_number: int
    slot: int  # of the index; 0: the table itself
    write: bool
    start: bytes  # of the partition
    units: float


class Admission:
    """The buckets of all tables and global indexes that were used lately."""

    def __init__(self, *, shared: bool = False) -> None:
        """If it is `shared`, what is charged is also kept for `take_charges`."""
        self._owners: dict[tuple[int, int], _Owner] = {}
        self._owners_before_sweep = _OWNERS_BEFORE_SWEEP
        self._charged: dict[tuple[int, int, bool, bytes], float] | None = {} if shared else None

    def __len__(self) -> int:
        """How many tables and indexes have buckets."""
        return len(self._owners)

    def refused(
        self, now: float, table: Table, index: Index | None, key: bytes, *, write: bool
    ) -> tuple[Limit, ...]:
        """The limits that stand against touching this key now, all of them; none: go on.

        An `index` is a global one: what is in a local index is the table's own.
        """
        owner = self._owners.get((table.number, 0 if index is None else index.slot))
        if owner is None or owner.version != table.version:
            owner = self._prepared(now, table, index)
        side = owner.writes if write else owner.reads
        start = owner.partitions[bisect_right(owner.partitions, key) - 1]
        partition = side.by_partition.get(start)
        if partition is None or partition.level(now) > 0:
            for _, bucket in side.whole:
                if bucket.level(now) <= 0:
                    break
            else:
                return ()
        return side.reached(now, start)

    def charge(
        self, now: float, table: Table, index: Index | None, key: bytes, units: float, *, write: bool
    ) -> None:
        """Take units from the buckets of this key; negative ones are given back."""
        start = self._take(now, table, index, key, units, write=write)
        if self._charged is not None:
            place = (table.number, 0 if index is None else index.slot, write, start)
            self._charged[place] = self._charged.get(place, 0.0) + units

    def take_charges(self) -> list[Charged]:
        """What was charged here since the last call, for other processes on the same data to `absorb`."""
        charged, self._charged = self._charged, {}
        return [Charged(*place, units) for place, units in (charged or {}).items()]

    def absorb(self, now: float, table: Table, index: Index | None, charged: Charged) -> None:
        """Take what another process has charged."""
        self._take(now, table, index, charged.start, charged.units, write=charged.write)

    def _take(
        self, now: float, table: Table, index: Index | None, key: bytes, units: float, *, write: bool
    ) -> bytes:
        """Take units; gives where the key's partition begins."""
        owner = self._owners.get((table.number, 0 if index is None else index.slot))
        if owner is None or owner.version != table.version:
            owner = self._prepared(now, table, index)
        side = owner.writes if write else owner.reads
        for _, bucket in side.whole:
            bucket.take(now, units)
        start = owner.partitions[bisect_right(owner.partitions, key) - 1]
        partition = side.by_partition.get(start)
        if partition is None:
            rate = limits.partition_units(write=write)
            partition = side.by_partition[start] = Bucket(rate, rate * CEILING_SECONDS, now)
        partition.take(now, units)
        return start

    def _prepared(self, now: float, table: Table, index: Index | None) -> "_Owner":
        """The buckets as the table's record has them now; what was saved before a change stays."""
        place = (table.number, 0 if index is None else index.slot)
        before = self._owners.get(place)
        if before is None and len(self._owners) >= self._owners_before_sweep:
            self.forget_idle(now)
            self._owners_before_sweep = max(_OWNERS_BEFORE_SWEEP, 2 * len(self._owners))
        bounds = partitions.of(table, index)
        idle_seconds = max(NEW_BURST_SECONDS, now - limits.saving_since(table, index))

        def side(*, write: bool) -> _Side:
            kept = None if before is None else before.writes if write else before.reads
            return _side(now, limits.rates(table, index, write=write), kept, bounds, idle_seconds)

        owner = _Owner(table.version, bounds, side(write=False), side(write=True))
        self._owners[place] = owner
        return owner

    def forget_idle(self, now: float) -> None:
        """Drop the buckets that are full again: a new one would be the same."""
        for place, owner in list(self._owners.items()):
            owner.reads.drop_full(now)
            owner.writes.drop_full(now)
            if owner.reads.is_idle(now) and owner.writes.is_idle(now):
                del self._owners[place]


class _Side:
    """The buckets for reads, or those for writes, of one table or index."""

    __slots__ = ("by_partition", "whole")

    def __init__(self, whole: list[tuple[Limit, Bucket]], by_partition: dict[bytes, Bucket]) -> None:
        self.whole = whole
        self.by_partition = by_partition  # of those that were used lately, by where they begin

    def reached(self, now: float, start: bytes) -> tuple[Limit, ...]:
        """All limits that are reached, outermost first, each once."""
        names = [limit for limit, bucket in self.whole if bucket.level(now) <= 0]
        partition = self.by_partition.get(start)
        if partition is not None and partition.level(now) <= 0 and _PARTITION not in names:
            names.append(_PARTITION)
        return tuple(names)

    def is_idle(self, now: float) -> bool:
        return not self.by_partition and all(bucket.is_full(now) for _, bucket in self.whole)

    def drop_full(self, now: float) -> None:
        self.by_partition = {
            start: bucket for start, bucket in self.by_partition.items() if not bucket.is_full(now)
        }


class _Owner(msgspec.Struct, frozen=True):
    """The buckets of one table or index, as of a version of the table's record."""

    version: int
    partitions: Partitions
    reads: _Side
    writes: _Side


def _side(
    now: float, rates: tuple[Rate, ...], before: _Side | None, bounds: Partitions, idle_seconds: float
) -> _Side:
    kept = {} if before is None else dict(before.whole)
    whole = [(rate.limit, _bucket(now, rate, kept.get(rate.limit), idle_seconds)) for rate in rates]
    if before is None:
        return _Side(whole, {})
    # The part of a partition that was split off has a bucket of its own, which is full.
    starts = frozenset(bounds)
    by_partition = {start: bucket for start, bucket in before.by_partition.items() if start in starts}
    return _Side(whole, by_partition)


def _bucket(now: float, rate: Rate, before: Bucket | None, idle_seconds: float) -> Bucket:
    depth = rate.units_per_second * rate.depth_seconds
    if before is None:
        return Bucket(rate.units_per_second, depth, now, rate.units_per_second * idle_seconds)
    before.resize(now, rate.units_per_second, depth)
    return before
