"""Where the cheapest way to pay changes: at which multiple of its traffic a table is cheaper provisioned."""

from dataclasses import replace
from decimal import Decimal

from hashrange.modeling.price.price_list import ClassPrices
from hashrange.modeling.price.throughput_costs import Mode, Traffic

_OCTAVES = 12  # so many doublings and halvings of the traffic are looked at
_STEPS = 9  # of halving the interval, after which the factor is known to about 2 %


def crossover(traffic: tuple[Traffic, ...], prices: ClassPrices) -> float | None:
    """The factor below which on-demand is the cheapest; None if there is none between 1/4096 and 4096.

    On-demand is cheaper for little traffic, because provisioned tables pay for their least capacity. Above that every
    way grows alike, so there is one such factor at most.
    """
    if not any(part.average for part in traffic):
        return None
    low, high = float(-_OCTAVES), float(_OCTAVES)
    if not _on_demand_wins(traffic, low, prices) or _on_demand_wins(traffic, high, prices):
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _on_demand_wins(traffic, middle, prices):
            low = middle
        else:
            high = middle
    return float(2 ** ((low + high) / 2))


def _on_demand_wins(traffic: tuple[Traffic, ...], octaves: float, prices: ClassPrices) -> bool:
    scaled = [_multiplied(part, 2**octaves) for part in traffic]
    on_demand = _cost(scaled, "on-demand", prices)
    # Simulated only where capacity for the peak does not settle it already.
    if _cost(scaled, "provisioned", prices) < on_demand:
        return False
    return on_demand <= _cost(scaled, "auto-scaled", prices)


def _cost(traffic: list[Traffic], mode: Mode, prices: ClassPrices) -> Decimal:
    return sum((part.cost(mode, prices) for part in traffic), Decimal(0))


def _multiplied(part: Traffic, factor: float) -> Traffic:
    return replace(part, uses=tuple(replace(use, units=use.units * factor) for use in part.uses))
