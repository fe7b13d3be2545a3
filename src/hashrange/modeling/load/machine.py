"""The partition model on simulated time: one table or index, minute by minute.

A minute in which no limit can be reached is added up at once. In all others the admission that the server itself has is
asked, second by second. Heat, splits, growth and auto scaling are the server's own, too.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import msgspec

from hashrange.capacity import growth, limits, splitting
from hashrange.capacity.admission import Admission
from hashrange.capacity.following import followed
from hashrange.capacity.heat import Heat
from hashrange.capacity.splitting import HOT_SHARE, Split
from hashrange.core import partitions
from hashrange.core.schema import Index, Table, UnitPair
from hashrange.modeling.load.heat_map import HeatRecord
from hashrange.modeling.load.records import BEGIN, Place, index_record, limit_units, with_units
from hashrange.modeling.load.spread import ITEM_TURNS, Spread, item_keys, tail_keys
from hashrange.scaling import tracking
from hashrange.scaling.tracking import Bounds, Memory, Tracking

_MINUTE = 60
_TAIL_KEYS_MIN = 256
_TAIL_KEYS_MAX = 2048
_FEW_PARTITIONS = 16
_CAPACITY_MINUTES = 60


@dataclass(slots=True)
class Budget:
    """How many questions to the admission a place may take; then steady states are computed instead.

    When heat has observed so many keys as well, these go by partitions alone, and nothing is split any more.
    """

    questions: int
    observations: int


@dataclass(slots=True)
class Entry:
    """A key and its units: per second that it asks for, and what it got in this minute."""

    key: bytes
    hot: int  # the number of its hot key; -1: the tail
    offered: float
    admitted: float = 0.0
    throttled: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One side in one minute, in units per second; `hottest` is the demand on the hottest partition."""

    offered: float
    throttled: float
    limit: float
    hottest: float
    partitions: int


class Seen(msgspec.Struct):
    """What an observation tells heat."""

    time: float
    table: Table
    index: Index | None
    key: bytes
    read_units: float = 0.0
    write_units: float = 0.0
    outcome: str = "ok"
    reasons: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(slots=True)
class Scaler:
    """Auto scaling of one side."""

    policy: Tracking
    bounds: Bounds
    memory: Memory = field(default_factory=Memory)
    minutes: deque[float] = field(default_factory=lambda: deque(maxlen=_CAPACITY_MINUTES))


