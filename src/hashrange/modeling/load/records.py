"""The records that the partition model goes by, of the tables of a model."""

from dataclasses import dataclass

import msgspec

from hashrange.capacity import limits
from hashrange.core import limits as quotas
from hashrange.core import partitions
from hashrange.core.schema import Index, KeyAttribute, Table, Throughput, UnitPair, Warm
from hashrange.modeling import model as modeled
from hashrange.modeling.model import Model
from hashrange.modeling.population import COUNT_MAX, entry_share, item_count
from hashrange.modeling.sizes import entry_size, item_size

BEGIN = 1_767_225_600.0  # midnight: 1 January 2026
DAY_SECONDS = 86_400
# Of size: more do not change the picture, and each takes time to simulate.
_SIZE_PARTITIONS_MAX = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A table, or one of its global indexes: what has partitions and capacity of its own."""

    table: str
    index: str | None = None

    @property
    def title(self) -> str:
        return self.table if self.index is None else f"{self.table}.{self.index}"


def record(model: Model, place: Place, units: UnitPair) -> Table:
    """The record of a table that is a day old and holds what the model says; `units`: what is provisioned."""
    table = model.tables[place.table]
    index = None if place.index is None else table.index(place.index)
    on_demand = table.billing == "PAY_PER_REQUEST"
    throughput = Throughput()
    warm = Warm(read_units=quotas.ON_DEMAND_WARM_READS, write_units=quotas.ON_DEMAND_WARM_WRITES)
    if not on_demand:
        throughput = Throughput(read_units=units.read_units, write_units=units.write_units)
        warm = Warm(read_units=units.read_units, write_units=units.write_units)
    has_local = any(one.local for one in table.indexes)
    made = partitions.created(
        Table(
            account_id="000000000000",
            region=model.region,
            name=table.name,
            number=1,
            version=1,
            table_id="",
            created_at=BEGIN - DAY_SECONDS,
            hash=_key(table.partition_key),
            range=None if table.sort_key is None else _key(table.sort_key),
            indexes=_indexes(index, throughput, warm, local=has_local),
            on_demand=on_demand,
            throughput=throughput,
            warm=warm,
        )
    )
    size = min(place_bytes(model, table, index), _SIZE_PARTITIONS_MAX * quotas.PARTITION_BYTES)
    return (
        partitions.grown(made, int(size))
        if index is None
        else partitions.grown(made, 0, {index.name: int(size)})
    )


def _key(key: modeled.KeyAttribute) -> KeyAttribute:
    return KeyAttribute(key.name, key.type)


def _indexes(
    index: modeled.Index | None, throughput: Throughput, warm: Warm, *, local: bool
) -> tuple[Index, ...]:
    """The global index that is looked at; a local one forbids that collections of the table are divided."""
    if index is not None:
        hash_keys, range_keys = tuple(map(_key, index.partition_key)), tuple(map(_key, index.sort_key))
        return (
            Index(
                name=index.name,
                slot=1,
                local=False,
                hash=hash_keys,
                range=range_keys,
                throughput=throughput,
                warm=warm,
            ),
        )
    return (Index(name="local", slot=1, local=True, hash=()),) if local else ()


def index_record(table: Table, place: Place) -> Index | None:
    """The record of the place's index; None: the place is the table."""
    return next((one for one in table.indexes if one.name == place.index), None)


def place_bytes(model: Model, table: modeled.Table, index: modeled.Index | None) -> float:
    """What a table or index holds."""
    total = 0.0
    for entity in model.entities_of(table.name):
        size = item_size(model, entity) if index is None else entry_size(model, entity, index)
        share = 1.0 if index is None else entry_share(model, entity, index)
        total += 0.0 if size is None else item_count(model, entity) * share * size.mean
    return min(total, COUNT_MAX)


def with_units(table: Table, place: Place, units: UnitPair) -> Table:
    """The record with other provisioned units; capacity that was once there keeps its partitions."""
    before = (index_record(table, place) or table).warm or Warm(read_units=0, write_units=0)
    warm = Warm(
        read_units=max(before.read_units, units.read_units),
        write_units=max(before.write_units, units.write_units),
    )
    throughput = Throughput(read_units=units.read_units, write_units=units.write_units)
    return partitions.grown(_replaced(table, place, throughput, warm))


def _replaced(table: Table, place: Place, throughput: Throughput, warm: Warm) -> Table:
    version = table.version + 1
    index = index_record(table, place)
    if index is None:
        return msgspec.structs.replace(table, throughput=throughput, warm=warm, version=version)
    after = msgspec.structs.replace(index, throughput=throughput, warm=warm)
    return msgspec.structs.replace(table, indexes=(after,), version=version)


def limit_units(table: Table, place: Place, *, write: bool) -> float:
    """What the place as a whole serves per second, without what was saved."""
    rates = limits.rates(table, index_record(table, place), write=write)
    return min(rate.units_per_second for rate in rates)
