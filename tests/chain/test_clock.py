"""A clock that follows another one: close to it, never going back, whatever the answers take."""

import random

import pytest

from hashrange.clock import FollowedClock


class Monotonic:
    """The machine's monotonic clock, moved by hand."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def monotonic() -> Monotonic:
    return Monotonic()


@pytest.fixture
def clock(monotonic: Monotonic) -> FollowedClock:
    followed = FollowedClock(monotonic)
    followed.measure(5000.0, asked_at=1000.0, answered_at=1000.0)
    return followed


def test_it_shows_the_other_clock_and_runs_on(clock: FollowedClock, monotonic: Monotonic) -> None:
    assert clock.now() == 5000.0
    monotonic.at += 2.5
    assert clock.now() == 5002.5


def test_it_is_not_asked_before_it_is_measured() -> None:
    with pytest.raises(RuntimeError):
        FollowedClock().now()


def test_a_slow_answer_changes_nothing_that_it_does_not_contradict(
    clock: FollowedClock, monotonic: Monotonic
) -> None:
    monotonic.at = 1010.0
    clock.measure(5003.0, asked_at=1000.0, answered_at=1010.0)
    assert clock.now() == 5010.0
    clock.measure(5014.0, asked_at=1009.0, answered_at=1010.0)  # at least 5014, at most 5015
    assert clock.now() == 5014.0


def test_it_does_not_go_back_but_waits_for_the_other(clock: FollowedClock, monotonic: Monotonic) -> None:
    clock.measure(4990.0, asked_at=1000.0, answered_at=1000.0)
    assert clock.now() == 5000.0
    monotonic.at += 10
    assert clock.now() == pytest.approx(5001.0)  # it still moves, so that what waits for it comes to an end
    monotonic.at += 10
    assert clock.now() == 5010.0


def test_whatever_is_measured_it_never_goes_back(clock: FollowedClock, monotonic: Monotonic) -> None:
    chance = random.Random(1)
    shown = clock.now()
    for _ in range(5000):
        asked_at = monotonic.at
        monotonic.at += chance.random()
        if chance.random() < 0.3:
            clock.measure(5000 + chance.uniform(-100, 100), asked_at=asked_at, answered_at=monotonic.at)
        before, shown = shown, clock.now()
        assert shown >= before