class Machine:
    """One place, its clock, and what became of its record."""

    def __init__(self, place: Place, table: Table, sides: tuple[Spread, Spread], budget: Budget) -> None:
        """`sides` are its reads and its writes."""
        self.place = place
        self.table = table
        self.sides = sides
        self.admission = Admission()
        self.heat = Heat()
        self.splits: list[tuple[int, Split]] = []
        self.scalers: tuple[Scaler, Scaler] | None = None
        self.estimated_minutes = 0
        self.budget = budget
        self.maps = (HeatRecord(), HeatRecord())
        self._tail_shares: tuple[partitions.Partitions, list[float]] = ((), [])
        self._items: dict[bool, list[list[bytes]]] = {}
        self._index: tuple[Table | None, Index | None] = (None, None)

    @property
    def index(self) -> Index | None:
        """The record of the place's index. It is asked for with every key, and changes with the table's."""
        if self._index[0] is not self.table:
            self._index = (self.table, index_record(self.table, self.place))
        return self._index[1]

    @property
    def bounds(self) -> partitions.Partitions:
        return partitions.of(self.table, self.index)

    def minute(self, minute: int, *, observed: bool = False) -> tuple[Outcome, Outcome]:
        """Let one minute pass; `observed`: heat is to know of it even if nothing is hot."""
        reads = self._side(minute, self.sides[0], observed=observed)
        writes = self._side(minute, self.sides[1], observed=observed)
        self._follow(minute)
        return reads, writes

    def _side(self, minute: int, side: Spread, *, observed: bool) -> Outcome:
        limit = limit_units(self.table, self.place, write=side.write)
        by_partition = self._by_partition(minute, side)
        offered, hottest = sum(by_partition), max(by_partition)
        ceiling = limits.partition_units(write=side.write)
        self.maps[side.write].note(minute, self.bounds, [units / ceiling for units in by_partition])
        throttled = 0.0
        watched = observed or self.budget.observations > 0
        if offered > limit or hottest > ceiling:
            throttled = offered - min(limit, sum(min(units, ceiling) for units in by_partition))
            if watched:
                entries = self._entries(minute, side)
                if self.budget.questions > 0:
                    self._ask(minute, side, entries)
                else:
                    self._estimate(entries, by_partition, limit, ceiling)
                throttled = sum(entry.throttled for entry in entries) / _MINUTE
                self._observe(minute, side, entries)
            else:
                self.estimated_minutes += 1
        else:
            self._add_up(minute, side, by_partition)
            grows = self.table.on_demand and 2 * offered > limit
            if observed or (watched and (grows or hottest >= HOT_SHARE * ceiling)):
                self._observe(minute, side, self._served(minute, side))
        if self.scalers is not None:
            self.scalers[side.write].minutes.append((offered - throttled) * _MINUTE)
        return Outcome(offered, throttled, limit, hottest, len(self.bounds))

    def _by_partition(self, minute: int, side: Spread) -> list[float]:
        """Units per second that each partition is asked for."""
        bounds = self.bounds
        if self._tail_shares[0] is not bounds:
            self._tail_shares = (bounds, _tail_shares(bounds))
        tail = side.tail_units(minute)
        units = [tail * share for share in self._tail_shares[1]]
        for keys, amount in zip(self._hot_items(minute, side), side.hot_units(minute), strict=True):
            for key in keys:
                units[partitions.number_of(bounds, key)] += amount / len(keys)
        return units

    def _hot_items(self, minute: int, side: Spread) -> list[list[bytes]]:
        """The items of each hot key; they stay the same unless time is a part of them."""
        cached = self._items.get(side.write)
        if cached is None:
            cached = self._items[side.write] = [
                item_keys(hot, self.table, self.index, minute) for hot in side.hot
            ]
        for number, hot in enumerate(side.hot):
            if hot.keys.rolling_seconds or hot.keys.items == "rising":
                cached[number] = item_keys(hot, self.table, self.index, minute)
        return cached

    def _entries(self, minute: int, side: Spread) -> list[Entry]:
        """Everything that is asked for in a minute: the items of hot keys, and the tail."""
        entries = []
        items = self._hot_items(minute, side)
        for number, (keys, units) in enumerate(zip(items, side.hot_units(minute), strict=True)):
            entries += [Entry(key, number, units / len(keys)) for key in keys]
        tail = side.tail_units(minute)
        if tail:
            keys = tail_keys(_tail_count(self.bounds))
            entries += [Entry(key, -1, tail / len(keys)) for key in keys]
        return entries

    def _served(self, minute: int, side: Spread) -> list[Entry]:
        entries = self._entries(minute, side)
        for entry in entries:
            entry.admitted = entry.offered * _MINUTE
        return entries

    def _add_up(self, minute: int, side: Spread, by_partition: list[float]) -> None:
        if self.table.on_demand:
            return  # its buckets are a second deep: after a minute they are full again
        # At the beginning, because what comes in within the minute is more than what goes out.
        now = BEGIN + minute * _MINUTE
        for start, units in zip(self.bounds, by_partition, strict=True):
            if units:
                self.admission.charge(now, self.table, self.index, start, units * _MINUTE, write=side.write)

    def _ask(self, minute: int, side: Spread, entries: list[Entry]) -> None:
        """Ask for every hot key in every second, and for some keys of the tail in turn, which stand for all of it."""
        groups = _groups(entries)
        tail = [entry for entry in entries if entry.hot < 0]
        visits = min(len(tail), 16 if len(self.bounds) <= _FEW_PARTITIONS else 64)
        self.budget.questions -= _MINUTE * (len(groups) + visits)
        for second in range(_MINUTE):
            now = BEGIN + minute * _MINUTE + second
            turn = [_turn(items, second) for items in groups]
            asked = [
                (items[at], items[at].offered * len(items)) for items, at in zip(groups, turn, strict=True)
            ]
            for visit in range(visits):
                entry = tail[(second * visits + visit) % len(tail)]
                asked.append((entry, entry.offered * len(tail) / visits))
            # Whoever is first has an advantage: each has it in some seconds.
            shift = second * 7 % len(asked)
            for entry, units in asked[shift:] + asked[:shift]:
                self._ask_for(now, entry, units, write=side.write)

    def _ask_for(self, now: float, entry: Entry, units: float, *, write: bool) -> None:
        if not units:
            return
        table, index = self.table, self.index
        if self.admission.refused(now, table, index, entry.key, write=write):
            entry.throttled += units
        else:
            self.admission.charge(now, table, index, entry.key, units, write=write)
            entry.admitted += units

    def _estimate(
        self, entries: list[Entry], by_partition: list[float], limit: float, ceiling: float
    ) -> None:
        """What an hour of the same load would come to: no partition above its ceiling, nor all above the limit."""
        self.estimated_minutes += 1
        passed = sum(min(units, ceiling) for units in by_partition)
        share = min(1.0, limit / passed) if passed else 1.0
        for entry in entries:
            units = by_partition[partitions.number_of(self.bounds, entry.key)]
            part = share * (min(1.0, ceiling / units) if units else 1.0)
            entry.admitted = entry.offered * _MINUTE * part
            entry.throttled = entry.offered * _MINUTE - entry.admitted

    def _observe(self, minute: int, side: Spread, entries: list[Entry]) -> None:
        self.budget.observations -= len(entries)
        now = BEGIN + minute * _MINUTE
        reason = ("TableWriteKeyRange" if side.write else "TableReadKeyRange") + "ThroughputExceeded"
        seen = []
        # Requests of one unit each: the sample goes by units anyway.
        for entry in entries:
            if entry.admitted:
                reads, writes = (0.0, entry.admitted) if side.write else (entry.admitted, 0.0)
                seen.append(
                    Seen(now, self.table, self.index, entry.key, reads, writes, weight=entry.admitted)
                )
            if entry.throttled:
                seen.append(
                    Seen(
                        now,
                        self.table,
                        self.index,
                        entry.key,
                        0.0,
                        0.0,
                        "throttle",
                        (reason,),
                        entry.throttled,
                    )
                )
        self.heat.observe(seen)

    def _follow(self, minute: int) -> None:
        """What the server's jobs do after a minute."""
        now = BEGIN + (minute + 1) * _MINUTE
        windows = self.heat.windows(self.table, self.index, now)
        if windows:
            splits = splitting.splits(self.table, self.index, windows, now)
            warm = growth.grown(self.table, self.index, windows, now)
            after = followed(self.table, self.index, splits, warm)
            if after is not self.table:
                self.table = msgspec.structs.replace(after, version=self.table.version + 1)
            self.splits += [(minute, split) for split in splits]
        if self.scalers is not None:
            self._scale(self.scalers, now)

    def _scale(self, scalers: tuple[Scaler, Scaler], now: float) -> None:
        owner = self.index or self.table
        units = [owner.throughput.read_units, owner.throughput.write_units]
        before = list(units)
        for side, scaler in enumerate(scalers):
            decision = tracking.decide(
                scaler.policy, scaler.bounds, units[side], list(scaler.minutes), scaler.memory, now
            )
            if decision is not None:
                units[side] = decision.capacity
                scaler.memory = tracking.remembered(scaler.memory, decision, now)
        if units != before:
            pair = UnitPair(read_units=units[0], write_units=units[1])
            self.table = with_units(self.table, self.place, pair)


def _tail_count(bounds: partitions.Partitions) -> int:
    """How many keys stand for the tail: some for each partition."""
    count = _TAIL_KEYS_MIN
    while count < min(2 * len(bounds), _TAIL_KEYS_MAX):
        count *= 2
    return count


def _tail_shares(bounds: partitions.Partitions) -> list[float]:
    count = _tail_count(bounds)
    shares = [0.0] * len(bounds)
    for key in tail_keys(count):
        shares[partitions.number_of(bounds, key)] += 1 / count
    return shares


def _groups(entries: list[Entry]) -> list[list[Entry]]:
    """The items of each hot key."""
    groups: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.hot >= 0:
            groups.setdefault(entry.hot, []).append(entry)
    return list(groups.values())


def _turn(items: list[Entry], second: int) -> int:
    return ITEM_TURNS[second % len(ITEM_TURNS)] if len(items) == len(ITEM_TURNS) else 0
