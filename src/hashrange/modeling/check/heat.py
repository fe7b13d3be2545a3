"""Heat: the units per second that the busiest partition key of a table or index takes at the peak."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hashrange.modeling.check.facts import Facts, partition_templates, shard_count
from hashrange.modeling.model import Distribution, Entity, Index, Pattern, ReadOperation
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.population import zipf_share

_HISTORY_DAYS = 3 * 365.25  # over which times are spread where nothing says how long items are kept
_DAY_SECONDS = 86_400
Spot = tuple[str, str | None, str]  # table, index, partition key


@dataclass(slots=True)
class Heat:
    """Of the busiest key that a template makes, by all patterns together."""

    path: AccessPath
    partition: str
    units: float = 0.0
    patterns: list[Pattern] = field(default_factory=list)

    def add(self, units: float, pattern: Pattern) -> None:
        self.units += units
        if pattern not in self.patterns[-1:]:
            self.patterns.append(pattern)


def busiest_share(distribution: Distribution, keys: float, entity: Entity) -> float:
    """The share of requests that mean the key that most of them mean."""
    if distribution.kind == "time-rolling":
        history_seconds = (entity.retention_days or _HISTORY_DAYS) * _DAY_SECONDS
        keys *= min(distribution.window_seconds / history_seconds, 1.0)
    return zipf_share(distribution, max(keys, 1.0))


class _Heats:
    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.spots: dict[Spot, Heat] = {}

    def add(self, pattern: Pattern, entity: Entity, index: Index | None, units: float) -> None:
        """Count so many units per request: a sharded key takes its part of them."""
        group = self._facts.group(entity, index)
        if group is None or not units:
            return
        table = self._facts.model.tables[entity.table]
        path = AccessPath(table, index)
        shards = shard_count(partition_templates(entity, path))
        share = busiest_share(pattern.keys, group.partitions / shards, entity) / shards
        spot = (table.name, None if index is None else index.name, group.partition)
        heat = self.spots.setdefault(spot, Heat(path, group.partition))
        heat.add(pattern.rate.peak * units * share, pattern)


def read_heats(facts: Facts) -> Iterator[Heat]:
    """Of reads. A Scan means no key; DAX answers for the busy ones."""
    heats = _Heats(facts)
    for plan in facts.plans:
        if plan.operation is ReadOperation.SCAN or plan.table.dax_node is not None:
            continue
        entity = facts.model.entities[plan.pattern.entities[0]]
        heats.add(plan.pattern, entity, plan.index, facts.read_demands[plan.pattern.id].rcu)
    yield from heats.spots.values()


def write_heats(facts: Facts) -> Iterator[Heat]:
    """Of writes, on tables and on their indexes."""
    heats = _Heats(facts)
    for pattern in facts.model.writes:
        for step in facts.write_demands[pattern.id].steps:
            entity = facts.model.entities[step.step.entity]
            heats.add(pattern, entity, None, step.wcu)
            for name, units in step.indexes.items():
                heats.add(pattern, entity, step.table.index(name), units)
    yield from heats.spots.values()
