"""Pace: a job pauses for clients, and only for them."""

import threading

import pytest

from hashrange.jobs.pace import PAUSE_SECONDS_MAX, Pace, loop_cpu_seconds


class Loop:
    """Clocks that the test moves: the wall's, and that of the event loop's thread."""

    def __init__(self) -> None:
        self.now = self.used = 100.0
        self.pace = Pace(lambda: self.used, lambda: self.now)

    def pause(self, turn_seconds: float, *, used: float) -> float:
        self.now += turn_seconds
        self.used += used
        return self.pace.pause_after(turn_seconds)


def test_a_job_without_clients_does_not_pause() -> None:
    loop = Loop()
    assert loop.pause(0.01, used=0.0) == 0.0
    assert loop.pause(0.01, used=0.0) == 0.0


def test_half_of_the_time_is_for_clients() -> None:
    loop = Loop()
    assert loop.pause(0.01, used=0.004) == pytest.approx(0.01)
    assert loop.pause(0.01, used=0.01) == pytest.approx(0.01)
    assert loop.pause(5.0, used=3.0) == PAUSE_SECONDS_MAX
    assert loop.pause(0.01, used=0.0) == 0.0


def test_few_requests_get_short_pauses() -> None:
    loop = Loop()
    assert 0 < loop.pause(0.1, used=0.001) < 0.03


def test_without_a_clock_there_is_always_somebody() -> None:
    assert Pace(None).pause_after(0.01) == 0.01


def test_the_clock_of_a_thread_can_be_read_on_another() -> None:
    clock = loop_cpu_seconds()
    if clock is None:
        pytest.skip("not on this system")
    readings: list[float] = []
    thread = threading.Thread(target=lambda: readings.append(clock()))
    before = clock()
    sum(range(300_000))
    thread.start()
    thread.join()
    assert before < readings[0] <= clock()
