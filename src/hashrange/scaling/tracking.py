"""Target tracking: what a policy makes of the consumption of the last minutes.

It follows the alarms that the service makes for such a policy. AlarmHigh: two minutes in a row above the target.
AlarmLow: fifteen in a row more than 20 points of utilisation below it. Both act again every minute while they last.
"""

import math
from typing import Literal

import msgspec

HIGH_MINUTES = 2
LOW_MINUTES = 15
LOW_POINTS = 20.0  # of utilisation below the target, in percent
MINUTE = 60

Alarm = Literal["AlarmHigh", "AlarmLow"]
HeldCode = Literal["AlreadyAtMaxCapacity", "AlreadyAtMinCapacity", "AlreadyAtDesiredCapacity"]


class Bounds(msgspec.Struct, frozen=True):
    """Between what a scalable target keeps its capacity."""

    least: int
    most: int

    def clamped(self, capacity: int) -> int:
        """The nearest capacity within the bounds."""
        return max(self.least, min(self.most, capacity))


class Tracking(msgspec.Struct, frozen=True, kw_only=True):
    """How a policy follows its target; `may_scale_out` and `may_scale_in` are what is not suspended."""

    target_percent: float
    scale_out_cooldown: float = 0.0
    scale_in_cooldown: float = 0.0
    may_scale_out: bool = True
    may_scale_in: bool = True


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy did last."""

    scaled_out_at: float | None = None
    scaled_out_to: int = 0
    scaled_in_at: float | None = None


class Decision(msgspec.Struct, frozen=True):
    """A capacity to be set, and the alarm that is the reason."""

    capacity: int
    alarm: Alarm


class Held(msgspec.Struct, frozen=True):
    """Why an alarm leaves a capacity as it is, as the service calls it."""

    code: HeldCode
    alarm: Alarm


def high_threshold(capacity: int, target_percent: float) -> float:
    """Units consumed in a minute above which a policy scales out."""
    return capacity * MINUTE * target_percent / 100


def low_threshold(capacity: int, target_percent: float) -> float:
    """Units consumed in a minute below which a policy scales in.

    What the service does with targets of 20 % and less is not known; half of the target stands in for it.
    """
    points = target_percent - LOW_POINTS
    return capacity * MINUTE * (points if points > 0 else target_percent / 2) / 100


def decide(
    tracking: Tracking, bounds: Bounds, capacity: int, minutes: list[float], memory: Memory, now: float
) -> Decision | None:
    """What is to be done; `minutes` are units consumed, the oldest minute first, none left out."""
    target = tracking.target_percent
    match _alarm(tracking, capacity, minutes):
        case "AlarmHigh":
            return _scale_out(tracking, bounds, capacity, _wanted(minutes[-1], target), memory, now)
        case "AlarmLow":
            # The busiest of the fifteen minutes, not the last: capacity that is cut too far is missing at once.
            wanted = _wanted(max(minutes[-LOW_MINUTES:]), target)
            return _scale_in(tracking, bounds, capacity, wanted, memory, now)
        case None:
            return None


def _alarm(tracking: Tracking, capacity: int, minutes: list[float]) -> Alarm | None:
    """The alarm that is in ALARM."""
    target = tracking.target_percent
    high, low = minutes[-HIGH_MINUTES:], minutes[-LOW_MINUTES:]
    if len(high) == HIGH_MINUTES and min(high) > high_threshold(capacity, target):
        return "AlarmHigh"
    if len(low) == LOW_MINUTES and max(low) < low_threshold(capacity, target):
        return "AlarmLow"
    return None


def held(tracking: Tracking, bounds: Bounds, capacity: int, minutes: list[float]) -> Held | None:
    """Why an alarm cannot change the capacity; what is suspended, or waits for a cool-down, is not held."""
    match _alarm(tracking, capacity, minutes):
        case "AlarmHigh" if tracking.may_scale_out and capacity >= bounds.most:
            return Held("AlreadyAtMaxCapacity", "AlarmHigh")
        case "AlarmLow" if tracking.may_scale_in and capacity <= bounds.least:
            return Held("AlreadyAtMinCapacity", "AlarmLow")
        case "AlarmLow" if tracking.may_scale_in and capacity <= _wanted(
            max(minutes[-LOW_MINUTES:]), tracking.target_percent
        ):
            return Held("AlreadyAtDesiredCapacity", "AlarmLow")
        case _:
            return None


def _wanted(consumed: float, target_percent: float) -> int:
    # Rounded first: 70 units a second at 70 % are 100, and not the 101 that binary fractions make of them.
    return math.ceil(round(consumed / MINUTE / target_percent * 100, 6))


def _scale_out(
    tracking: Tracking, bounds: Bounds, capacity: int, wanted: int, memory: Memory, now: float
) -> Decision | None:
    after = bounds.clamped(wanted)
    if after <= capacity or not tracking.may_scale_out:
        return None
    if _is_within(memory.scaled_out_at, tracking.scale_out_cooldown, now) and after <= memory.scaled_out_to:
        return None  # what was added already counts: only more than that is added
    return Decision(after, "AlarmHigh")


def _scale_in(
    tracking: Tracking, bounds: Bounds, capacity: int, wanted: int, memory: Memory, now: float
) -> Decision | None:
    after = bounds.clamped(wanted)
    if after >= capacity or not tracking.may_scale_in:
        return None
    if _is_within(memory.scaled_in_at, tracking.scale_in_cooldown, now):
        return None
    return Decision(after, "AlarmLow")


def _is_within(moment: float | None, cooldown: float, now: float) -> bool:
    # A moment that is still to come was told by a clock that has been set back since: it holds nothing up.
    return moment is not None and moment <= now < moment + cooldown


def remembered(memory: Memory, decision: Decision, now: float) -> Memory:
    """What the policy knows after a decision was carried out; scaling out ends the cool-down of scaling in."""
    if decision.alarm == "AlarmHigh":
        return Memory(scaled_out_at=now, scaled_out_to=decision.capacity)
    return msgspec.structs.replace(memory, scaled_in_at=now)
