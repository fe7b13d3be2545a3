"""Warm-up: load until a server's rate is steady, for some compile their code while they run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hashrange_bench.load import Outcome

STEADY = 1.05  # windows of which the fastest is faster than the slowest by less than this are alike
WINDOWS_MIN = 3

Load = Callable[[int], Outcome]  # a window, told how many requests went before it


@dataclass(frozen=True, slots=True)
class Warmth:
    """What a warm-up took, and whether it went on until the rate was steady."""

    requests: int
    windows: int
    steady: bool


class Budget:
    """The seconds that a server may take to get warm, for each class of workloads."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._used: dict[int, float] = {}

    def windows(self, group: int, window_seconds: float) -> int:
        """How many windows this class has left; one in any case."""
        return max(1, int((self._seconds - self._used.get(group, 0.0)) / window_seconds))

    def use(self, group: int, seconds: float) -> None:
        """Note what a warm-up took."""
        self._used[group] = self._used.get(group, 0.0) + seconds

    def renew(self, group: int) -> None:
        """Give a class all of its seconds again: what it asks for from now on was not asked for before."""
        self._used.pop(group, None)


def is_steady(rates: Sequence[float]) -> bool:
    """Whether the last three windows differ by less than 5 %."""
    last = rates[-WINDOWS_MIN:]
    return len(last) == WINDOWS_MIN and max(last) < min(last) * STEADY


def warm_up(load: Load, windows_max: int, requests_max: float = float("inf")) -> Warmth:
    """Load window after window until the rate is steady; stop before the requests that may be used are."""
    requests, rates, largest = 0, list[float](), 0
    while len(rates) < windows_max and not is_steady(rates) and requests + largest <= requests_max:
        outcome = load(requests)
        requests += outcome.requests
        largest = max(largest, outcome.requests)
        rates.append(outcome.per_second)
    return Warmth(requests, len(rates), is_steady(rates))
