"""Population: how many items there are, how many share a partition key, now and after months of growth."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hashrange.modeling.conditions import conjuncts
from hashrange.modeling.memo import once_per_model
from hashrange.modeling.model import (
    Attribute,
    Distribution,
    Entity,
    Field,
    Growth,
    Index,
    Literally,
    Model,
    Shard,
    Table,
    Template,
)
from hashrange.modeling.plans import AccessPath, template_of
from hashrange.modeling.selectivity import selectivity

COUNT_MAX = 1e30  # larger than any table; growth stops here, so that no arithmetic overflows
DAYS_PER_MONTH = 365.25 / 12
_EXACT_TERMS = 1000
_UNIQUE = ("uuid", "ulid", "email")
_CUT_TIMES = {4: 365.25, 7: DAYS_PER_MONTH, 10: 1.0, 13: 1 / 24, 16: 1 / 1440}  # characters -> days
_HISTORY_DAYS = 3 * 365.25  # over which times are spread where nothing says how long items are kept
_LETTERS = 36.0


class CyclicParents(ValueError):
    """Entities are counted by each other in a circle."""


def grown(count: float, growth: Growth, months: float, retention_days: float | None = None) -> float:
    """A count after months. What arrives every day is kept no longer than the retention."""
    rate = growth.percent_per_month / 100
    if rate <= -1:
        factor = 0.0 if months else 1.0
    else:
        factor = math.exp(min(months * math.log1p(rate), math.log(COUNT_MAX)))
    days = months * DAYS_PER_MONTH
    total = min(count * factor + growth.per_day * days, COUNT_MAX)
    if retention_days is not None and growth.per_day > 0:
        total = min(total, max(count * factor, growth.per_day * retention_days))
    return max(total, 0.0)


@once_per_model
def item_count(model: Model, entity: Entity, months: float = 0) -> float:
    """How many items of an entity there are: so many in all, or so many for each item of its parent."""
    lineage = ancestry(model, entity)
    total = 1.0
    for member in reversed(lineage):
        own = grown(member.count, member.growth, months, member.retention_days)
        total = min(total * own, COUNT_MAX)
    return total


def ancestry(model: Model, entity: Entity) -> list[Entity]:
    """The entity, its parent, and so on."""
    lineage = [entity]
    names = {entity.name}
    while (parent := lineage[-1].parent) is not None and parent in model.entities:
        if parent in names:
            raise CyclicParents(f"{entity.name} is counted by {parent}, which is counted by {entity.name}")
        names.add(parent)
        lineage.append(model.entities[parent])
    return lineage


@once_per_model
def distinct(model: Model, entity: Entity, name: str, months: float = 0) -> float:
    """How many values an attribute has among the items of an entity."""
    count = max(item_count(model, entity, months), 1.0)
    attribute = entity.attributes.get(name)
    if attribute is None:
        return count
    if attribute.values:
        return float(len(set(attribute.values)))
    if attribute.distinct is not None:
        return max(float(attribute.distinct), 1.0)
    owner = owner_of(model, entity, attribute)
    if owner is not None:
        return min(max(item_count(model, owner, months), 1.0), count)
    return min(_range_size(entity, attribute), count)


@once_per_model
def owner_of(model: Model, entity: Entity, attribute: Attribute) -> Entity | None:
    """The entity that an attribute identifies: by `refers`, an ancestor that has it, or one whose key it is."""
    if attribute.refers is not None and attribute.refers in model.entities:
        return model.entities[attribute.refers]
    # The one furthest up has as many values as there can be.
    for ancestor in reversed(ancestry(model, entity)[1:]):
        if attribute.name in ancestor.attributes:
            return ancestor
    if attribute.format is not None and attribute.format not in _UNIQUE:
        return None
    return next(
        (
            other
            for other in model.entities.values()
            if other is not entity
            and attribute.name in other.attributes
            and _is_identity(model, other, attribute.name)
        ),
        None,
    )


def _is_identity(model: Model, entity: Entity, name: str) -> bool:
    """Whether the key is made of one attribute alone. Most are ruled out by the first piece that is another's."""
    template = template_of(entity, model.tables[entity.table].partition_key.name)
    pieces = () if template is None else template.pieces
    if any(not isinstance(piece, Literally) and piece.attribute not in (name, None) for piece in pieces):
        return False
    return identity(model, entity) == {name}


