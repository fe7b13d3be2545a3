"""Flows: what each pattern asks of a table or index, and how that is spread over partition keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from hashrange.modeling.demand import read_demand, write_demand
from hashrange.modeling.load.records import Place
from hashrange.modeling.model import (
    Distribution,
    Entity,
    Field,
    Index,
    Model,
    Rate,
    ReadOperation,
    ReadPattern,
    Shard,
    Table,
    Template,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.planning import plan_read
from hashrange.modeling.plans import AccessPath, template_of
from hashrange.modeling.population import group_of, template_values

Items = Literal["one", "many", "rising"]
SHARDS_MAX = 200
_WHOLE_KEY = (ReadOperation.GET_ITEM, ReadOperation.BATCH_GET_ITEM, ReadOperation.TRANSACT_GET_ITEMS)
_TIMES = ("timestamp", "date")
_DATE_CHARS = 10
# Of a time that is cut to so many characters: how long a value is the present one.
_ROLLING_SECONDS = {4: 366 * 86_400, 7: 31 * 86_400, 10: 86_400, 13: 3600, 16: 60}


@dataclass(frozen=True, slots=True)
class Keys:
    """The partition keys of a flow. With `rolling_seconds` all of them are new every so many seconds.

    `items` says where within a key: at one item, at many, or at ever higher sort keys.
    """

    templates: tuple[Template, ...]
    count: float
    distribution: Distribution
    shards: int = 1
    suffixes: int = 1  # shards that a what-if adds
    rolling_seconds: int = 0
    items: Items = "one"


@dataclass(frozen=True, slots=True)
class Flow:
    """One pattern's reads or writes of one place; `units` are those of one request. No keys: spread over everything."""

    pattern: str
    write: bool
    units: float
    rate: Rate
    keys: Keys | None = None
    fans_out: bool = False  # a request asks every shard
    least_units: float = 0.0  # of each of these


def flows(model: Model) -> Mapping[Place, list[Flow]]:
    """What all patterns ask, by table and global index."""
    by_place: dict[Place, list[Flow]] = defaultdict(list)
    for pattern in model.patterns:
        if pattern.rate.average <= 0:
            continue
        if isinstance(pattern, ReadPattern):
            place, flow = _read(model, pattern)
            by_place[place].append(flow)
        else:
            for step in range(len(pattern.steps)):
                for place, flow in _step(model, pattern, step):
                    by_place[place].append(flow)
    return by_place


def _read(model: Model, pattern: ReadPattern) -> tuple[Place, Flow]:
    plan = plan_read(model, pattern)
    index = None if plan.index is None or plan.index.local else plan.index
    place = Place(plan.table.name, None if index is None else index.name)
    demand = read_demand(model, plan)
    if plan.operation is ReadOperation.SCAN:
        return place, Flow(pattern.id, False, demand.rcu, pattern.rate)
    entity = model.entities[pattern.entities[0]]
    whole = plan.operation in _WHOLE_KEY
    keys = _keys(model, entity, index, pattern.keys, new=False)
    if keys is not None and not whole:
        keys = replace(keys, items="one")
    least = 1.0 if pattern.consistent else 0.5
    return place, Flow(pattern.id, False, demand.rcu, pattern.rate, keys, not whole, least)


def _step(model: Model, pattern: WritePattern, number: int) -> list[tuple[Place, Flow]]:
    demand = write_demand(model, pattern).steps[number]
    step = pattern.steps[number]
    entity, table = model.entities[step.entity], demand.table
    local = sum(units for name, units in demand.indexes.items() if _is_local(table, name))
    new = step.action == "put"
    keys = _keys(model, entity, None, pattern.keys, new=new)
    place = Place(table.name)
    made = [(place, Flow(pattern.id, True, demand.wcu + local, pattern.rate, keys))]
    if demand.rcu:
        made.append((place, Flow(pattern.id, False, demand.rcu, pattern.rate, keys)))
    return made + _index_writes(model, pattern, step, demand.indexes)


