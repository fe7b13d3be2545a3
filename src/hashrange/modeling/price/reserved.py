"""Reserved capacity: how many blocks of a hundred units pay for themselves, and what is left to pay then."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hashrange.modeling.price.money import MONTH_HOURS
from hashrange.modeling.price.price_list import RegionPrices
from hashrange.modeling.price.throughput_costs import Traffic

BLOCK_UNITS = 100
YEAR_MONTHS = 12


@dataclass(frozen=True, slots=True)
class Reservation:
    """Units to reserve for reads and writes, and a month's cost of all provisioned capacity with them."""

    years: int
    read_units: int
    write_units: int
    cost: Decimal
    upfront: Decimal


@dataclass(frozen=True, slots=True)
class _Block:
    """What a hundred units cost: reserved, a month, with the upfront payment spread over the term; and unreserved."""

    month: Decimal
    upfront: Decimal
    unit_hour: Decimal


def reservation(traffic: Iterable[Traffic], prices: RegionPrices, years: int) -> Reservation:
    """The cheapest, for auto scaled tables of the standard class; the account's tables share it."""
    parts = tuple(traffic)
    reads, read_cost = _cheapest(_summed(parts, write=False), _block(prices, years, write=False))
    writes, write_cost = _cheapest(_summed(parts, write=True), _block(prices, years, write=True))
    upfront = reads * _block(prices, years, write=False).upfront
    upfront += writes * _block(prices, years, write=True).upfront
    cost = read_cost + write_cost
    return Reservation(years, reads * BLOCK_UNITS, writes * BLOCK_UNITS, cost, upfront)


def _block(prices: RegionPrices, years: int, *, write: bool) -> _Block:
    own = prices.reserved_1_year if years == 1 else prices.reserved_3_years
    upfront, hour = (own.write_upfront, own.write_hour) if write else (own.read_upfront, own.read_hour)
    month = upfront / (years * YEAR_MONTHS) + hour * MONTH_HOURS
    return _Block(month, upfront, prices.standard.unit_hour(write=write))


def _summed(parts: Sequence[Traffic], *, write: bool) -> list[int]:
    days = [part.scaled.capacities for part in parts if part.throughput.write == write]
    return [sum(minute) for minute in zip(*days, strict=True)]


def _cheapest(capacities: list[int], block: _Block) -> tuple[int, Decimal]:
    """How many blocks, and the cost of a month with them.

    A block pays while its units are in use for more than the share of time that its price is of the full price. The
    capacity exceeded for just that share is found in the sorted minutes; the best number of blocks is beside it.
    """
    if not capacities:
        return 0, Decimal(0)
    full = block.unit_hour * BLOCK_UNITS * MONTH_HOURS
    share = min(block.month / full, Decimal(1)) if full else Decimal(1)
    ordered = sorted(capacities, reverse=True)
    at = min(int(share * len(ordered)), len(ordered) - 1)
    guess = ordered[at] // BLOCK_UNITS
    costs = {count: _cost(capacities, count, block) for count in (0, guess, guess + 1)}
    best = min(costs, key=lambda count: (costs[count], count))
    return best, costs[best]


def _cost(capacities: list[int], blocks: int, block: _Block) -> Decimal:
    over = sum(max(capacity - blocks * BLOCK_UNITS, 0) for capacity in capacities)
    return blocks * block.month + Decimal(over) / len(capacities) * MONTH_HOURS * block.unit_hour
