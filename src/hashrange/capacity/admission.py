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
from hashrange.capacity.limits import (
    CEILING_SECONDS,
    LENT_SECONDS,
    LENT_SHARE,
    LENT_UNITS_MIN,
    NEW_BURST_SECONDS,
    Limit,
    Rate,
)
from hashrange.core import partitions
from hashrange.core.partitions import Partitions
from hashrange.core.schema import Index, Table

_OWNERS_BEFORE_SWEEP = 1024
_PARTITION: Limit = "KeyRangeThroughputExceeded"

_Place = int | tuple[int, int]  # the number of a table; with the slot of an index


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
        self._owners: dict[_Place, _Owner] = {}
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
        owner = self._owners.get(table.number if index is None else (table.number, index.slot))
        if owner is None or owner.version != table.version:
            owner = self._prepared(now, table, index)
        side = owner.writes if write else owner.reads
        start = owner.partitions[bisect_right(owner.partitions, key) - 1]
        if side.lent:
            self._settle(now, side, start)
        partition = side.by_partition.get(start)
        if partition is None or partition.level(now) > 0:
            for _, bucket in side.whole:
                if bucket.level(now) <= 0:
                    break
            else:
                return ()
        return side.reached(now, start)

    def read_allowance(self, table: Table, index: Index | None, key: bytes) -> "Allowance | None":
        """Units that were lent to this key's partition and are not spent; None: ask `refused`, which takes longer."""
        owner = self._owners.get(table.number if index is None else (table.number, index.slot))
        if owner is None or owner.version != table.version:
            return None
        starts = owner.partitions
        allowance = owner.reads.lent.get(starts[bisect_right(starts, key) - 1])
        return None if allowance is None or allowance.left <= 0 else allowance

    def write_allowance(self, table: Table, key: bytes) -> "Allowance | None":
        """The same for the write of an item."""
        owner = self._owners.get(table.number)
        if owner is None or owner.version != table.version:
            return None
        starts = owner.partitions
        allowance = owner.writes.lent.get(starts[bisect_right(starts, key) - 1])
        return None if allowance is None or allowance.left <= 0 else allowance

    def lend(self, now: float, table: Table, index: Index | None, key: bytes, *, write: bool) -> None:
        """Lend a key that is admitted a little more than it asked for, to be spent without a question.

        It is a tenth of a second's capacity at the most, and no more than a part of what is there: so much more may
        be admitted of the other partitions until it is charged, which is when this one is asked for again.
        """
        owner = self._owners.get(table.number if index is None else (table.number, index.slot))
        if owner is None or owner.version != table.version:
            owner = self._prepared(now, table, index)
        side = owner.writes if write else owner.reads
        start = owner.partitions[bisect_right(owner.partitions, key) - 1]
        self._settle(now, side, start)
        partition = side.by_partition.get(start)
        units = min(_lendable(now, bucket) for _, bucket in side.whole) / len(owner.partitions)
        if partition is not None:
            units = min(units, _lendable(now, partition))
        if units < LENT_UNITS_MIN:
            return
        allowance = side.lent.get(start)
        if allowance is None:
            place = (table.number, 0 if index is None else index.slot, write, start)
            side.lent[start] = Allowance(place, units, units)
        else:
            allowance.lent = allowance.left = units

    def _settle(self, now: float, side: "_Side", start: bytes) -> None:
        """Charge what was spent of an allowance, and take the rest back."""
        allowance = side.lent.get(start)
        if allowance is None:
            return
        units = allowance.lent - allowance.left
        allowance.left = allowance.lent = 0.0
        if units:
            self._take_from(now, side, start, units, write=allowance.place[2])
            if self._charged is not None:
                self._charged[allowance.place] = self._charged.get(allowance.place, 0.0) + units

    def settle(self, now: float) -> None:
        """Charge what was spent of all allowances."""
        for owner in self._owners.values():
            self._settle_owner(now, owner)

    def _settle_owner(self, now: float, owner: "_Owner") -> None:
        for side in (owner.reads, owner.writes):
            for start in side.lent:
                self._settle(now, side, start)

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
        owner = self._owners.get(table.number if index is None else (table.number, index.slot))
        if owner is None or owner.version != table.version:
            owner = self._prepared(now, table, index)
        side = owner.writes if write else owner.reads
        start = owner.partitions[bisect_right(owner.partitions, key) - 1]
        self._take_from(now, side, start, units, write=write)
        return start

    def _take_from(self, now: float, side: "_Side", start: bytes, units: float, *, write: bool) -> None:
        for _, bucket in side.whole:
            bucket.take(now, units)
        partition = side.by_partition.get(start)
        if partition is None:
            rate = limits.partition_units(write=write)
            partition = side.by_partition[start] = Bucket(rate, rate * CEILING_SECONDS, now)
        partition.take(now, units)

    def _prepared(self, now: float, table: Table, index: Index | None) -> "_Owner":
        """The buckets as the table's record has them now; what was saved before a change stays."""
        place = table.number if index is None else (table.number, index.slot)
        before = self._owners.get(place)
        if before is not None:
            self._settle_owner(now, before)
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
        self.settle(now)
        for place, owner in list(self._owners.items()):
            owner.reads.drop_full(now)
            owner.writes.drop_full(now)
            if owner.reads.is_idle(now) and owner.writes.is_idle(now):
                del self._owners[place]


class Allowance(msgspec.Struct, gc=False):
    """Units that a partition may spend before it is asked again. Whoever spends them takes them off `left`.

    It is the partition's as long as that is in use. What is spent of it after it was settled, by a request that was
    admitted before, is therefore charged the next time.
    """

    place: tuple[int, int, bool, bytes]  # table, slot, whether for writes, start of the partition
    lent: float
    left: float


class _Side:
    """The buckets for reads, or those for writes, of one table or index."""

    __slots__ = ("by_partition", "lent", "whole")

    def __init__(
        self,
        whole: list[tuple[Limit, Bucket]],
        by_partition: dict[bytes, Bucket],
        lent: dict[bytes, "Allowance"],
    ) -> None:
        self.whole = whole
        self.by_partition = by_partition  # of those that were used lately, by where they begin
        self.lent = lent  # likewise

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
        self.lent = {start: allowance for start, allowance in self.lent.items() if start in self.by_partition}


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
        return _Side(whole, {}, {})
    # The part of a partition that was split off has a bucket of its own, which is full.
    starts = frozenset(bounds)
    by_partition = {start: bucket for start, bucket in before.by_partition.items() if start in starts}
    lent = {start: allowance for start, allowance in before.lent.items() if start in starts}
    return _Side(whole, by_partition, lent)


def _lendable(now: float, bucket: Bucket) -> float:
    return max(0.0, min(bucket.rate * LENT_SECONDS, bucket.level(now) * LENT_SHARE))


def _bucket(now: float, rate: Rate, before: Bucket | None, idle_seconds: float) -> Bucket:
    depth = rate.units_per_second * rate.depth_seconds
    if before is None:
        return Bucket(rate.units_per_second, depth, now, rate.units_per_second * idle_seconds)
    before.resize(now, rate.units_per_second, depth)
    return before
