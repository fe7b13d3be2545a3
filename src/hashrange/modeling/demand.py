"""Demand: how many items and bytes a pattern reads and writes, and what that takes in capacity units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from hashrange.core import limits
from hashrange.core.capacity import read_units, write_units
from hashrange.modeling.conditions import attributes_of
from hashrange.modeling.coverage import projected
from hashrange.modeling.model import (
    Comparison,
    Entity,
    Index,
    Model,
    ReadOperation,
    Table,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.plans import AccessPath, ReadPlan, template_of
from hashrange.modeling.population import (
    COUNT_MAX,
    distinct,
    distinct_within,
    entry_share,
    group_of,
    item_count,
)
from hashrange.modeling.selectivity import selectivity
from hashrange.modeling.sizes import Size, entry_size, item_size

_WHOLE_KEY = (ReadOperation.GET_ITEM, ReadOperation.BATCH_GET_ITEM, ReadOperation.TRANSACT_GET_ITEMS)
_UNITS_BYTES_MAX = 1 << 100  # sizes past it are cut, so that whole numbers stay small


@dataclass(frozen=True, slots=True)
class ReadDemand:
    """Of one answer to a pattern, on average, all of its requests together."""

    items_read: float
    items_returned: float
    bytes_read: float
    rcu: float
    pages: float


@dataclass(frozen=True, slots=True)
class StepDemand:
    """Of one step of a write pattern. `indexes` has the units of each index; the table pays those of local ones."""

    step: WriteStep
    table: Table
    wcu: float
    indexes: Mapping[str, float] = field(default_factory=dict)
    rcu: float = 0.0  # of a read-modify-write

    @property
    def total(self) -> float:
        return self.wcu + sum(self.indexes.values())


@dataclass(frozen=True, slots=True)
class WriteDemand:
    """Of one request of a write pattern."""

    steps: tuple[StepDemand, ...]
    transactional: bool = False

    @property
    def wcu(self) -> float:
        return sum(step.total for step in self.steps)

    @property
    def rcu(self) -> float:
        return sum(step.rcu for step in self.steps)


def _bytes(size: float) -> int:
    return math.ceil(min(max(size, 0.0), _UNITS_BYTES_MAX))


def _row_size(model: Model, entity: Entity, index: Index | None) -> Size:
    size = item_size(model, entity) if index is None else entry_size(model, entity, index)
    return size or Size(0, 0)


def read_demand(model: Model, plan: ReadPlan) -> ReadDemand:
    """What one answer takes."""
    if plan.operation in _WHOLE_KEY:
        return _gets(model, plan)
    if plan.operation is ReadOperation.SCAN:
        return _scan(model, plan)
    return _query(model, plan)


def _entities(model: Model, plan: ReadPlan) -> list[Entity]:
    return [model.entities[name] for name in plan.pattern.entities]


def _gets(model: Model, plan: ReadPlan) -> ReadDemand:
    sizes = [_row_size(model, entity, None).mean for entity in _entities(model, plan)]
    size = sum(sizes) / len(sizes)
    keys = max(plan.pattern.batch, 1)
    units = read_units(_bytes(size), consistent=plan.pattern.consistent)
    if plan.operation is ReadOperation.TRANSACT_GET_ITEMS:
        units = 2 * read_units(_bytes(size), consistent=True)
    return ReadDemand(keys, keys, keys * size, keys * units, math.ceil(keys / limits.BATCH_GET_KEYS_MAX))


def _scan(model: Model, plan: ReadPlan) -> ReadDemand:
    rows = []
    for entity in model.entities_of(plan.table.name):
        share = entry_share(model, entity, plan.index)
        rows.append((item_count(model, entity) * share, _row_size(model, entity, plan.index).mean))
    items = min(sum(count for count, _ in rows), COUNT_MAX)
    size = min(sum(count * mean for count, mean in rows), COUNT_MAX)
    returned = sum(
        item_count(model, entity) * _share(model, entity, plan) for entity in _entities(model, plan)
    )
    if plan.pattern.limit is not None:
        returned = min(returned, plan.pattern.limit)
    return _paged(plan, items, min(returned, items), size)


def _share(model: Model, entity: Entity, plan: ReadPlan) -> float:
    """The share of what is read that the filter lets through."""
    return selectivity(entity, plan.filter, lambda of, name: distinct(model, of, name))


def _paged(plan: ReadPlan, items: float, returned: float, size: float) -> ReadDemand:
    """The units of so many bytes, which every page rounds up by itself."""
    requests = max(plan.requests, 1)
    per_request = size / requests
    pages = max(math.ceil(min(per_request, COUNT_MAX) / limits.PAGE_BYTES_MAX), 1)
    consistent = plan.pattern.consistent
    if pages == 1:
        units = read_units(_bytes(per_request), consistent=consistent)
    else:
        units = pages * read_units(_bytes(per_request / pages), consistent=consistent)
    total = units * requests
    if plan.fetches:
        # A local index reads every item whole, from the table, to get at what it lacks.
        total += items * read_units(_bytes(size / items if items else 0), consistent=consistent)
    return ReadDemand(items, returned, size, total, float(pages * requests))


def _query(model: Model, plan: ReadPlan) -> ReadDemand:
    """The items of the range, as far as the limit lets them be read."""
    wanted = _entities(model, plan)
    items = size = matching = 0.0
    for entity in (*wanted, *(model.entities[name] for name in plan.others)):
        count = _in_range(model, entity, plan)
        items += count
        size += count * _row_size(model, entity, plan.index).mean
        if entity in wanted:
            matching += count * _share(model, entity, plan)
    items, size, matching = (min(value, COUNT_MAX) for value in (items, size, matching))
    mean = size / items if items else 0.0
    limit = plan.pattern.limit
    if limit is None or matching <= 0:
        return _paged(plan, items, matching, size)
    if plan.limit is not None:
        # Every shard may hold the first items of the whole, so each is asked for as many.
        read = min(items, plan.limit * plan.shards)
        return _paged(plan, read, min(matching, limit), read * mean)
    # Without a Limit of its own a request fills its page before the filter is looked at.
    page = limits.PAGE_BYTES_MAX / mean * plan.shards if mean else items
    read = min(items, max(math.ceil(limit * items / matching / page), 1) * page) if page else items
    return _paged(plan, read, min(matching, limit), read * mean)


def _in_range(model: Model, entity: Entity, plan: ReadPlan) -> float:
    """Items of an entity that one answer reads: those of a partition key, narrowed by what the sort key enforces."""
    group = group_of(model, entity, plan.index)
    if group is None:
        return 0.0
    count = group.mean * plan.shards
    # Who asks for a certain item asks for one that is there.
    least = min(count, 1.0)
    for condition in plan.enforced:
        if isinstance(condition, Comparison) and condition.operator == "=":
            count /= distinct_within(model, group, condition.attribute)
        else:
            count *= selectivity(entity, condition, lambda of, name: distinct(model, of, name))
    return min(max(count, least), COUNT_MAX)


def write_demand(model: Model, pattern: WritePattern) -> WriteDemand:
    """What one request of a pattern takes. In a transaction the table pays twice, its indexes once."""
    factor = 2 if pattern.transaction else 1
    return WriteDemand(
        tuple(_step_demand(model, step, factor) for step in pattern.steps), transactional=pattern.transaction
    )


def _step_demand(model: Model, step: WriteStep, factor: int) -> StepDemand:
    entity = model.entities[step.entity]
    table = model.tables[entity.table]
    size = _bytes(item_size(model, entity).mean)
    reads = step.count * read_units(size, consistent=False) if step.reads_first else 0.0
    units = float(step.count * factor * write_units(size))
    indexes = {}
    for index in table.indexes if step.action != "check" else ():
        index_units = step.count * _entry_units(model, entity, index, step)
        if index_units:
            indexes[index.name] = index_units
    return StepDemand(step, table, units, indexes, reads)


def _entry_units(model: Model, entity: Entity, index: Index, step: WriteStep) -> float:
    """The units of an index: none where nothing of a row changes, two writes where its key does."""
    size = entry_size(model, entity, index)
    if size is None:
        return 0.0
    share = entry_share(model, entity, index)
    units = write_units(_bytes(size.mean))
    if step.action != "update":
        return share * units
    changed = {assignment.attribute for assignment in step.assignments}
    table = model.tables[entity.table]
    if changed & _key_sources(entity, AccessPath(table, index)):
        return 2 * share * units  # the old row is deleted, a new one is put
    if changed & _membership_sources(entity, AccessPath(table, index)):
        return units  # the row comes or goes
    names = projected(table, index)
    return share * units if names is None or changed & names else 0.0


def _key_sources(entity: Entity, path: AccessPath) -> set[str]:
    """The attributes that an index key is made of."""
    templates = (template_of(entity, key.name) for key in path.key)
    return {name for template in templates if template is not None for name in template.attributes} | {
        key.name for key in path.key
    }


def _membership_sources(entity: Entity, path: AccessPath) -> set[str]:
    """The attributes that decide on whether an item is in a sparse index."""
    return {name for key in path.key for name in attributes_of(entity.only_if.get(key.name))}
