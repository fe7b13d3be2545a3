"""HR3xx: secondary indexes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hashrange.core import limits
from hashrange.modeling import coverage
from hashrange.modeling.check.facts import Facts
from hashrange.modeling.check.finding import Hit, rule
from hashrange.modeling.check.heat import write_heats
from hashrange.modeling.columns import amount
from hashrange.modeling.model import Condition, Entity, Index, Piece, Table
from hashrange.modeling.plans import AccessPath, ReadPlan, paths, template_of
from hashrange.modeling.population import item_count
from hashrange.modeling.sizes import collection_bytes, entry_share, entry_size

PROJECTION_RATIO_MAX = 2
_MONTHS = 12
KeySource = tuple[str, tuple[Piece, ...], Condition | None]


def _by_index(facts: Facts) -> dict[tuple[str, str], list[ReadPlan]]:
    """The plans that read each index."""
    plans: dict[tuple[str, str], list[ReadPlan]] = {}
    for plan in facts.plans:
        if plan.index is not None:
            plans.setdefault((plan.table.name, plan.index.name), []).append(plan)
    return plans


def _indexes(facts: Facts) -> Iterator[tuple[Table, Index]]:
    for table in facts.model.tables.values():
        for index in table.indexes:
            yield table, index


@rule("HR301", "warning", "An index that no pattern needs")
def needless(facts: Facts) -> Iterator[Hit]:
    plans = _by_index(facts)
    for table, index in _indexes(facts):
        is_empty = not any(facts.groups(AccessPath(table, index)))
        if (table.name, index.name) not in plans and facts.plans and not is_empty:
            yield Hit(
                index.place,
                index.name,
                "no pattern reads it, but every write of its items pays for it",
                "take it out, or write down the pattern that needs it",
            )


@rule("HR302", "warning", "An index that projects more than is read")
def over_projected(facts: Facts) -> Iterator[Hit]:
    plans = _by_index(facts)
    for table, index in _indexes(facts):
        readers = plans.get((table.name, index.name), [])
        if (
            not readers
            or index.projection == "KEYS_ONLY"
            or not all(plan.pattern.project for plan in readers)
        ):
            continue
        names: set[str] = set()
        for plan in readers:
            names |= coverage.needed(plan.pattern, (), plan.filter)
        slim = replace(index, projection="INCLUDE", included=tuple(sorted(names)))
        bytes_now, bytes_needed = _index_bytes(facts, table, index), _index_bytes(facts, table, slim)
        if bytes_now > PROJECTION_RATIO_MAX * bytes_needed:
            yield Hit(
                index.place,
                index.name,
                f"has {amount(bytes_now)} bytes, of which its patterns read {amount(bytes_needed)}",
                f"project what they read: [{', '.join(sorted(names)[:12])}]",
            )


def _index_bytes(facts: Facts, table: Table, index: Index) -> float:
    total = 0.0
    for entity in facts.model.entities_of(table.name):
        size = entry_size(facts.model, entity, index)
        if size is not None:
            share = entry_share(facts.model, entity, index)
            total += item_count(facts.model, entity) * share * size.mean
    return total


@rule("HR303", "warning", "An index that is there already")
def duplicated(facts: Facts) -> Iterator[Hit]:
    for table in facts.model.tables.values():
        entities = facts.model.entities_of(table.name)
        seen: dict[tuple[tuple[KeySource, ...], ...], AccessPath] = {}
        for path in paths(table):
            sources = tuple(_sources(entity, path) for entity in entities)
            other = seen.setdefault(sources, path) if any(sources) else path
            if other is not path and path.index is not None:
                yield Hit(
                    path.index.place,
                    path.index.name,
                    f"has the same items in the same order as {other.title}",
                    "keep one of them, with what both project",
                )


def _sources(entity: Entity, path: AccessPath) -> tuple[KeySource, ...]:
    """What a key is made of; nothing where the entity is not in the index."""
    sources = []
    for number, key in enumerate(path.key):
        template = template_of(entity, key.name)
        if template is None:
            return ()
        role = "partition" if number < len(path.partition) else "sort"
        sources.append((role, template.pieces, entity.only_if.get(key.name)))
    return tuple(sources)


@rule("HR304", "error", "A local index on collections past 10 GB")
def local_past_limit(facts: Facts) -> Iterator[Hit]:
    for table in facts.model.tables.values():
        local = [index for index in table.indexes if index.local]
        if not local:
            continue
        total = sum(collection_bytes(facts.model, table, index, _MONTHS).maximum for index in (None, *local))
        if total > limits.PARTITION_BYTES:
            yield Hit(
                local[0].place,
                local[0].name,
                f"in a year the largest item collection has {amount(total)} bytes; with a local index DynamoDB "
                "refuses writes past 10 GB",
                "make the index global, or let fewer items share a partition key",
            )


@rule("HR305", "warning", "An index key that is written too often")
def hot_index(facts: Facts) -> Iterator[Hit]:
    for heat in write_heats(facts):
        if heat.path.is_global and heat.units > limits.PARTITION_WRITE_UNITS:
            names = ", ".join(pattern.id for pattern in heat.patterns[:10])
            yield Hit(
                heat.patterns[0].place,
                names,
                f"the busiest key {heat.partition} of {heat.path.title} takes {amount(heat.units)} write units per "
                "second at the peak; past 1,000 the writes of the table are throttled with it",
                "shard the index key, or keep items out of the index that nobody looks for",
            )


@rule("HR306", "warning", "An index without a sort key that answers in no order")
def unordered_index(facts: Facts) -> Iterator[Hit]:
    plans = _by_index(facts)
    for table, index in _indexes(facts):
        if index.local or index.sort_key or (table.name, index.name) not in plans:
            continue
        group = next((group for group in facts.groups(AccessPath(table, index)) if group.mean > 2), None)
        if group is not None:
            yield Hit(
                index.place,
                index.name,
                f"{amount(group.mean)} items of {group.entity.name} share a key, in no order and without a range",
                "give it a sort key, such as the time of creation",
            )


@rule("HR307", "error", "More indexes than a table may have")
def too_many(facts: Facts) -> Iterator[Hit]:
    for table in facts.model.tables.values():
        indexes = [index for index in table.indexes if not index.local]
        if len(indexes) > limits.GLOBAL_INDEXES_MAX:
            yield Hit(
                indexes[limits.GLOBAL_INDEXES_MAX].place,
                table.name,
                f"has {len(indexes)} global indexes; DynamoDB gives {limits.GLOBAL_INDEXES_MAX} without a request",
                "let entities share indexes: GSI1PK means something else for each",
            )


@rule("HR308", "warning", "An index that stays empty")
def empty_index(facts: Facts) -> Iterator[Hit]:
    for table, index in _indexes(facts):
        if not any(facts.groups(AccessPath(table, index))):
            names = ", ".join(key.name for key in AccessPath(table, index).key)
            yield Hit(
                index.place,
                index.name,
                f"no entity has all of its key ({names})",
                "give one templates for it, or take it out",
            )


@rule("HR309", "info", "Patterns that need the same index")
def shared_need(facts: Facts) -> Iterator[Hit]:
    needs: dict[tuple[str, str], list[ReadPlan]] = {}
    for plan in facts.plans:
        for problem in plan.problems[:1]:
            if problem.kind == "scan" and problem.remedy:
                needs.setdefault((plan.table.name, problem.remedy), []).append(plan)
    for (_, remedy), plans in needs.items():
        if len(plans) > 1:
            names = ", ".join(plan.pattern.id for plan in plans[:10])
            yield Hit(plans[0].pattern.place, names, "one index would serve them all", remedy)


RULES = (
    needless,
    over_projected,
    duplicated,
    local_past_limit,
    hot_index,
    unordered_index,
    too_many,
    empty_index,
    shared_need,
)
