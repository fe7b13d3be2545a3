"""The smallest number of shards with which the partition keys of a place carry its peak."""

from __future__ import annotations

import math
from dataclasses import replace

from hashrange.capacity import limits
from hashrange.core.schema import UnitPair
from hashrange.modeling.load.day import OBSERVATION_QUESTIONS, PlaceDay, clamped_units, machine_of, simulate
from hashrange.modeling.load.flows import SHARDS_MAX, Flow, sharded
from hashrange.modeling.load.machine import Budget, Machine
from hashrange.modeling.load.records import Place, with_units
from hashrange.modeling.load.spread import MINUTES
from hashrange.modeling.model import Model

_MINUTES_BEFORE = 90  # in which partitions are split as the load rises
_MINUTES_AROUND = 5
_CARRIED_SHARE = 0.001  # of the units that may be throttled
_NEAREST = 3
_DAY_QUESTIONS = 500_000  # to the admission: a second or two of work


def fewest_shards(model: Model, machine: Machine, parts: list[Flow], questions: int) -> int | None:
    """By bisection; None if not even the most are enough, because shards are not what is missing.

    `machine` has been through the day: the capacity that it has come to is there from the beginning.
    """
    budget = Budget(questions, questions // OBSERVATION_QUESTIONS)

    def carries(shards: int) -> bool:
        return _carries(model, machine, parts, shards, budget)

    least = _least(machine)
    # Most often the first that can be enough is; and a few shards may meet in one partition by chance.
    for shards in range(least, min(least + _NEAREST, SHARDS_MAX)):
        if carries(shards):
            return shards
    low, high = min(least + _NEAREST, SHARDS_MAX) - 1, SHARDS_MAX
    if not carries(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if carries(middle) else (middle, high)
    return high


def _least(machine: Machine) -> int:
    """With fewer the hottest key alone is too much for the partitions of its shards."""
    uses = [
        units / limits.partition_units(write=side.write)
        for side in machine.sides
        for minute in range(0, MINUTES, _MINUTES_AROUND)
        for units in side.hot_units(minute)
    ]
    return max(2, min(math.ceil(max(uses, default=0.0)), SHARDS_MAX))


def _carries(model: Model, after: Machine, parts: list[Flow], shards: int, budget: Budget) -> bool:
    """Whether next to nothing is throttled at the peak, after the splits that the load before it has brought."""
    place = after.place
    machine = machine_of(
        model, place, [sharded(part, shards) for part in parts], Budget(0, budget.observations)
    )
    peak = max(range(MINUTES), key=lambda minute: sum(side.total(minute) for side in machine.sides))
    machine.table = after.table
    if machine.scalers is not None:
        table = model.tables[place.table]
        scalings = (table.read_scaling, table.write_scaling)
        reads, writes = (
            clamped_units(scaling, side.total(peak))
            for scaling, side in zip(scalings, machine.sides, strict=True)
        )
        machine.table = with_units(after.table, place, UnitPair(read_units=reads, write_units=writes))
        machine.scalers = None
    begin = max(0, min(peak - _MINUTES_AROUND, MINUTES - 2 * _MINUTES_AROUND))
    for minute in range(max(begin - _MINUTES_BEFORE, 0), begin):
        machine.minute(minute)
    budget.observations = machine.budget.observations
    machine.budget = budget
    outcomes = [machine.minute(minute) for minute in range(begin, begin + 2 * _MINUTES_AROUND)]
    return all(
        sum(pair[side].throttled for pair in outcomes)
        <= _CARRIED_SHARE * sum(pair[side].offered for pair in outcomes)
        for side in (0, 1)
    )


def day_with_shards(model: Model, day: PlaceDay, parts: list[Flow]) -> PlaceDay:
    """The day of a place once more, as it would be with the shards that it needs."""
    shards = day.shards or 1
    place = Place(day.table, day.index)
    again, _ = simulate(model, place, [sharded(part, shards) for part in parts], _DAY_QUESTIONS)
    return replace(again, shards=shards)
