"""A day of traffic: every table and global index of a model through the partition model, and what to say about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from hashrange.capacity import limits
from hashrange.capacity.verdict import Findings, Kind, judge
from hashrange.core import limits as quotas
from hashrange.core.schema import UnitPair
from hashrange.modeling.load.flows import Flow
from hashrange.modeling.load.heat_map import NO_HEAT, HeatMap
from hashrange.modeling.load.machine import Budget, Machine, Outcome, Scaler
from hashrange.modeling.load.records import BEGIN, Place, index_record, record
from hashrange.modeling.load.spread import MINUTES, Spread, spread
from hashrange.modeling.model import Model, Scaling
from hashrange.scaling.tracking import Bounds, Tracking

BIN_MINUTES = 5
OBSERVATION_QUESTIONS = 4  # for so many questions one key may be observed
_HOTTEST_KEYS = 5
_WORSE = 1.05  # by how much more must be throttled before the verdict is worked out anew


@dataclass(frozen=True, slots=True)
class Bin:
    """Five minutes, in units per second; `hottest` is the use of a partition's ceiling, above 1 if it is too much."""

    time: str
    partitions: int
    consumed: float
    throttled: float
    limit: float
    hottest: float


@dataclass(frozen=True, slots=True)
class SideDay:
    """The reads, or the writes, of a place. `throttled_share` is that of all units that were asked for."""

    peak: float
    peak_time: str
    throttled_share: float
    throttled_peak: float
    hottest: float
    bins: tuple[Bin, ...]
    heat: HeatMap = NO_HEAT


@dataclass(frozen=True, slots=True)
class KeyDay:
    """One of the hottest keys, at its peak."""

    key: str
    write: bool
    units: float
    share: float
    use: float  # of a partition's ceiling


@dataclass(frozen=True, slots=True)
class SplitDay:
    """A partition that was hot for five minutes: it was split, or there is an obstacle."""

    time: str
    write: bool
    obstacle: str | None


@dataclass(frozen=True, slots=True)
class BackPressure:
    """What an index costs its table: the share of the table's writes that are refused for its sake."""

    index: str
    refused_share: float
    worst: float  # units per second of the table's writes
    worst_time: str


@dataclass(frozen=True, slots=True)
class PlaceDay:
    """A table or global index over the day."""

    table: str
    index: str | None
    partitions: tuple[int, int]
    reads: SideDay
    writes: SideDay
    splits: tuple[SplitDay, ...]
    hottest_keys: tuple[KeyDay, ...]
    kind: Kind
    verdict: str
    remedy: str | None
    shards: int | None = None  # the smallest number of shards that carries the peak
    estimated_minutes: int = 0
    back_pressure: tuple[BackPressure, ...] = ()  # of a table, by its indexes

    @property
    def throttles(self) -> bool:
        return bool(self.back_pressure) or self.reads.throttled_share > 0 or self.writes.throttled_share > 0

    @property
    def title(self) -> str:
        return Place(self.table, self.index).title


