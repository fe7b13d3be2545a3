"""A bill for what a server has metered: on demand, and with capacity that had followed the same minutes."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import msgspec

from hashrange.modeling.model import Scaling
from hashrange.modeling.price.capacity_days import followed
from hashrange.modeling.price.charges import ROW_BYTES
from hashrange.modeling.price.money import GIGABYTE, MONTH_HOURS, exact, rounded
from hashrange.modeling.price.price_list import ClassPrices, PriceList

_DIGITS = 8  # a test's traffic costs less than a thousandth of a cent


class Part(msgspec.Struct, frozen=True):
    """A table (no index) or an index, as the server's page has it."""

    index: str | None
    items: int
    size_bytes: int
    reads: list[float]
    writes: list[float]


class Metered(msgspec.Struct, frozen=True):
    """The page of one table."""

    table: str
    region: str
    table_class: str
    on_demand: bool
    start: int
    end: int
    period_seconds: int
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class BillRow:
    """What a table or an index has cost."""

    table: str
    index: str | None
    read_units: Decimal
    write_units: Decimal
    on_demand: Decimal
    auto_scaled: Decimal
    storage: Decimal


@dataclass(frozen=True, slots=True)
class Bill:
    """All rows, and the time that they are about: the longest of any table, in epoch seconds."""

    region: str
    currency: str
    prices_of: str
    start: int
    end: int
    rows: tuple[BillRow, ...]
    on_demand: Decimal
    auto_scaled: Decimal
    storage: Decimal

    @property
    def hours(self) -> Decimal:
        return Decimal(self.end - self.start) / 3600


def bill(tables: Iterable[Metered], prices: PriceList, region: str) -> Bill:
    """The bill of tables, at the prices of a region. `auto_scaled` takes 70 % as its target, and one unit at least."""
    metered = list(tables)
    own = prices.region(region)
    rows = [_row(table, part, own.of_class(table.table_class)) for table in metered for part in table.parts]
    shown = tuple(
        BillRow(
            row.table,
            row.index,
            rounded(row.read_units, _DIGITS),
            rounded(row.write_units, _DIGITS),
            rounded(row.on_demand, _DIGITS),
            rounded(row.auto_scaled, _DIGITS),
            rounded(row.storage, _DIGITS),
        )
        for row in rows
    )
    return Bill(
        region,
        prices.currency,
        prices.date,
        min((table.start for table in metered), default=0),
        max((table.end for table in metered), default=0),
        shown,
        rounded(sum((row.on_demand for row in rows), Decimal(0)), _DIGITS),
        rounded(sum((row.auto_scaled for row in rows), Decimal(0)), _DIGITS),
        rounded(sum((row.storage for row in rows), Decimal(0)), _DIGITS),
    )


def _row(table: Metered, part: Part, prices: ClassPrices) -> BillRow:
    reads, writes = (exact(float(sum(units))) for units in (part.reads, part.writes))
    hours = Decimal(table.end - table.start) / 3600
    size = exact(float(part.size_bytes + part.items * ROW_BYTES))
    return BillRow(
        table.table,
        part.index,
        reads,
        writes,
        reads * prices.request_unit(write=False) + writes * prices.request_unit(write=True),
        _scaled(table, part.reads, prices.unit_hour(write=False))
        + _scaled(table, part.writes, prices.unit_hour(write=True)),
        size / GIGABYTE * prices.storage_gb_month * hours / MONTH_HOURS,
    )


def _scaled(table: Metered, units: list[float], unit_hour: Decimal) -> Decimal:
    """Capacity is billed by the average of its minutes; a period of several minutes is spread evenly over them."""
    if not units:
        return Decimal(0)
    minutes = table.period_seconds // 60
    day = followed([value / table.period_seconds for value in units for _ in range(minutes)], Scaling())
    hours = Decimal(table.end - table.start) / 3600
    return Decimal(sum(day.capacities)) / len(day.capacities) * hours * unit_hour