def _is_local(table: Table, name: str) -> bool:
    index = table.index(name)
    return index is not None and index.local


def _index_writes(
    model: Model, pattern: WritePattern, step: WriteStep, units: Mapping[str, float]
) -> list[tuple[Place, Flow]]:
    entity = model.entities[step.entity]
    table = model.tables[entity.table]
    made = []
    for name, amount in units.items():
        index = table.index(name)
        if index is None or index.local:
            continue
        same = _sources(entity, AccessPath(table)) & _sources(entity, AccessPath(table, index))
        # Which customers order often says nothing about an index by another attribute.
        distribution = pattern.keys if same or pattern.keys.kind == "time-rolling" else Distribution()
        keys = _keys(model, entity, index, distribution, new=step.action == "put")
        made.append((Place(table.name, name), Flow(pattern.id, True, amount, pattern.rate, keys)))
    return made


def _templates(entity: Entity, path: AccessPath) -> tuple[Template, ...]:
    templates = (template_of(entity, key.name) for key in path.partition)
    return tuple(template for template in templates if template is not None)


def _sources(entity: Entity, path: AccessPath) -> set[str]:
    return {name for template in _templates(entity, path) for name in template.attributes}


def _keys(
    model: Model, entity: Entity, index: Index | None, distribution: Distribution, *, new: bool
) -> Keys | None:
    """The keys of an entity's items; those of new items have the present time in them."""
    path = AccessPath(model.tables[entity.table], index)
    group = group_of(model, entity, index)
    templates = _templates(entity, path)
    if group is None or len(templates) != len(path.partition):
        return None
    shards = 1
    for template in templates:
        for piece in template.pieces:
            shards *= piece.shards if isinstance(piece, Shard) else 1
    rolling = min((seconds for template in templates for seconds in _rolling(entity, template)), default=0)
    count = group.partitions
    if rolling and (new or distribution.kind == "time-rolling"):
        count = _present(model, entity, templates)
        if distribution.kind == "time-rolling":
            count *= max(1.0, distribution.window_seconds / rolling)
    else:
        rolling = 0
    return Keys(
        templates,
        max(count / shards, 1.0),
        distribution,
        shards,
        rolling_seconds=rolling,
        items=_items(entity, path, group.mean, new=new),
    )


def _rolling(entity: Entity, template: Template) -> list[int]:
    """For each time in a key that is the present one for a while: how long."""
    found = []
    for piece in template.pieces:
        attribute = entity.attributes.get(piece.attribute) if isinstance(piece, Field) else None
        if attribute is None or attribute.format not in _TIMES or not isinstance(piece, Field):
            continue
        cut = piece.cut or (_DATE_CHARS if attribute.format == "date" else 0)
        if cut in _ROLLING_SECONDS:
            found.append(_ROLLING_SECONDS[cut])
    return found


def _present(model: Model, entity: Entity, templates: tuple[Template, ...]) -> float:
    """How many keys there are at one time."""
    count = 1.0
    for template in templates:
        pieces = tuple(
            piece
            for piece in template.pieces
            if not (isinstance(piece, Field) and _rolling(entity, Template("", (piece,))))
        )
        count *= template_values(model, entity, Template("", pieces))
    return count


def _items(entity: Entity, path: AccessPath, mean: float, *, new: bool) -> Items:
    template = None if not path.sort else template_of(entity, path.sort[0].name)
    if template is None or not template.attributes or mean <= 1:
        return "one"
    first = entity.attributes.get(template.attributes[0])
    rises = first is not None and first.format in (*_TIMES, "epoch", "ulid")
    return "rising" if new and rises else "many"


def sharded(flow: Flow, suffixes: int) -> Flow:
    """The flow if its partition keys had a suffix with so many values."""
    if flow.keys is None or suffixes <= 1:
        return flow
    keys = replace(flow.keys, suffixes=suffixes)
    if not flow.fans_out:
        return replace(flow, keys=keys)
    least = flow.least_units * suffixes * flow.keys.shards
    return replace(flow, keys=keys, units=max(flow.units, least))