@once_per_model
def identity(model: Model, entity: Entity) -> frozenset[str]:
    """The attributes that the table's key of an entity is made of."""
    table = model.tables.get(entity.table)
    keys = () if table is None else AccessPath(table).key
    templates = (template_of(entity, key.name) for key in keys)
    return frozenset(name for template in templates if template is not None for name in template.attributes)


def _range_size(entity: Entity, attribute: Attribute) -> float:
    if attribute.type == "BOOL":
        return 2.0
    if attribute.format == "date":
        return entity.retention_days or _HISTORY_DAYS
    if attribute.format in ("timestamp", "epoch"):
        return (entity.retention_days or _HISTORY_DAYS) * 86_400
    if attribute.format == "integer" and attribute.minimum is not None and attribute.maximum is not None:
        return max(attribute.maximum - attribute.minimum + 1, 1.0)
    return COUNT_MAX


def _field_values(model: Model, entity: Entity, field: Field, months: float) -> float:
    """How many texts a field of a template has: 2026-01 stands for all times of a month."""
    values = distinct(model, entity, field.attribute, months)
    attribute = entity.attributes.get(field.attribute)
    if not field.cut or attribute is None:
        return values
    if attribute.format in ("timestamp", "date") and field.cut in _CUT_TIMES:
        return min(values, max((entity.retention_days or _HISTORY_DAYS) / _CUT_TIMES[field.cut], 1.0))
    return min(values, _LETTERS ** min(field.cut, 20))


@once_per_model
def template_values(model: Model, entity: Entity, template: Template, months: float = 0) -> float:
    """How many values a key attribute has among the items of an entity."""
    total, known = _identified(model, entity, template, months)
    for piece in template.pieces:
        match piece:
            case Literally():
                continue
            case Shard():
                total *= piece.shards
            case Field():
                if piece.attribute not in known:
                    total *= _field_values(model, entity, piece, months)
                    known.add(piece.attribute)
        total = min(total, COUNT_MAX)
    return min(total, max(item_count(model, entity, months), 1.0))


def _identified(model: Model, entity: Entity, template: Template, months: float) -> tuple[float, set[str]]:
    """The nearest ancestor whose whole key is in a template counts its values; also the attributes that this covers.

    A ticket's number alone may repeat; tenant and number together are one ticket, whose comments share a partition.
    """
    whole = {piece.attribute for piece in template.pieces if isinstance(piece, Field) and not piece.cut}
    for ancestor in ancestry(model, entity):
        names = identity(model, ancestor)
        if names and names <= whole:
            return max(item_count(model, ancestor, months), 1.0), set(names)
    return 1.0, set()


@once_per_model
def entry_share(model: Model, entity: Entity, index: Index | None) -> float:
    """The share of an entity's items that are in an index; 0 if it has no such key."""
    table = model.tables[entity.table]
    optional: set[str] = set()
    conditions = []
    for key in AccessPath(table, index).key:
        template = template_of(entity, key.name)
        if template is None:
            return 0.0
        optional.update(template.attributes)
        conditions += [part for part in conjuncts(entity.only_if.get(key.name)) if part not in conditions]
    share = 1.0
    for condition in conditions:
        share *= selectivity(entity, condition, lambda of, name: distinct(model, of, name))
    for name in optional & entity.attributes.keys():
        share *= 1 - entity.attributes[name].optional
    return min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Group:
    """One entity's items by partition key: how many keys there are, and the items of one on average and at most."""

    entity: Entity
    partition: str  # the templates of the partition key: entities with the same share their collections
    partitions: float
    mean: float
    maximum: float
    partition_attributes: frozenset[str]