def simulate(model: Model, place: Place, parts: list[Flow], questions: int) -> tuple[PlaceDay, Machine]:
    """A day of one place, and the machine at its end."""
    machine = machine_of(model, place, parts, Budget(questions, questions // OBSERVATION_QUESTIONS))
    return _day(machine), machine


def machine_of(model: Model, place: Place, parts: list[Flow], budget: Budget) -> Machine:
    """The machine of a place as it is at midnight."""
    sides = (spread(parts, write=False), spread(parts, write=True))
    table = model.tables[place.table]
    scalings = (table.read_scaling, table.write_scaling)
    # What auto scaling has come to by midnight, if yesterday was the same.
    units = [clamped_units(scaling, side.total(0)) for scaling, side in zip(scalings, sides, strict=True)]
    machine = Machine(
        place, record(model, place, UnitPair(read_units=units[0], write_units=units[1])), sides, budget
    )
    if table.billing == "PROVISIONED":
        machine.scalers = (_scaler(scalings[0]), _scaler(scalings[1]))
    return machine


def clamped_units(scaling: Scaling, demand: float) -> int:
    """What auto scaling comes to at a demand."""
    wanted = math.ceil(min(demand, quotas.TABLE_CAPACITY_UNITS_MAX) / scaling.target_percent * 100)
    return max(1, min(max(wanted, scaling.minimum), scaling.maximum))


def _scaler(scaling: Scaling) -> Scaler:
    return Scaler(Tracking(target_percent=scaling.target_percent), Bounds(scaling.minimum, scaling.maximum))


def _day(machine: Machine) -> PlaceDay:
    begin = len(machine.bounds)
    minutes: list[tuple[Outcome, Outcome]] = []
    busiest = _busiest(machine.sides)
    worst, verdict = 0.0, judge(Findings(machine.table, machine.index, (), BEGIN))
    for minute in range(MINUTES):
        outcome = machine.minute(minute, observed=minute == busiest)
        minutes.append(outcome)
        throttled = sum(side.throttled for side in outcome)
        known = machine.budget.observations > 0 or minute == busiest
        if known and (throttled > worst * _WORSE or (minute == busiest and not worst)):
            worst = max(worst, throttled)
            verdict = judge(_findings(machine, minute))
    reads, writes = (
        replace(
            _side_day([pair[at] for pair in minutes], write=bool(at)),
            heat=machine.maps[at].map(machine.bounds),
        )
        for at in (0, 1)
    )
    return PlaceDay(
        machine.place.table,
        machine.place.index,
        (begin, len(machine.bounds)),
        reads,
        writes,
        _splits(machine),
        _hottest_keys(machine),
        verdict.kind,
        verdict.text,
        verdict.remedy,
        estimated_minutes=machine.estimated_minutes,
    )


def _findings(machine: Machine, minute: int) -> Findings:
    now = BEGIN + (minute + 1) * 60 - 1
    index = index_record(machine.table, machine.place)
    return Findings(machine.table, index, machine.heat.windows(machine.table, index, now), now)


def _busiest(sides: tuple[Spread, Spread]) -> int:
    def use(minute: int) -> float:
        return max(side.total(minute) / limits.partition_units(write=side.write) for side in sides)

    return max(range(MINUTES), key=use)


def _side_day(outcomes: list[Outcome], *, write: bool) -> SideDay:
    ceiling = limits.partition_units(write=write)
    bins = tuple(
        _bin(at, outcomes[at : at + BIN_MINUTES], ceiling) for at in range(0, len(outcomes), BIN_MINUTES)
    )
    peak = max(range(len(outcomes)), key=lambda at: outcomes[at].offered)
    offered = sum(outcome.offered for outcome in outcomes)
    throttled = sum(outcome.throttled for outcome in outcomes)
    return SideDay(
        outcomes[peak].offered,
        clock(peak),
        throttled / offered if offered else 0.0,
        max(outcome.throttled for outcome in outcomes),
        max(outcome.hottest for outcome in outcomes) / ceiling,
        bins,
    )


def _bin(at: int, outcomes: list[Outcome], ceiling: float) -> Bin:
    count = len(outcomes)
    return Bin(
        clock(at),
        outcomes[-1].partitions,
        sum(outcome.offered - outcome.throttled for outcome in outcomes) / count,
        sum(outcome.throttled for outcome in outcomes) / count,
        outcomes[-1].limit,
        max(outcome.hottest for outcome in outcomes) / ceiling,
    )


def clock(minute: int) -> str:
    """The time of day."""
    return f"{minute // 60 % 24:02}:{minute % 60:02}"


def _splits(machine: Machine) -> tuple[SplitDay, ...]:
    """Every split; of those that an obstacle prevents, each kind once: they come back every minute."""
    found: dict[object, SplitDay] = {}
    for minute, split in machine.splits:
        identity = (split.number, minute) if split.obstacle is None else (split.obstacle, split.write)
        found.setdefault(identity, SplitDay(clock(minute + 1), split.write, split.obstacle))
    return tuple(found.values())


def _hottest_keys(machine: Machine) -> tuple[KeyDay, ...]:
    keys: list[KeyDay] = []
    for side in machine.sides:
        peaks: dict[int, tuple[float, int]] = {}
        for minute in range(0, MINUTES, BIN_MINUTES):
            for number, units in enumerate(side.hot_units(minute)):
                peaks[number] = max(peaks.get(number, (0.0, 0)), (units, minute))
        ceiling = limits.partition_units(write=side.write)
        keys += [
            KeyDay(
                side.hot[number].text(minute), side.write, units, units / side.total(minute), units / ceiling
            )
            for number, (units, minute) in peaks.items()
        ]
    return tuple(sorted(keys, key=lambda key: -key.use)[:_HOTTEST_KEYS])
