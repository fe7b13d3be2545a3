"""A day of provisioned capacity: fixed for the peak, or as the server's own auto scaling would follow the traffic."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hashrange.core.limits import DECREASE_INTERVAL_SECONDS, DECREASES_FREE_PER_DAY
from hashrange.modeling.model import Scaling
from hashrange.scaling.tracking import LOW_MINUTES, MINUTE, Bounds, Memory, Tracking, decide, remembered

_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class CapacityDay:
    """Capacity in each minute, and the share of all units that it had no room for; bursts are not counted on."""

    capacities: tuple[int, ...]
    refused_share: float

    @property
    def average(self) -> float:
        return sum(self.capacities) / len(self.capacities)


def needed(units_per_second: float, target_percent: float) -> int:
    """The capacity of which so many units are the target's share; one at least."""
    # Rounded first: 70 units at 70 % are 100, and not the 101 that binary fractions make of them.
    return max(math.ceil(round(units_per_second / target_percent * 100, 6)), 1)


def fixed(day: Sequence[float], target_percent: float) -> CapacityDay:
    """Capacity for the peak, day and night."""
    return CapacityDay((needed(max(day), target_percent),) * len(day), 0.0)


def scaled(day: Sequence[float], scaling: Scaling) -> CapacityDay:
    """Capacity that follows the traffic, minute by minute, on the second of two such days."""
    bounds = Bounds(scaling.minimum, max(scaling.maximum, scaling.minimum))
    if min(day) == max(day):
        capacity = bounds.clamped(needed(day[0], scaling.target_percent))
        return CapacityDay((capacity,) * len(day), _refused(day, [capacity] * len(day)))
    capacities = _followed([*day, *day], bounds, scaling.target_percent)[-len(day) :]
    return CapacityDay(tuple(capacities), _refused(day, capacities))


def followed(minutes: Sequence[float], scaling: Scaling) -> CapacityDay:
    """Capacity that had followed minutes that were; it begins with what the first of them needs."""
    bounds = Bounds(scaling.minimum, max(scaling.maximum, scaling.minimum))
    capacities = _followed(minutes, bounds, scaling.target_percent)
    return CapacityDay(tuple(capacities), _refused(minutes, capacities))


def _followed(run: Sequence[float], bounds: Bounds, target_percent: float) -> list[int]:
    tracking = Tracking(target_percent=target_percent)
    consumed = [units * MINUTE for units in run]
    capacity = bounds.clamped(needed(run[0], target_percent))
    memory, decreases, capacities = Memory(), list[int](), []
    for at in range(len(run)):
        capacities.append(capacity)
        now = at * MINUTE
        recent = consumed[max(at + 1 - LOW_MINUTES, 0) : at + 1]
        decision = decide(tracking, bounds, capacity, recent, memory, now)
        if decision is None:
            continue
        if decision.capacity < capacity:
            if not _may_decrease(decreases, now):
                continue
            decreases.append(now)
        memory = remembered(memory, decision, now)
        capacity = decision.capacity
    return capacities


def _may_decrease(decreases: Sequence[int], now: int) -> bool:
    """Four in a day whenever one likes, and then one an hour, as the service has it."""
    today = [moment for moment in decreases if moment // _DAY_SECONDS == now // _DAY_SECONDS]
    return len(today) < DECREASES_FREE_PER_DAY or now - today[-1] >= DECREASE_INTERVAL_SECONDS


def _refused(day: Sequence[float], capacities: Sequence[int]) -> float:
    total = sum(day)
    missing = sum(max(units - capacity, 0.0) for units, capacity in zip(day, capacities, strict=True))
    return missing / total if total else 0.0
