"""Days of provisioned capacity, as auto scaling makes them."""

from itertools import pairwise

from hashrange.modeling.model import Scaling
from hashrange.modeling.price.capacity_days import fixed, needed, scaled

BUSY = (7.0,) * 720 + (70.0,) * 720  # quiet until noon


def test_the_capacity_needed_leaves_room_above_the_target() -> None:
    assert [needed(units, 70) for units in (0, 0.1, 70, 70.1)] == [1, 1, 100, 101]


def test_fixed_capacity_is_for_the_peak() -> None:
    day = fixed(BUSY, 70)
    assert set(day.capacities) == {100}
    assert day.refused_share == 0


def test_scaled_capacity_follows_the_traffic_after_its_alarms() -> None:
    day = scaled(BUSY, Scaling())
    # Fifteen low minutes after midnight, then a tenth of it; two high ones after noon, then all of it.
    assert day.capacities[:15] == (100,) * 15
    assert day.capacities[15:722] == (10,) * 707
    assert day.capacities[722:] == (100,) * 718
    assert day.refused_share == 2 * 60 / (7 * 720 + 70 * 720)


def test_capacity_stays_within_its_bounds() -> None:
    day = scaled(BUSY, Scaling(minimum=20, maximum=50))
    assert (min(day.capacities), max(day.capacities)) == (20, 50)
    assert set(scaled((1.0,) * 1440, Scaling(minimum=5)).capacities) == {5}


def test_capacity_goes_down_four_times_a_day_and_then_once_an_hour() -> None:
    saw = tuple(70.0 if minute % 40 < 20 else 7.0 for minute in range(1440))
    day = scaled(saw, Scaling())
    falls = [at for at in range(1, 1440) if day.capacities[at] < day.capacities[at - 1]]
    assert len(falls) <= 4 + 24
    assert all(later - earlier >= 60 for earlier, later in pairwise(falls[3:]))
