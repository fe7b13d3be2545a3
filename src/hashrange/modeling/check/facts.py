"""Facts: what follows from a model, computed once for all rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from hashrange.modeling.demand import ReadDemand, WriteDemand, read_demand, write_demand
from hashrange.modeling.model import Entity, Index, Model, Shard, Template
from hashrange.modeling.planning import plans
from hashrange.modeling.plans import AccessPath, ReadPlan, paths, template_of
from hashrange.modeling.population import Group, group_of


class Facts:
    """A model with its plans, demands and groups."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._groups: dict[tuple[str, str | None], Group | None] = {}

    @cached_property
    def plans(self) -> list[ReadPlan]:
        """The plan of every read pattern, in the file's order."""
        return list(plans(self.model).values())

    @cached_property
    def read_demands(self) -> dict[str, ReadDemand]:
        """What one answer to each read pattern takes, by its id."""
        return {plan.pattern.id: read_demand(self.model, plan) for plan in self.plans}

    @cached_property
    def write_demands(self) -> dict[str, WriteDemand]:
        """What one request of each write pattern takes, by its id."""
        return {pattern.id: write_demand(self.model, pattern) for pattern in self.model.writes}

    @cached_property
    def paths(self) -> list[AccessPath]:
        """The keys of all tables and indexes."""
        return [path for table in self.model.tables.values() for path in paths(table)]

    @cached_property
    def updated(self) -> dict[str, set[str]]:
        """The attributes that updates change, by entity."""
        changed: dict[str, set[str]] = {}
        for pattern in self.model.writes:
            for step in pattern.steps:
                names = (assignment.attribute for assignment in step.assignments)
                changed.setdefault(step.entity, set()).update(names)
        return changed

    def group(self, entity: Entity, index: Index | None) -> Group | None:
        """How an entity's items are spread over the partition keys of a table or index; None if it has none there."""
        key = (entity.name, None if index is None else index.name)
        if key not in self._groups:
            self._groups[key] = group_of(self.model, entity, index)
        return self._groups[key]

    def groups(self, path: AccessPath) -> Iterator[Group]:
        """The groups of all entities in a table or index."""
        for entity in self.model.entities_of(path.table.name):
            group = self.group(entity, path.index)
            if group is not None:
                yield group


def partition_templates(entity: Entity, path: AccessPath) -> list[Template]:
    """How an entity makes the partition key of a path."""
    templates = (template_of(entity, key.name) for key in path.partition)
    return [template for template in templates if template is not None]


def sort_templates(entity: Entity, path: AccessPath) -> list[Template]:
    """How an entity makes the sort key of a path."""
    templates = (template_of(entity, key.name) for key in path.sort)
    return [template for template in templates if template is not None]


def shard_count(templates: list[Template]) -> int:
    """Over how many keys a sharded one is spread."""
    count = 1
    for template in templates:
        for piece in template.pieces:
            count *= piece.shards if isinstance(piece, Shard) else 1
    return count
