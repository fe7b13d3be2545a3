"""The comparison of two versions: changes, backfills with their cost, patterns, and the runbook."""

from dataclasses import dataclass
from decimal import Decimal

from hashrange.modeling.diff.backfills import (
    Backfill,
    IndexBuild,
    TableScan,
    backfill,
    index_builds,
    table_scans,
)
from hashrange.modeling.diff.changes import Change, changes
from hashrange.modeling.diff.migration_costs import MigrationCost, Pricing, migration_costs
from hashrange.modeling.diff.pattern_changes import PatternChange, pattern_changes
from hashrange.modeling.diff.runbook import Facts, Step, runbook
from hashrange.modeling.diff.work import works
from hashrange.modeling.model import Model
from hashrange.modeling.price.price_list import PriceList


@dataclass(frozen=True, slots=True)
class Comparison:
    """From the old version to the new one. `hours` is how long the backfills take at `items_per_second`."""

    old: str
    new: str
    changes: tuple[Change, ...]
    patterns: tuple[PatternChange, ...]
    builds: tuple[IndexBuild, ...]
    scans: tuple[TableScan, ...]
    backfills: tuple[Backfill, ...]
    costs: tuple[MigrationCost, ...]
    total: Decimal
    currency: str
    prices_of: str
    items_per_second: float
    hours: float
    steps: tuple[Step, ...]

    @property
    def broken(self) -> tuple[PatternChange, ...]:
        """Patterns that were served, and are not any more."""
        return tuple(change for change in self.patterns if change.effect == "breaks")


def compare(old: Model, new: Model, prices: PriceList, items_per_second: float) -> Comparison:
    """Compare two versions."""
    backfills = tuple(backfill(old, new, work) for work in works(old, new))
    builds = tuple(index_builds(old, new))
    scans = tuple(table_scans(old, backfills))
    copied = frozenset(part.entity for part in backfills if part.kind != "update")
    patterns = tuple(pattern_changes(old, new, copied))
    costs = tuple(migration_costs(Pricing(old, new, prices), builds, scans, backfills))
    return Comparison(
        old.path or old.name,
        new.path or new.name,
        changes(old, new),
        patterns,
        builds,
        scans,
        backfills,
        costs,
        sum((cost.cost for cost in costs), Decimal(0)),
        prices.currency,
        prices.date,
        items_per_second,
        sum(scan.items for scan in scans) / items_per_second / 3600,
        runbook(Facts(old, new, builds, backfills, patterns)),
    )
