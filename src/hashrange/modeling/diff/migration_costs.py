"""Migration costs: what the units of builds, scans and backfills cost, once."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from hashrange.modeling.diff.backfills import Backfill, IndexBuild, TableScan
from hashrange.modeling.model import Model, Table
from hashrange.modeling.price.money import exact, rounded
from hashrange.modeling.price.price_list import ClassPrices, PriceList


@dataclass(frozen=True, slots=True)
class MigrationCost:
    """A part of the migration, and the table that pays for it."""

    what: str
    table: str
    read_units: float
    write_units: float
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Pricing:
    """The prices of two versions. Tables of the new one decide, where both have them."""

    old: Model
    new: Model
    prices: PriceList

    def cost(self, what: str, table: str, *, reads: float = 0.0, writes: float = 0.0) -> MigrationCost:
        """Units of a table. Every replica pays the writes again, at its own prices."""
        model = self.new if table in self.new.tables else self.old
        described = model.tables[table]
        total = self._units(described, model.region, reads, write=False)
        for region in (model.region, *described.replicas):
            total += self._units(described, region, writes, write=True)
        return MigrationCost(what, table, reads, writes, rounded(total))

    def _units(self, table: Table, region: str, units: float, *, write: bool) -> Decimal:
        prices = self.prices.region(region).of_class(table.table_class)
        return exact(units) * _unit_price(table, prices, write=write)


def _unit_price(table: Table, prices: ClassPrices, *, write: bool) -> Decimal:
    """On demand a request's; else a second of capacity, all of which is used."""
    if table.billing == "PAY_PER_REQUEST":
        return prices.request_unit(write=write)
    return prices.unit_hour(write=write) / 3600


def migration_costs(
    pricing: Pricing,
    builds: tuple[IndexBuild, ...],
    scans: tuple[TableScan, ...],
    backfills: tuple[Backfill, ...],
) -> Iterator[MigrationCost]:
    """All parts that take units."""
    for build in builds:
        if build.write_units:
            yield pricing.cost(f"build {build.index}", build.table, writes=build.write_units)
    for scan in scans:
        yield pricing.cost("scan, twice", scan.table, reads=scan.read_units)
    for part in backfills:
        writes = part.write_units + sum(part.index_units.values())
        yield pricing.cost(f"backfill {part.entity}", part.target, writes=writes)
        if part.check_units:
            yield pricing.cost(f"check {part.entity}", part.source, writes=part.check_units)
        if part.verify_units:
            yield pricing.cost(f"verify {part.entity}", part.target, reads=part.verify_units)
        if part.delete_units:
            yield pricing.cost(f"delete old {part.entity}", part.source, writes=part.delete_units)
