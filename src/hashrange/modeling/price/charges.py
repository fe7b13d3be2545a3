"""Charges: every amount of a month's bill with what causes it, so that they add up by whatever one asks for."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from hashrange.modeling.model import Model, Table
from hashrange.modeling.population import COUNT_MAX, entry_share, item_count
from hashrange.modeling.price.money import GIGABYTE, MONTH_HOURS, MONTH_SECONDS, exact
from hashrange.modeling.price.price_list import PriceList
from hashrange.modeling.price.throughput_costs import Mode, Traffic
from hashrange.modeling.sizes import entry_size, item_size

Kind = Literal["reads", "writes", "storage", "recovery", "backups", "stream", "replicas", "dax"]
ROW_BYTES = 100  # which every item and every row of an index is billed beside its own
GLOBAL_ROW_BYTES = 48  # and in a global table
PARTITION_WRITES = 1000
PARTITION_BYTES = 10 * GIGABYTE


@dataclass(frozen=True, slots=True)
class Charge:
    """An amount a month. What it is for is None where it is for all of them."""

    kind: Kind
    table: str
    cost: Decimal
    index: str | None = None
    entity: str | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Bytes:
    """What is stored of an entity in a table (no index) or an index, as it is billed."""

    entity: str
    index: str | None
    local: bool
    size: float


def table_charges(
    model: Model, table: Table, traffic: tuple[Traffic, ...], mode: Mode, prices: PriceList, months: float = 0
) -> Iterator[Charge]:
    """All charges of a table."""
    stored = tuple(stored_bytes(model, table, months))
    yield from _throughput(table, traffic, mode, prices, model.region)
    yield from _storage(table, stored, prices, model.region)
    yield from _copies(table, stored, prices, model.region)
    yield from _stream(table, traffic, stored, prices, model.region)
    for region in table.replicas:
        yield from _replica(table, traffic, stored, mode, (prices, region))
    yield from _dax(table, prices, model.region)


def stored_bytes(model: Model, table: Table, months: float = 0) -> Iterator[Bytes]:
    """What is stored, row by row of the bill."""
    overhead = ROW_BYTES + (GLOBAL_ROW_BYTES if table.replicas else 0)
    for entity in model.entities_of(table.name):
        count = item_count(model, entity, months)
        size = item_size(model, entity, months).mean + overhead
        yield Bytes(entity.name, None, local=False, size=min(count * size, COUNT_MAX))
        for index in table.indexes:
            row = entry_size(model, entity, index)
            if row is not None:
                rows = count * entry_share(model, entity, index)
                total = min(rows * (row.mean + ROW_BYTES), COUNT_MAX)
                yield Bytes(entity.name, index.name, local=index.local, size=total)


def _throughput(
    table: Table, traffic: tuple[Traffic, ...], mode: Mode, prices: PriceList, region: str
) -> Iterator[Charge]:
    """A throughput's cost, split by the units that each use takes of it."""
    own = prices.region(region).of_class(table.table_class)
    for part in traffic:
        cost = part.cost(mode, own)
        kind: Kind = "writes" if part.throughput.write else "reads"
        if not part.average:
            if cost:
                yield Charge(kind, table.name, cost, part.throughput.index)
            continue
        for use in part.uses:
            share = exact(use.average(part.months)) / exact(part.average) / len(use.entities)
            for entity in use.entities:
                yield Charge(kind, table.name, cost * share, use.index, entity, use.pattern)


def _gigabytes(size: float) -> Decimal:
    return exact(size) / GIGABYTE


def _storage(table: Table, stored: tuple[Bytes, ...], prices: PriceList, region: str) -> Iterator[Charge]:
    price = prices.region(region).of_class(table.table_class).storage_gb_month
    for row in stored:
        yield Charge("storage", table.name, _gigabytes(row.size) * price, row.index, row.entity)


def _copies(table: Table, stored: tuple[Bytes, ...], prices: PriceList, region: str) -> Iterator[Charge]:
    """Point-in-time recovery and backups, which are of the table and its local indexes."""
    own = prices.region(region)
    for row in stored:
        if row.index is not None and not row.local:
            continue
        size = _gigabytes(row.size)
        if table.point_in_time_recovery:
            yield Charge("recovery", table.name, size * own.recovery_gb_month, row.index, row.entity)
        if table.kept_backups:
            cost = size * own.backup_gb_month * table.kept_backups
            yield Charge("backups", table.name, cost, row.index, row.entity)


def _stream(
    table: Table, traffic: tuple[Traffic, ...], stored: tuple[Bytes, ...], prices: PriceList, region: str
) -> Iterator[Charge]:
    """Each reader asks each shard once a second; there is a shard for every partition."""
    if table.stream is None or not table.stream_readers:
        return
    writes = next(part for part in traffic if part.throughput.write and part.throughput.index is None)
    size = sum(row.size for row in stored if row.index is None or row.local)
    shards = max(math.ceil(max(writes.day) / PARTITION_WRITES), math.ceil(size / PARTITION_BYTES), 1)
    price = prices.region(region).stream_reads_100k / 100_000
    yield Charge("stream", table.name, shards * table.stream_readers * MONTH_SECONDS * price)


def _replica(
    table: Table,
    traffic: tuple[Traffic, ...],
    stored: tuple[Bytes, ...],
    mode: Mode,
    where: tuple[PriceList, str],
) -> Iterator[Charge]:
    """Another region stores everything, and pays for every write again, at its own prices."""
    prices, region = where
    own = prices.region(region).of_class(table.table_class)
    for row in stored:
        cost = _gigabytes(row.size) * own.storage_gb_month
        yield Charge("replicas", table.name, cost, row.index, row.entity)
    writes = tuple(part for part in traffic if part.throughput.write)
    for charge in _throughput(table, writes, mode, prices, region):
        yield Charge("replicas", table.name, charge.cost, charge.index, charge.entity, charge.pattern)


def _dax(table: Table, prices: PriceList, region: str) -> Iterator[Charge]:
    price = prices.region(region).dax_node_hour.get(table.dax_node or "")
    if price is not None:
        yield Charge("dax", table.name, price * table.dax_nodes * MONTH_HOURS)


def unpriced(model: Model, prices: PriceList) -> list[str]:
    """What has no price in the list, in words."""
    known: Mapping[str, Decimal] = prices.region(model.region).dax_node_hour
    return [
        f"no price of a node {table.dax_node} is known, so the cache of {table.name} is not in the sum; "
        "give one by --prices"
        for table in model.tables.values()
        if table.dax_node is not None and table.dax_node not in known
    ]
