"""A bill for what a server has metered: on demand, and with capacity that had followed the same minutes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import msgspec

from hashrange.modeling.model import Scaling
from hashrange.modeling.price.capacity_days import followed
from hashrange.modeling.price.charges import ROW_BYTES
from hashrange.modeling.price.money import GIGABYTE, MONTH_HOURS, exact, rounded
from hashrange.modeling.price.price_list import PriceList, RegionPrices

AMOUNTS = ("on_demand", "auto_scaled", "storage", "recovery", "backups", "stream", "replicas")
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
    recovery_since: float | None = None
    stream_reads: int = 0
    backup_bytes: int = 0


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
    recovery: Decimal = Decimal(0)
    backups: Decimal = Decimal(0)
    stream: Decimal = Decimal(0)
    replicas: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Bill:
    """All rows, and the time that they are about: the longest of any table, in epoch seconds.

    `recovery`, `backups` and `stream` are of what the server has had, `replicas` of regions that one asked for: there
    every write is paid again, on demand, and everything is stored.
    """

    region: str
    currency: str
    prices_of: str
    start: int
    end: int
    rows: tuple[BillRow, ...]
    on_demand: Decimal
    auto_scaled: Decimal
    storage: Decimal
    recovery: Decimal = Decimal(0)
    backups: Decimal = Decimal(0)
    stream: Decimal = Decimal(0)
    replicas: Decimal = Decimal(0)

    @property
    def hours(self) -> Decimal:
        return Decimal(self.end - self.start) / 3600


def bill(tables: Iterable[Metered], prices: PriceList, region: str, replicas: Sequence[str] = ()) -> Bill:
    """The bill of tables, at the prices of a region. `auto_scaled` takes 70 % as its target, and one unit at least."""
    metered = list(tables)
    own = prices.region(region)
    others = [prices.region(name) for name in replicas]
    rows = [_row(table, part, own, others) for table in metered for part in table.parts]
    sums = {name: rounded(sum((getattr(row, name) for row in rows), Decimal(0)), _DIGITS) for name in AMOUNTS}
    return Bill(
        region,
        prices.currency,
        prices.date,
        min((table.start for table in metered), default=0),
        max((table.end for table in metered), default=0),
        tuple(_rounded(row) for row in rows),
        **sums,
    )


def _rounded(row: BillRow) -> BillRow:
    amounts = {name: rounded(getattr(row, name), _DIGITS) for name in AMOUNTS}
    units = [rounded(units, _DIGITS) for units in (row.read_units, row.write_units)]
    return BillRow(row.table, row.index, *units, **amounts)


def _row(table: Metered, part: Part, region: RegionPrices, replicas: Sequence[RegionPrices]) -> BillRow:
    prices = region.of_class(table.table_class)
    reads, writes = (exact(float(sum(units))) for units in (part.reads, part.writes))
    month = Decimal(table.end - table.start) / 3600 / MONTH_HOURS
    size = exact(float(part.size_bytes + part.items * ROW_BYTES)) / GIGABYTE
    is_table = part.index is None
    # Recovery is of the table with its local indexes, which have no units of their own.
    is_protected = is_table or not part.writes
    return BillRow(
        table.table,
        part.index,
        reads,
        writes,
        reads * prices.request_unit(write=False) + writes * prices.request_unit(write=True),
        _scaled(table, part.reads, prices.unit_hour(write=False))
        + _scaled(table, part.writes, prices.unit_hour(write=True)),
        size * prices.storage_gb_month * month,
        size * region.recovery_gb_month * _protected(table) if is_protected else Decimal(0),
        Decimal(table.backup_bytes) / GIGABYTE * region.backup_gb_month * month if is_table else Decimal(0),
        table.stream_reads * region.stream_reads_100k / 100_000 if is_table else Decimal(0),
        sum((_replica(table, writes, size * month, other) for other in replicas), Decimal(0)),
    )


def _protected(table: Metered) -> Decimal:
    """The part of a month for which point-in-time recovery was on."""
    if table.recovery_since is None:
        return Decimal(0)
    seconds = table.end - max(table.start, math.floor(table.recovery_since))
    return Decimal(max(seconds, 0)) / 3600 / MONTH_HOURS


def _replica(table: Metered, writes: Decimal, gigabyte_months: Decimal, region: RegionPrices) -> Decimal:
    prices = region.of_class(table.table_class)
    return writes * prices.request_unit(write=True) + gigabyte_months * prices.storage_gb_month


def _scaled(table: Metered, units: list[float], unit_hour: Decimal) -> Decimal:
    """Capacity is billed by the average of its minutes; a period of several minutes is spread evenly over them."""
    if not units:
        return Decimal(0)
    minutes = table.period_seconds // 60
    day = followed([value / table.period_seconds for value in units for _ in range(minutes)], Scaling())
    hours = Decimal(table.end - table.start) / 3600
    return Decimal(sum(day.capacities)) / len(day.capacities) * hours * unit_hour
