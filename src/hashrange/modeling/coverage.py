"""What an index lacks: items that are not in it, attributes that it does not project; and that others lie in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hashrange.modeling.conditions import attributes_of, conjuncts, holds, text_of
from hashrange.modeling.model import (
    Comparison,
    Condition,
    Entity,
    Index,
    ReadPattern,
    Table,
)
from hashrange.modeling.plans import AccessPath, PlanProblem, template_of

_NEEDS_NO_VALUE = ("<>", "not_exists")


def projected(table: Table, index: Index | None) -> frozenset[str] | None:
    """The attributes that an index has of its items; None: all of them."""
    if index is None or index.projection == "ALL":
        return None
    keys = (*AccessPath(table).key, *AccessPath(table, index).key)
    return frozenset({key.name for key in keys} | set(index.included))


def needed(pattern: ReadPattern, entities: Iterable[Entity], filtering: Condition | None) -> frozenset[str]:
    """The attributes that an answer has, and those that the filter looks at."""
    names = set(pattern.project) or {name for entity in entities for name in entity.attributes}
    return frozenset(names | set(attributes_of(filtering)))


def membership(entity: Entity, path: AccessPath) -> tuple[Condition, ...]:
    """What holds for every item that has the key: the conditions of sparse keys, and that their attributes exist."""
    conditions: dict[Condition, None] = {}
    for key in path.key:
        for condition in conjuncts(entity.only_if.get(key.name)):
            conditions[condition] = None
        template = template_of(entity, key.name)
        for name in () if template is None else template.attributes:
            attribute = entity.attributes.get(name)
            if attribute is not None and attribute.optional > 0:
                conditions[Comparison(name, "exists")] = None
    return tuple(conditions)


def implied(condition: Condition, by: Sequence[Condition]) -> bool:
    """Whether a condition holds wherever the others do. A yes is always right, a no may be too careful."""
    return any(_follows(condition, known) for known in by)


def _follows(condition: Condition, known: Condition) -> bool:
    if condition == known:
        return True
    if not isinstance(condition, Comparison) or not isinstance(known, Comparison):
        return False
    if condition.attribute != known.attribute:
        return False
    if condition.operator == "exists":
        return known.operator not in _NEEDS_NO_VALUE
    if known.operator not in ("=", "in") or not all(map(_is_literal, known.operands + condition.operands)):
        return False
    return all(holds(condition, {known.attribute: value}, {}, 0) for value in known.operands)


def _is_literal(operand: object) -> bool:
    return isinstance(operand, str | int | float)


def sparse_problems(
    entity: Entity, path: AccessPath, conditions: Sequence[Condition]
) -> tuple[PlanProblem, ...]:
    """Items of the answer that may not be in the index."""
    return tuple(
        PlanProblem(
            "sparse",
            f"{path.title} has {entity.name} only where {text_of(condition)}, which the pattern does not ask for",
            f"add `{text_of(condition)}` to `where`, or give every {entity.name} the key",
        )
        for condition in membership(entity, path)
        if not implied(condition, conditions)
    )


def projection_problems(
    pattern: ReadPattern, entities: Sequence[Entity], path: AccessPath, filtering: Condition | None
) -> tuple[PlanProblem, ...]:
    """Attributes that a global index would have to fetch from the table, which it does not do."""
    names = projected(path.table, path.index)
    if names is None or path.index is None or path.index.local:
        return ()
    missing = sorted(needed(pattern, entities, filtering) - names)
    if not missing:
        return ()
    return (
        PlanProblem(
            "projection",
            f"{path.title} does not project {', '.join(missing)}",
            f"include them in {path.index.name}, or list in `project` only what it has",
        ),
    )


def key_filter_problems(path: AccessPath, filtering: Condition | None) -> tuple[PlanProblem, ...]:
    """A filter expression must not speak of the key that is queried."""
    names = sorted({key.name for key in path.key} & set(attributes_of(filtering)))
    if not names:
        return ()
    return (
        PlanProblem(
            "key-filter",
            f"a filter on {', '.join(names)}, the key of the Query, is refused by DynamoDB",
            "make it a condition on the key, or store the value under another name as well",
        ),
    )


def overlap_problems(
    path: AccessPath, others: Sequence[Entity], filtering: Condition | None
) -> tuple[PlanProblem, ...]:
    """Items of other entities that are read along, unless the pattern's own filter lets none of them through."""
    return tuple(
        PlanProblem(
            "overlap",
            f"items of {other.name} lie in the same range of {path.title} and are read as well",
            f"give {other.name} a prefix or a partition key of its own, or list it in `entities`",
        )
        for other in others
        if not _excluded(other, filtering)
    )


def _excluded(entity: Entity, filtering: Condition | None) -> bool:
    """Whether the pattern's filter lets no item of the entity through."""
    return any(_never(entity, condition) for condition in conjuncts(filtering))


def _never(entity: Entity, condition: Condition) -> bool:
    if not isinstance(condition, Comparison) or condition.operator in _NEEDS_NO_VALUE:
        return False
    attribute = entity.attributes.get(condition.attribute)
    if attribute is None:
        return condition.attribute not in entity.keys
    if not attribute.values or not all(map(_is_literal, condition.operands)):
        return False
    return not any(holds(condition, {attribute.name: value}, {}, 0) for value in attribute.values)
