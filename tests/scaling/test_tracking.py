"""Target tracking in simulated time."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.scaling import tracking
from hashrange.scaling.tracking import Bounds, Decision, Memory, Tracking

SEVENTY = Tracking(target_percent=70.0)
WIDE = Bounds(1, 40_000)
NOW = 1_000_000.0
NEW = Memory()


def decide(
    capacity: int,
    per_second: list[float],
    *,
    policy: Tracking = SEVENTY,
    bounds: Bounds = WIDE,
    memory: Memory = NEW,
) -> Decision | None:
    return tracking.decide(policy, bounds, capacity, [units * 60 for units in per_second], memory, NOW)


@pytest.mark.parametrize(
    ("capacity", "target", "high", "low"),
    [(5, 70, 210, 150), (500, 70, 21_000, 15_000), (1263, 70, 53_046, 37_890), (1, 50, 30, 18)],
)
def test_the_thresholds_are_those_of_the_service(
    capacity: int, target: float, high: float, low: float
) -> None:
    assert tracking.high_threshold(capacity, target) == pytest.approx(high)
    assert tracking.low_threshold(capacity, target) == pytest.approx(low)


def test_two_minutes_above_the_target_scale_out_to_it() -> None:
    assert decide(200, [150, 150]) == Decision(215, "AlarmHigh")


@pytest.mark.parametrize("minutes", [[150], [140, 150], [150, 140], [140, 140], []])
def test_fewer_do_not(minutes: list[float]) -> None:
    assert decide(200, minutes) is None


def test_the_target_itself_is_not_above_it() -> None:
    assert decide(100, [70.0] * 15) is None
    assert decide(100, [70.1] * 2) == Decision(101, "AlarmHigh")


def test_fifteen_minutes_far_below_the_target_scale_in_to_it() -> None:
    assert decide(100, [49.9] * 15) == Decision(72, "AlarmLow")
    assert decide(100, [0.0] * 15) == Decision(1, "AlarmLow")


def test_one_of_them_that_is_not_holds_it_up() -> None:
    for at in range(15):
        minutes = [10.0] * 15
        minutes[at] = 50.0
        assert decide(100, minutes) is None


def test_fourteen_are_not_enough() -> None:
    assert decide(100, [0.0] * 14) is None


def test_the_busiest_of_the_fifteen_counts() -> None:
    assert decide(100, [35.0] + [0.0] * 14) == Decision(50, "AlarmLow")


def test_capacity_stays_within_its_bounds() -> None:
    assert decide(100, [1000.0] * 2, bounds=Bounds(10, 150)) == Decision(150, "AlarmHigh")
    assert decide(150, [1000.0] * 2, bounds=Bounds(10, 150)) is None
    assert decide(100, [0.0] * 15, bounds=Bounds(10, 150)) == Decision(10, "AlarmLow")
    assert decide(10, [0.0] * 15, bounds=Bounds(10, 150)) is None


def test_a_capacity_that_somebody_set_below_the_least_is_left_alone() -> None:
    assert decide(5, [0.0] * 15, bounds=Bounds(10, 150)) is None


def test_what_is_suspended_is_not_done() -> None:
    assert decide(100, [0.0] * 15, policy=Tracking(target_percent=70.0, may_scale_in=False)) is None
    assert decide(100, [99.0] * 2, policy=Tracking(target_percent=70.0, may_scale_out=False)) is None


def test_in_the_cool_down_of_scaling_out_only_more_than_before_is_added() -> None:
    policy = Tracking(target_percent=70.0, scale_out_cooldown=300)
    memory = Memory(scaled_out_at=NOW - 299, scaled_out_to=215)
    # Somebody has taken capacity away again.
    assert decide(200, [150.0] * 2, policy=policy, memory=memory) is None
    assert decide(200, [151.0] * 2, policy=policy, memory=memory) == Decision(216, "AlarmHigh")
    late = Memory(scaled_out_at=NOW - 300, scaled_out_to=215)
    assert decide(200, [150.0] * 2, policy=policy, memory=late) == Decision(215, "AlarmHigh")


def test_the_cool_down_of_scaling_in_holds_up_scaling_in_alone() -> None:
    policy = Tracking(target_percent=70.0, scale_in_cooldown=300)
    memory = Memory(scaled_in_at=NOW - 299)
    assert decide(100, [0.0] * 15, policy=policy, memory=memory) is None
    assert decide(100, [99.0] * 2, policy=policy, memory=memory) == Decision(142, "AlarmHigh")
    assert decide(100, [0.0] * 15, policy=policy, memory=Memory(scaled_in_at=NOW - 300)) is not None


def test_scaling_out_ends_the_cool_down_of_scaling_in() -> None:
    memory = tracking.remembered(Memory(scaled_in_at=NOW), Decision(5, "AlarmHigh"), NOW + 1)
    assert memory == Memory(scaled_out_at=NOW + 1, scaled_out_to=5)
    assert tracking.remembered(memory, Decision(3, "AlarmLow"), NOW + 2) == Memory(
        scaled_out_at=NOW + 1, scaled_out_to=5, scaled_in_at=NOW + 2
    )


@given(
    st.integers(min_value=1, max_value=40_000),
    st.lists(st.floats(min_value=0, max_value=1e6), max_size=20),
    st.floats(min_value=10, max_value=90),
    st.integers(min_value=1, max_value=40_000),
    st.integers(min_value=1, max_value=40_000),
)
def test_a_decision_is_within_the_bounds_and_in_the_direction_of_its_alarm(
    capacity: int, minutes: list[float], target: float, one: int, other: int
) -> None:
    bounds = Bounds(min(one, other), max(one, other))
    decision = tracking.decide(Tracking(target_percent=target), bounds, capacity, minutes, Memory(), NOW)
    if decision is not None:
        assert bounds.least <= decision.capacity <= bounds.most
        assert (decision.capacity > capacity) is (decision.alarm == "AlarmHigh")
        # What was decided is enough: the same load is not above the target any more, unless the bound is in the way.
        if decision.alarm == "AlarmHigh" and decision.capacity < bounds.most:
            assert minutes[-1] <= tracking.high_threshold(decision.capacity, target) * (1 + 1e-9) + 1e-4


def test_a_day_of_traffic_is_followed() -> None:
    """From 50 units at night to 1,000 at noon: hardly a minute is above the capacity, and little of it is idle."""
    capacity, memory, consumed = 100, Memory(), []
    changes, decreases, short, provisioned = 0, 0, 0, 0
    for minute in range(24 * 60):
        load = 525 - 475 * math.cos(minute / 1440 * 2 * math.pi)
        short += load > capacity
        provisioned += capacity
        consumed.append(min(load, capacity) * 60)
        decision = tracking.decide(SEVENTY, Bounds(10, 2000), capacity, consumed, memory, minute * 60.0)
        if decision is not None:
            decreases += decision.capacity < capacity
            capacity, changes = decision.capacity, changes + 1
            memory = tracking.remembered(memory, decision, minute * 60.0)
    assert short == 0
    assert sum(consumed) / (provisioned * 60) > 0.6
    assert capacity < 150  # it is night again
    assert decreases <= 10  # each is a large one
    assert changes > 100  # small ones, one every other minute while the load rises


@pytest.mark.parametrize(
    ("capacity", "per_second", "bounds", "code"),
    [
        (100, [80.0, 80.0], Bounds(1, 100), "AlreadyAtMaxCapacity"),
        (100, [80.0, 80.0], Bounds(1, 101), None),
        (100, [60.0] * 15, Bounds(100, 100), None),
        (5, [0.0] * 15, Bounds(5, 100), "AlreadyAtMinCapacity"),
        (5, [0.0] * 14, Bounds(5, 100), None),
        (3, [0.0] * 15, Bounds(5, 100), "AlreadyAtMinCapacity"),  # somebody has set it below
        (2, [0.99] * 15, Bounds(1, 100), "AlreadyAtDesiredCapacity"),
        (100, [10.0] * 15, Bounds(1, 100), None),
    ],
)
def test_why_an_alarm_changes_nothing(
    capacity: int, per_second: list[float], bounds: Bounds, code: str | None
) -> None:
    minutes = [units * 60 for units in per_second]
    reason = tracking.held(SEVENTY, bounds, capacity, minutes)
    assert (None if reason is None else reason.code) == code
    if code is not None:
        assert tracking.decide(SEVENTY, bounds, capacity, minutes, NEW, NOW) is None
