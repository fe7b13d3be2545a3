"""The price of a model: a month's charges added up by table, index, entity and pattern, and the other ways to pay."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from hashrange.modeling.model import Model, Table
from hashrange.modeling.price.charges import Charge, table_charges, unpriced
from hashrange.modeling.price.coming_months import computed_months, filled
from hashrange.modeling.price.crossover import crossover
from hashrange.modeling.price.money import MONTH_HOURS, rounded
from hashrange.modeling.price.price_list import ClassPrices, PriceList
from hashrange.modeling.price.reserved import reservation
from hashrange.modeling.price.throughput_costs import (
    MODES,
    Mode,
    Traffic,
    by_throughput,
    chosen_modes,
    traffic_of,
)
from hashrange.modeling.price.uses import uses

_CROSSOVER_TABLES_MAX = 20  # it takes some simulated days for each


@dataclass(frozen=True, slots=True)
class Cost:
    """A part of the sum, and its share of it."""

    name: str
    monthly: Decimal
    share: float


@dataclass(frozen=True, slots=True)
class ModeCost:
    """Reads and writes of all tables, paid in one way; replicas' writes are not in it."""

    mode: str
    monthly: Decimal
    note: str = ""


@dataclass(frozen=True, slots=True)
class TableModes:
    """A table's reads and writes, paid in each way. `utilisation` is of auto scaled capacity, by what that costs.

    Below `changes_at` times its traffic on-demand is the cheapest way, above it provisioned capacity is.
    """

    table: str
    mode: Mode
    on_demand: Decimal
    provisioned: Decimal
    auto_scaled: Decimal
    cheapest: Mode
    utilisation: float
    refused_share: float
    changes_at: float | None = None


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The share of provisioned capacity that has to be in use for it to cost no more than requests on demand."""

    reads: float
    writes: float


@dataclass(frozen=True, slots=True)
class MonthCost:
    """The sum, so many months from now."""

    month: int
    monthly: Decimal


@dataclass(frozen=True, slots=True)
class Priced:
    """The whole answer."""

    name: str
    region: str
    currency: str
    prices_of: str
    source: str
    month_hours: int
    total: Decimal
    kinds: tuple[Cost, ...]
    tables: tuple[Cost, ...]
    indexes: tuple[Cost, ...]
    entities: tuple[Cost, ...]
    patterns: tuple[Cost, ...]
    modes: tuple[ModeCost, ...]
    table_modes: tuple[TableModes, ...]
    break_even: BreakEven
    months: tuple[MonthCost, ...] = ()
    notes: tuple[str, ...] = ()


def priced(model: Model, prices: PriceList, mode: Mode | None = None, months: int = 0) -> Priced:
    """What a model costs a month; and, if asked for, what it will cost in each of the coming months."""
    region = prices.region(model.region)
    all_uses = by_throughput(uses(model))
    traffic = {name: traffic_of(table, all_uses) for name, table in model.tables.items()}
    charges = _charges(model, traffic, prices, mode)
    total = sum((charge.cost for charge in charges), Decimal(0))
    computed = computed_months(months, _days_per_month(model, traffic, mode))
    coming = {at: _total_in(model, traffic, prices, mode, at) for at in computed}
    return Priced(
        model.name,
        model.region,
        prices.currency,
        prices.date,
        prices.source,
        MONTH_HOURS,
        rounded(total),
        _costs(charges, total, lambda charge: charge.kind),
        _costs(charges, total, lambda charge: charge.table),
        _costs(charges, total, lambda charge: f"{charge.table}/{charge.index}" if charge.index else None),
        _costs(charges, total, lambda charge: charge.entity),
        _costs(charges, total, lambda charge: charge.pattern),
        _modes(model, traffic, prices),
        tuple(
            _table_modes(model, table, traffic[table.name], prices, mode) for table in model.tables.values()
        ),
        break_even(region.standard),
        _months({0: total, **coming}, months) if months else (),
        (*unpriced(model, prices), *_interpolated(months, len(computed))),
    )


def _total_in(
    model: Model,
    traffic: Mapping[str, tuple[Traffic, ...]],
    prices: PriceList,
    mode: Mode | None,
    months: int,
) -> Decimal:
    later = {name: tuple(part.later(months) for part in parts) for name, parts in traffic.items()}
    charges = _charges(model, later, prices, mode, months)
    return sum((charge.cost for charge in charges), Decimal(0))


def _days_per_month(model: Model, traffic: Mapping[str, tuple[Traffic, ...]], mode: Mode | None) -> int:
    """How many days have to be simulated for each month that comes."""
    modes = chosen_modes(model, mode)
    return sum(
        part.grows for name, parts in traffic.items() if modes[name] == "auto-scaled" for part in parts
    )


def _interpolated(months: int, computed: int) -> tuple[str, ...]:
    if computed == months:
        return ()
    return (f"{computed} of {months} months are computed; those in between lie on straight lines",)


def _charges(
    model: Model,
    traffic: Mapping[str, tuple[Traffic, ...]],
    prices: PriceList,
    mode: Mode | None,
    months: float = 0,
) -> list[Charge]:
    modes = chosen_modes(model, mode)
    return [
        charge
        for name, table in model.tables.items()
        for charge in table_charges(model, table, traffic[name], modes[name], prices, months)
    ]


def _costs(
    charges: Iterable[Charge], total: Decimal, key: Callable[[Charge], str | None]
) -> tuple[Cost, ...]:
    """Sums by what the key gives, the largest first; charges that have none are left out."""
    sums: dict[str, Decimal] = {}
    for charge in charges:
        name = key(charge)
        if name is not None:
            sums[name] = sums.get(name, Decimal(0)) + charge.cost
    ordered = sorted(sums.items(), key=lambda pair: -pair[1])
    return tuple(Cost(name, rounded(cost), float(cost / total) if total else 0.0) for name, cost in ordered)


def _months(costs: Mapping[int, Decimal], months: int) -> tuple[MonthCost, ...]:
    return tuple(MonthCost(at, rounded(cost)) for at, cost in enumerate(filled(costs, months)))


def break_even(prices: ClassPrices) -> BreakEven:
    """Of the price of an hour's unit and that of a unit on demand: 28.9 % in most places."""

    def share(*, write: bool) -> float:
        price = prices.request_unit(write=write) * 3600
        return float(prices.unit_hour(write=write) / price) if price else 0.0

    return BreakEven(share(write=False), share(write=True))


