"""A clock that can be moved: only ahead, by any of the processes that share it."""

from mmap import mmap

import pytest

from hashrange.clock import ManualClock, MovableClock, new_offsets


def test_it_is_ahead_of_the_other_clock_by_what_it_was_moved() -> None:
    base = ManualClock(1000)
    clock = MovableClock(base)
    assert (clock.now(), clock.ahead_seconds) == (1000, 0)
    clock.move(60)
    base.advance(5)
    assert (clock.now(), clock.ahead_seconds, clock.base_now()) == (1065, 60, 1005)


@pytest.mark.parametrize("ahead_seconds", [60, 59, 0, -100])
def test_it_never_goes_back(ahead_seconds: float) -> None:
    clock = MovableClock(ManualClock(1000))
    clock.move(60)
    clock.move(ahead_seconds)
    assert clock.now() == 1060


def test_processes_that_share_it_move_together_and_none_moves_it_back() -> None:
    offsets = new_offsets(mmap(-1, 24))
    clocks = [MovableClock(ManualClock(1000), offsets, cell) for cell in range(3)]
    clocks[1].move(60)
    assert [clock.now() for clock in clocks] == [1060] * 3
    clocks[2].move(20)
    assert [clock.now() for clock in clocks] == [1060] * 3
    clocks[0].move(61)
    assert [clock.now() for clock in clocks] == [1061] * 3
