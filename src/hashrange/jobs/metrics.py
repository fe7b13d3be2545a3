"""Metrics that are not counted but looked up, and what becomes of old ones."""

from collections.abc import Sequence
from functools import partial

from hashrange.capacity.series import Place, series_name
from hashrange.core.limits import ACCOUNT_CAPACITY_UNITS_MAX, TABLE_CAPACITY_UNITS_MAX
from hashrange.core.schema import Index, Table
from hashrange.storage import backfill_rows, catalogue, metric_rows
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.metric_rows import AGES, KEPT_SECONDS

SAMPLE_SECONDS = 300  # as often as the service publishes these
_CHUNK_TABLES = 50
_CHUNK_ROWS = 200
_PAUSE_SECONDS = 0.01  # between chunks, so that clients' writes go first
_ROUND_SECONDS = 600.0  # between two looks at all tables
_SILENT_SECONDS = 900  # after so long a worker is taken to be gone


class SampleCapacity:
    """Publishes what tables have, and how far the backfills of their indexes are, every five minutes."""

    name = "sample-capacity"

    def __init__(self, engine: Engine, tables: Catalogue) -> None:
        self._engine = engine
        self._tables = tables
        self._slot = 0  # of five minutes, that was sampled last
        self._left: list[Table] = []

    def step(self, now: float) -> float:
        """Sample a chunk of tables, if it is time."""
        slot = int(now // SAMPLE_SECONDS)
        if slot != self._slot:
            self._slot = slot
            self._left = [table for table in self._tables.tables() if _is_sampled(table)]
            self._sample_regions(self._left, now)
        chunk, self._left = self._left[:_CHUNK_TABLES], self._left[_CHUNK_TABLES:]
        if chunk:
            self._engine.write(partial(_sample, tables=chunk, now=now))
        return _PAUSE_SECONDS if self._left else (slot + 1) * SAMPLE_SECONDS - now

    def _sample_regions(self, tables: Sequence[Table], now: float) -> None:
        regions: dict[Place, list[Table]] = {}
        for table in tables:
            regions.setdefault(Place(table.account_id, table.region, ""), []).append(table)
        for region, members in regions.items():
            samples = _account_samples(members)
            self._engine.write(partial(metric_rows.add_samples, place=region, now=now, samples=samples))


def _is_sampled(table: Table) -> bool:
    if table.status == "DELETING":
        return False
    limited = table.on_demand_limits is not None or any(index.on_demand for index in table.indexes)
    return not table.on_demand or limited or any(index.backfilling for index in table.indexes)


def _sample(tx: Transaction, *, tables: Sequence[Table], now: float) -> None:
    for table in tables:
        samples = _capacity_samples(table)
        for index in table.global_indexes:
            if index.backfilling:
                name = series_name("OnlineIndexPercentageProgress", {"GlobalSecondaryIndexName": index.name})
                samples[name] = backfill_rows.read(tx, table.number, index.slot).percent
        if samples:
            metric_rows.add_samples(tx, Place(*catalogue.address(table)), now, samples)


def _capacity_samples(table: Table) -> dict[str, float]:
    samples: dict[str, float] = {}
    owners: list[tuple[Table | Index, dict[str, str]]] = [(table, {})]
    owners += [(index, {"GlobalSecondaryIndexName": index.name}) for index in table.global_indexes]
    for owner, dimensions in owners:
        limits = owner.on_demand_limits if isinstance(owner, Table) else owner.on_demand
        for kind in ("Read", "Write"):
            if not table.on_demand:
                throughput = owner.throughput
                units = throughput.read_units if kind == "Read" else throughput.write_units
                samples[series_name(f"Provisioned{kind}CapacityUnits", dimensions)] = float(units)
            elif limits is not None:
                limit = limits.read_units if kind == "Read" else limits.write_units
                if limit > 0:
                    samples[series_name(f"OnDemandMax{kind}RequestUnits", dimensions)] = float(limit)
    return samples


def _account_samples(tables: Sequence[Table]) -> dict[str, float]:
    """The account's quotas, and how much of them is taken; tables on demand take none."""
    samples: dict[str, float] = {}
    provisioned = [table for table in tables if not table.on_demand]
    owners = [table.throughput for table in provisioned]
    owners += [index.throughput for table in provisioned for index in table.global_indexes]
    for kind, plural in (("Read", "Reads"), ("Write", "Writes")):
        units = [owner.read_units if kind == "Read" else owner.write_units for owner in owners]
        samples[f"AccountMax{plural}"] = float(ACCOUNT_CAPACITY_UNITS_MAX)
        samples[f"AccountMaxTableLevel{plural}"] = float(TABLE_CAPACITY_UNITS_MAX)
        share = 100 * sum(units) / ACCOUNT_CAPACITY_UNITS_MAX
        samples[f"AccountProvisioned{kind}CapacityUtilization"] = share
        largest = 100 * max(units, default=0) / TABLE_CAPACITY_UNITS_MAX
        samples[f"MaxProvisionedTable{kind}CapacityUtilization"] = largest
    return samples


class AgeMetrics:
    """Goes round all tables: minutes become five minutes, these become hours, and those are deleted in the end."""

    name = "age-metrics"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._age = 0  # which of the AGES this round has come to; behind them series and workers follow
        self._behind = b""
        self._silent: bytes | None = None

    def step(self, now: float) -> float:
        """Bring a chunk of one table's rows up to date."""
        if self._age < len(AGES):
            self._age_chunk(now)
            return _PAUSE_SECONDS
        if self._age == len(AGES):
            forget = partial(metric_rows.forget_series, before=now - KEPT_SECONDS, limit=_CHUNK_ROWS)
            self._go_on(self._engine.write(partial(forget, behind=self._behind)))
            return _PAUSE_SECONDS
        return self._fold(now)

    def _age_chunk(self, now: float) -> None:
        old = AGES[self._age]
        place = self._engine.read(
            partial(metric_rows.next_place, resolution=old.resolution, behind=self._behind)
        )
        if place is not None:
            step = partial(metric_rows.age, old=old, place_key=place, now=now, limit=_CHUNK_ROWS)
            if self._engine.write(step) == _CHUNK_ROWS:
                return  # there are more of this table
        self._go_on(place)

    def _go_on(self, place: bytes | None) -> None:
        """Go on behind a place, or with the next kind of rows."""
        self._behind = place or b""
        self._age += place is None

    def _fold(self, now: float) -> float:
        """Add up the totals of a worker that is gone."""
        if self._silent is None:
            since = now - _SILENT_SECONDS
            self._silent = self._engine.read(partial(metric_rows.silent_worker, since=since))
        if self._silent is None:
            self._age = 0
            return _ROUND_SECONDS
        fold = partial(metric_rows.fold_totals, worker=self._silent, behind=self._behind, limit=_CHUNK_ROWS)
        self._behind = self._engine.write(fold) or b""
        if not self._behind:
            self._engine.write(partial(metric_rows.forget_worker, worker=self._silent))
            self._silent = None
        return _PAUSE_SECONDS