def _table_modes(
    model: Model, table: Table, traffic: tuple[Traffic, ...], prices: PriceList, mode: Mode | None
) -> TableModes:
    own = prices.region(model.region).of_class(table.table_class)
    costs = {each: _traffic_cost(traffic, each, own) for each in MODES}
    # What is in use of the capacity, weighted by what it costs: a write unit counts as five read units do.
    used = sum(part.average * float(own.unit_hour(write=part.throughput.write)) for part in traffic)
    paid = sum(part.scaled.average * float(own.unit_hour(write=part.throughput.write)) for part in traffic)
    units = sum(part.average for part in traffic)
    refused = sum(part.scaled.refused_share * part.average for part in traffic)
    return TableModes(
        table.name,
        chosen_modes(model, mode)[table.name],
        rounded(costs["on-demand"]),
        rounded(costs["provisioned"]),
        rounded(costs["auto-scaled"]),
        min(MODES, key=lambda each: costs[each]),
        used / paid if paid else 0.0,
        refused / units if units else 0.0,
        crossover(traffic, own) if len(model.tables) <= _CROSSOVER_TABLES_MAX else None,
    )


def _traffic_cost(traffic: Iterable[Traffic], mode: Mode, prices: ClassPrices) -> Decimal:
    return sum((part.cost(mode, prices) for part in traffic), Decimal(0))


def _modes(
    model: Model, traffic: Mapping[str, tuple[Traffic, ...]], prices: PriceList
) -> tuple[ModeCost, ...]:
    """All tables in one mode; each in its cheapest; and auto scaled with reserved capacity."""
    region = prices.region(model.region)
    by_table = {
        name: {mode: _traffic_cost(traffic[name], mode, region.of_class(table.table_class)) for mode in MODES}
        for name, table in model.tables.items()
    }
    rows = [
        ModeCost(mode, rounded(sum((costs[mode] for costs in by_table.values()), Decimal(0))))
        for mode in MODES
    ]
    if len(by_table) > 1:
        mixed = sum((min(costs.values()) for costs in by_table.values()), Decimal(0))
        rows.append(ModeCost("cheapest of each table", rounded(mixed)))
    standard = {name for name, table in model.tables.items() if table.table_class == "STANDARD"}
    others = sum(
        (costs["auto-scaled"] for name, costs in by_table.items() if name not in standard), Decimal(0)
    )
    for years in (1, 3):
        plan = reservation((part for name in standard for part in traffic[name]), region, years)
        note = f"{plan.read_units:,} read and {plan.write_units:,} write units, {rounded(plan.upfront):,.0f} upfront"
        if not plan.read_units and not plan.write_units:
            note = "a block of 100 units does not pay"
        rows.append(ModeCost(f"auto-scaled, reserved {years} y", rounded(plan.cost + others), note))
    return tuple(rows)