def groups(model: Model, table: Table, index: Index | None, months: float = 0) -> tuple[Group, ...]:
    """How the items of each entity are spread over the partition keys of a table or an index."""
    return tuple(
        group
        for entity in model.entities_of(table.name)
        if (group := group_of(model, entity, index, months)) is not None
    )


@once_per_model
def group_of(model: Model, entity: Entity, index: Index | None, months: float = 0) -> Group | None:
    """The same for one entity; None if it has no items there."""
    path = AccessPath(model.tables[entity.table], index)
    templates = [template_of(entity, key.name) for key in path.partition]
    share = entry_share(model, entity, index)
    if None in templates or share <= 0:
        return None
    count = item_count(model, entity, months) * share
    partitions = 1.0
    for template in templates:
        if template is not None:
            partitions = min(partitions * template_values(model, entity, template, months), COUNT_MAX)
    partitions = max(min(partitions, count), 1.0)
    mean = count / partitions
    text = " ".join(template.text for template in templates if template is not None)
    names = frozenset(name for template in templates if template is not None for name in template.attributes)
    return Group(entity, text, partitions, mean, _largest(model, entity, mean, partitions, months), names)


def distinct_within(model: Model, group: Group, name: str, months: float = 0) -> float:
    """How many values of an attribute the items of one partition key have."""
    values = distinct(model, group.entity, name, months)
    attribute = group.entity.attributes.get(name)
    if attribute is not None and _is_in_every_partition(model, group, attribute):
        return max(min(values, group.mean), 1.0)
    # Identifiers, and what the partition key is made of, belong to one partition each.
    return max(min(values / group.partitions, group.mean), 1.0)


def _is_in_every_partition(model: Model, group: Group, attribute: Attribute) -> bool:
    """Whether values repeat from one partition to the next: states, numbers of rows, dates."""
    if attribute.values or attribute.distinct or attribute.type == "BOOL":
        return True
    if attribute.name in group.partition_attributes or owner_of(model, group.entity, attribute) is not None:
        return False
    return _range_size(group.entity, attribute) < COUNT_MAX


def _largest(model: Model, entity: Entity, mean: float, partitions: float, months: float) -> float:
    """The items of the fullest partition key. A bound for each parent holds where a partition has one parent."""
    largest = mean * partitions * zipf_share(entity.spread, partitions)
    parent = None if entity.parent is None else model.entities.get(entity.parent)
    if entity.count_max is not None and parent is not None:
        by_parent = partitions >= 0.99 * item_count(model, parent, months)
        largest = min(largest, max(entity.count_max, mean)) if by_parent else largest
    return max(largest, mean)


def zipf_share(distribution: Distribution, keys: float) -> float:
    """The share of the most frequent of so many keys."""
    if keys <= 1:
        return 1.0
    if distribution.kind != "zipf":
        return 1 / keys
    exponent = min(max(distribution.exponent, 0.0), 20.0)
    terms = int(min(keys, _EXACT_TERMS))
    total = sum(rank**-exponent for rank in range(1, terms + 1))
    if keys > terms:
        total += _tail(exponent, terms + 0.5, keys + 0.5)
    return float(1 / total)


def _tail(exponent: float, low: float, high: float) -> float:
    """The integral of rank to the power of -exponent, which is close to the sum that far out."""
    if abs(exponent - 1) < 1e-9:
        return math.log(high / low)
    return float((high ** (1 - exponent) - low ** (1 - exponent)) / (1 - exponent))


def children(model: Model, entity: Entity, months: float = 0) -> tuple[float, float]:
    """Items of an entity under one partition key of its table: on average, and at most."""
    group = group_of(model, entity, None, months)
    return (0.0, 0.0) if group is None else (group.mean, group.maximum)


def partition_cardinality(model: Model, table: Table, index: Index | None, months: float = 0) -> float:
    """How many partition keys a table or an index has."""
    by_template: dict[str, float] = {}
    for group in groups(model, table, index, months):
        by_template[group.partition] = max(by_template.get(group.partition, 0.0), group.partitions)
    return sum(by_template.values())
