"""Warm-up: load until a server no longer gets faster, for some compile their code while they run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hashrange_bench.load import Outcome

FASTER = 1.05  # a window that is faster than all before it by less than this brings nothing new
_CALM_WINDOWS = 3  # one or two may have been disturbed by others on the machine


@dataclass(frozen=True, slots=True)
class Warmth:
    """What a warm-up took, and whether it went on until the rate was steady."""

    requests: int
    windows: int
    steady: bool


def is_steady(rates: Sequence[float]) -> bool:
    """Whether the last windows were no faster than the best one before them."""
    before, last = rates[:-_CALM_WINDOWS], rates[-_CALM_WINDOWS:]
    return bool(before) and max(last) < max(before) * FASTER


def warm_up(load: Callable[[int], Outcome], windows_max: int) -> Warmth:
    """Load window after window, each told how many requests went before it, until the rate is steady."""
    requests, rates = 0, list[float]()
    while len(rates) < windows_max and not is_steady(rates):
        outcome = load(requests)
        requests += outcome.requests
        rates.append(outcome.per_second)
    return Warmth(requests, len(rates), is_steady(rates))
