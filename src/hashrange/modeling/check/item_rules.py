"""HR4xx: items and item collections."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.core import limits
from hashrange.core.expressions.reserved import RESERVED_WORDS
from hashrange.modeling.check.facts import Facts, partition_templates
from hashrange.modeling.check.finding import Hit, first_place, rule
from hashrange.modeling.columns import amount
from hashrange.modeling.model import Entity, Field, ReadPattern
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.population import group_of
from hashrange.modeling.sizes import item_size, value_size

LARGE_ITEM_BYTES = 50 * 1024
COLLECTION_BYTES_MAX = 10 * 1024 * 1024
COLLECTION_GROWTH_MAX = 1.5
WHOLE_READ_BYTES = 8 * 1024
_ITEM_MONTHS = 12
_COLLECTION_MONTHS = 36
_TIMES = ("timestamp", "date")


def _largest(facts: Facts, entity: Entity) -> float:
    return item_size(facts.model, entity, _ITEM_MONTHS).maximum


@rule("HR401", "warning", "An item that grows past 50 KB")
def large_item(facts: Facts) -> Iterator[Hit]:
    for entity in facts.model.entities.values():
        size = _largest(facts, entity)
        if LARGE_ITEM_BYTES < size <= limits.ITEM_BYTES_MAX:
            yield Hit(
                entity.place,
                entity.name,
                f"an item may have {amount(size)} bytes in a year: each change writes and pays for all of it",
                "keep large values in S3 or in items of their own, and lists as one item for each element",
            )


@rule("HR402", "error", "An item that grows past 400 KB")
def oversized_item(facts: Facts) -> Iterator[Hit]:
    for entity in facts.model.entities.values():
        size = _largest(facts, entity)
        if size > limits.ITEM_BYTES_MAX:
            yield Hit(
                entity.place,
                entity.name,
                f"an item may have {amount(size)} bytes in a year; DynamoDB refuses more than 400 KB",
                "keep large values in S3 or in items of their own, and lists as one item for each element",
            )


@rule("HR403", "warning", "An item collection without bounds")
def unbounded_collection(facts: Facts) -> Iterator[Hit]:
    for entity in facts.model.entities.values():
        if entity.retention_days is not None or entity.count_max is not None or _is_bucketed(facts, entity):
            continue
        now = facts.group(entity, None)
        later = group_of(facts.model, entity, None, _COLLECTION_MONTHS)
        if now is None or later is None or later.mean <= COLLECTION_GROWTH_MAX * now.mean:
            continue
        size = later.mean * item_size(facts.model, entity).mean
        if size > COLLECTION_BYTES_MAX:
            yield Hit(
                entity.place,
                entity.name,
                f"{amount(now.mean)} items share a partition key, {amount(later.mean)} ({amount(size)} bytes) in three "
                "years, and nothing ends it",
                "give it a retention with TTL, or a month in the partition key: …#{at:.7}",
            )


def _is_bucketed(facts: Facts, entity: Entity) -> bool:
    """Whether a part of a time in the partition key begins a new collection now and then."""
    path = AccessPath(facts.model.tables[entity.table])
    for template in partition_templates(entity, path):
        for piece in template.pieces:
            attribute = entity.attributes.get(piece.attribute) if isinstance(piece, Field) else None
            if attribute is not None and attribute.format in _TIMES:
                return True
    return False


@rule("HR404", "warning", "A list that grows without bounds")
def growing_list(facts: Facts) -> Iterator[Hit]:
    for pattern in facts.model.writes:
        for step in pattern.steps:
            attributes = facts.model.entities[step.entity].attributes
            for assignment in step.assignments:
                attribute = attributes.get(assignment.attribute)
                if assignment.action == "append" and attribute is not None and attribute.size_max is None:
                    yield Hit(
                        first_place(step.place, pattern.place),
                        pattern.id,
                        f"appends to {assignment.attribute}, and nothing says when it is full: an item ends at 400 KB",
                        "make each element an item of the collection, or give the attribute a max_size and keep to it",
                    )


@rule("HR405", "info", "Attributes with reserved names")
def reserved_names(facts: Facts) -> Iterator[Hit]:
    for entity in facts.model.entities.values():
        names = [name for name in entity.attributes if name.upper() in RESERVED_WORDS]
        if names:
            yield Hit(
                entity.place,
                entity.name,
                f"{', '.join(names[:10])} cannot stand in expressions as they are",
                "write #name with ExpressionAttributeNames, or call them something else",
            )


@rule("HR406", "info", "An entity that no pattern uses")
def unused_entity(facts: Facts) -> Iterator[Hit]:
    used: set[str] = set()
    for pattern in facts.model.patterns:
        names = pattern.entities if isinstance(pattern, ReadPattern) else [s.entity for s in pattern.steps]
        used.update(names)
    for entity in facts.model.entities.values():
        if entity.name not in used and facts.model.patterns:
            yield Hit(
                entity.place,
                entity.name,
                "no pattern reads or writes it",
                "write down who does, or take it out",
            )


@rule("HR407", "info", "Large items that are read for a little of them")
def whole_reads(facts: Facts) -> Iterator[Hit]:
    for plan in facts.plans:
        project = set(plan.pattern.project)
        if not project or plan.index is not None or not plan.served:
            continue
        for name in plan.pattern.entities:
            entity = facts.model.entities[name]
            size = item_size(facts.model, entity).mean
            wanted = sum(
                value_size(entity.attributes[one]).mean for one in project & entity.attributes.keys()
            )
            if size > WHOLE_READ_BYTES and wanted * 10 < size:
                yield Hit(
                    plan.pattern.place,
                    plan.pattern.id,
                    f"needs {amount(wanted)} of {amount(size)} bytes, and pays for all: a projection saves no units",
                    "keep what is large in an item of its own, beside the one that is read often",
                )


RULES = (
    large_item,
    oversized_item,
    unbounded_collection,
    growing_list,
    reserved_names,
    unused_entity,
    whole_reads,
)
