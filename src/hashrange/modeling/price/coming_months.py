"""Coming months: which of them are computed, and what those in between cost.

Growing traffic under auto scaling takes a simulated day for each table, index and month. A model with few of them has
every month computed; one with thousands has some, and the others follow from their neighbours.
"""

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise

SIMULATED_DAYS_MAX = 2000  # some ten seconds


def computed_months(months: int, days_per_month: int) -> tuple[int, ...]:
    """The months to compute, at even distances: all if there is time for them, the last one in any case."""
    count = months if not days_per_month else max(min(months, SIMULATED_DAYS_MAX // days_per_month), 1)
    return tuple(sorted({round(months * at / count) for at in range(1, count + 1)})) if months else ()


def filled(costs: Mapping[int, Decimal], months: int) -> tuple[Decimal, ...]:
    """The cost of every month from now to the last: on straight lines between those that are known."""
    known = sorted(costs)
    every = []
    for before, after in pairwise(known):
        step = (costs[after] - costs[before]) / (after - before)
        every += [costs[before] + step * at for at in range(after - before)]
    return (*every, costs[months])
