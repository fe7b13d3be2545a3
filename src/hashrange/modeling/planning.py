"""Planning: the key that serves a read pattern, at the least cost; if none does, why each of them fails.

The definition of a pattern is the answer that `where` and `filter` describe. A plan serves it if one operation gives
exactly that answer, in its order, without reading what it could have left: conditions of `where` have to become
conditions on keys, and only those of `filter` may become a filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hashrange.modeling import coverage
from hashrange.modeling.conditions import conjuncts
from hashrange.modeling.demand import read_demand
from hashrange.modeling.key_pieces import (
    NOTHING_KNOWN,
    Leading,
    Terms,
    common_pieces,
    following_text,
    leading,
    mixing_problems,
)
from hashrange.modeling.key_ranges import SortRange, begins_with, sort_range
from hashrange.modeling.key_shapes import ANYTHING, Shape
from hashrange.modeling.model import (
    All,
    Condition,
    Entity,
    Field,
    Literally,
    Model,
    ReadOperation,
    ReadPattern,
    Shard,
    Template,
)
from hashrange.modeling.neighbours import neighbours
from hashrange.modeling.plans import (
    AccessPath,
    Considered,
    KeyCondition,
    KeyOperand,
    PlanProblem,
    ReadPlan,
    Spread,
    paths,
    template_of,
)
from hashrange.modeling.shortcomings import in_problem, left_problem, request_problems, suggestion
from hashrange.modeling.value_texts import keeps_order, value_texts


def plans(model: Model) -> Mapping[str, ReadPlan]:
    """The plan of every read pattern, by its id."""
    return {pattern.id: plan_read(model, pattern) for pattern in model.reads}


def plan_read(model: Model, pattern: ReadPattern) -> ReadPlan:
    """The cheapest plan that serves a pattern, or the least bad one with what is wrong with it."""
    entities = [model.entities[name] for name in pattern.entities]
    tables = {entity.table for entity in entities}
    table = model.tables[entities[0].table]
    if len(tables) > 1:
        names = ", ".join(sorted(tables))
        problem = PlanProblem(
            "tables",
            f"its entities are in several tables ({names}): one request reads one of them",
            "put entities that are read together into one table, under one partition key",
        )
        return replace(_scan(pattern, AccessPath(table), (problem,)), considered=())
    candidates = [_candidate(model, pattern, entities, path) for path in _allowed(pattern, paths(table))]
    considered = tuple(Considered(plan.path, plan.problems) for plan in candidates)
    if pattern.operation is ReadOperation.SCAN or not candidates:
        problem = PlanProblem(
            "scan", "the pattern asks for a Scan, which reads the whole table", suggestion(pattern)
        )
        return replace(_scan(pattern, AccessPath(table), (problem,)), considered=considered)
    return replace(_best(model, pattern, candidates), considered=considered)


def _allowed(pattern: ReadPattern, every: Sequence[AccessPath]) -> list[AccessPath]:
    """The paths that the author's hint leaves."""
    if pattern.index is None:
        return list(every)
    return [path for path in every if path.index is not None and path.index.name == pattern.index]


def _best(model: Model, pattern: ReadPattern, candidates: Sequence[ReadPlan]) -> ReadPlan:
    served = [plan for plan in candidates if plan.served]
    if served:
        return min(served, key=lambda plan: read_demand(model, plan).rcu)
    queries = [plan for plan in candidates if plan.operation is not ReadOperation.SCAN]
    if queries:
        return min(queries, key=lambda plan: (len(plan.problems), read_demand(model, plan).rcu))
    problem = PlanProblem(
        "scan", "no key serves it: only a Scan of the whole table finds the items", suggestion(pattern)
    )
    return _scan(pattern, candidates[0].path, (problem, *candidates[0].problems))


def _scan(pattern: ReadPattern, path: AccessPath, problems: tuple[PlanProblem, ...]) -> ReadPlan:
    return ReadPlan(
        pattern,
        path.table,
        path.index,
        ReadOperation.SCAN,
        filter=_all((*conjuncts(pattern.where), *conjuncts(pattern.filter))),
        ordered=pattern.order is None,
        problems=problems,
    )


def _all(conditions: Sequence[Condition]) -> Condition | None:
    if not conditions:
        return None
    return conditions[0] if len(conditions) == 1 else All(tuple(conditions))


@dataclass(frozen=True, slots=True)
class _Reach:
    """How the items of one entity are reached by a path."""

    entity: Entity
    terms: Terms
    partition: tuple[KeyCondition, ...]
    used: frozenset[int]
    shards: int
    range: SortRange
    problems: tuple[PlanProblem, ...] = ()


def _candidate(model: Model, pattern: ReadPattern, entities: Sequence[Entity], path: AccessPath) -> ReadPlan:
    """The plan by one path, with all that is wrong with it."""
    conditions = conjuncts(pattern.where)
    reaches: list[_Reach] = []
    for entity in entities:
        reach = _reach(path, Terms(entity, conditions))
        if isinstance(reach, PlanProblem):
            return _scan(pattern, path, (reach,))
        reaches.append(reach)
    if any(reach.partition != reaches[0].partition for reach in reaches):
        problem = PlanProblem(
            "partition",
            f"{', '.join(pattern.entities)} have different partition keys in {path.title}",
            "give them the same partition key, so that one Query reads the item collection",
        )
        return _scan(pattern, path, (problem,))
    return _query(model, pattern, path, _united(path, reaches))


def _reach(path: AccessPath, terms: Terms) -> _Reach | PlanProblem:
    """Fill the partition key with what is known; a sharded one takes a Query for each shard."""
    entity = terms.entity
    for key in path.key:
        if template_of(entity, key.name) is None:
            return PlanProblem(
                "absent",
                f"{entity.name} has no {key.name}, so {path.title} has none of its items",
                f"give {entity.name} a template for {key.name}",
            )
    conditions: list[KeyCondition] = []
    used: frozenset[int] = frozenset()
    problems: tuple[PlanProblem, ...] = ()
    for key in path.partition:
        template = template_of(entity, key.name)
        known = leading(template, terms, spread=True) if template else NOTHING_KNOWN
        if known.rest:
            return _unknown(path, terms, key.name, known)
        conditions.append(KeyCondition(key, "=", (KeyOperand(known.pieces),)))
        used |= known.used
        problems += mixing_problems(known.pieces)
    spreads = _spreads(conditions)
    problems += _shard_problems(path, spreads)
    shards = max((shard.shards for shard in spreads), default=1)
    return _Reach(entity, terms, tuple(conditions), used, shards, sort_range(path, terms), problems)


def _unknown(path: AccessPath, terms: Terms, name: str, known: Leading) -> PlanProblem:
    piece = known.rest[0]
    missing = piece.text if isinstance(piece, Literally) else piece.attribute
    if isinstance(piece, Field) and (several := terms.alternatives(piece.attribute)) is not None:
        return in_problem(path, several)
    remedy = f"add `{missing} = ?{missing}` to `where`, or use a key that is made of what is known"
    if isinstance(piece, Field) and piece.cut:
        remedy = (
            f"make {{{missing}:.{piece.cut}}} an attribute of its own, such as a day, and ask for its value"
        )
    return PlanProblem(
        "partition",
        f"{name} of {path.title} is made of {missing}, for which `where` of {terms.entity.name} gives no single value",
        remedy,
    )


def _spreads(conditions: Sequence[KeyCondition]) -> list[Shard]:
    """The shards of a key of which every one has to be asked."""
    pieces = (piece for condition in conditions for piece in condition.operands[0].pieces)
    return [piece.piece for piece in pieces if isinstance(piece, Spread) and piece.is_each]


def _shard_problems(path: AccessPath, spreads: Sequence[Shard]) -> tuple[PlanProblem, ...]:
    """One number goes through the shards of a key: several that are drawn on their own would need all combinations."""
    if len(spreads) < 2 or (len(set(spreads)) == 1 and spreads[0].attribute is not None):
        return ()
    message = f"the partition key of {path.title} has several shards that do not follow from each other"
    return (PlanProblem("partition", message, "use one shard with as many numbers"),)


def _united(path: AccessPath, reaches: Sequence[_Reach]) -> list[_Reach]:
    """Entities that are read together share one range: their own if it is the same, else what their keys begin with."""
    first = reaches[0].range.conditions
    if not path.sort or all(reach.range.conditions == first for reach in reaches):
        return list(reaches)
    key = path.sort[0]
    templates = [template_of(reach.entity, key.name) or Template("", ()) for reach in reaches]
    known = [leading(template, reach.terms) for template, reach in zip(templates, reaches, strict=True)]
    shared = common_pieces([found.pieces for found in known])
    united = []
    for reach, template, found in zip(reaches, templates, known, strict=True):
        start = Leading(shared, found.enforced[: len(shared)], template.pieces[len(shared) :])
        unbounded: tuple[Shape, ...] = ((ANYTHING,),) * (len(path.sort) - 1)
        range_ = begins_with(key, start)
        united.append(replace(reach, range=replace(range_, regions=range_.regions + unbounded, last=key)))
    return united


def _query(model: Model, pattern: ReadPattern, path: AccessPath, reaches: Sequence[_Reach]) -> ReadPlan:
    """The plan of a Query, or of a GetItem where the whole key is known and nothing is left to filter."""
    entities = [reach.entity for reach in reaches]
    conditions = conjuncts(pattern.where)
    left = [
        at for at in range(len(conditions)) if not all(_is_enforced(at, reach, path) for reach in reaches)
    ]
    wanted = [part for part in conjuncts(pattern.filter) if not _is_member(part, reaches, path)]
    filtering = _all([*(conditions[at] for at in left), *wanted])
    first = reaches[0]
    whole = path.index is None and filtering is None and first.range.complete and len(entities) == 1
    operation = _operation(pattern) if whole else ReadOperation.QUERY
    names = coverage.projected(path.table, path.index)
    sorted_by = frozenset[int]().union(*(reach.range.used for reach in reaches)) - first.used
    is_query = operation is ReadOperation.QUERY
    is_ordered = not is_query or all(_is_ordered(pattern, path, reach) for reach in reaches)
    # A whole key of the table is one item's; whether two entities make the same keys is no matter of this pattern.
    single = path.index is None and first.range.complete
    others = () if single else neighbours(model, path, entities, first.partition, first.range.regions)
    plan = ReadPlan(
        pattern,
        path.table,
        path.index,
        operation,
        partition=first.partition,
        sort=first.range.conditions,
        enforced=tuple(conditions[at] for at in sorted(sorted_by)),
        filter=filtering,
        ordered=is_ordered,
        requests=first.shards * (max(pattern.batch, 1) if is_query else 1),
        shards=first.shards,
        limit=pattern.limit if is_query and filtering is None else None,
        fetches=names is not None
        and not path.is_global
        and bool(coverage.needed(pattern, entities, filtering) - names),
        others=tuple(entity.name for entity in others),
    )
    problems = [
        *(problem for reach in reaches for problem in (*reach.problems, *reach.range.problems)),
        *(left_problem(path, first.range, first.terms, conditions[at]) for at in left),
        *_answer_problems(model, plan, reaches),
    ]
    return replace(plan, problems=tuple(dict.fromkeys(problems)))


def _is_enforced(at: int, reach: _Reach, path: AccessPath) -> bool:
    """Whether the key takes care of a condition: by its value, or because only such items have the key."""
    if at in reach.used or at in reach.range.used:
        return True
    return coverage.implied(reach.terms.conditions[at], coverage.membership(reach.entity, path))


def _is_member(condition: Condition, reaches: Sequence[_Reach], path: AccessPath) -> bool:
    return all(coverage.implied(condition, coverage.membership(reach.entity, path)) for reach in reaches)


def _operation(pattern: ReadPattern) -> ReadOperation:
    """What reads items by their whole keys."""
    if pattern.operation is not None:
        return pattern.operation
    return ReadOperation.BATCH_GET_ITEM if pattern.batch > 1 else ReadOperation.GET_ITEM


def _is_ordered(pattern: ReadPattern, path: AccessPath, reach: _Reach) -> bool:
    """Whether the items come in the pattern's order, from the range's first to its last or the other way round."""
    if pattern.order is None or pattern.order in reach.terms.equal or _is_single(path, reach):
        return True
    free = reach.range.leading.free
    if free is None or free.attribute != pattern.order or free.cut or reach.range.complete:
        return False
    rest = reach.range.leading.rest[1:]
    texts = value_texts(reach.terms.attribute(free.attribute), free)
    key = reach.range.last
    return (key is not None and key.type != "S") or keeps_order(texts, following_text(rest))


def _is_single(path: AccessPath, reach: _Reach) -> bool:
    """Whether there is at most one item."""
    return path.index is None and reach.range.complete and reach.shards == 1


def _answer_problems(model: Model, plan: ReadPlan, reaches: Sequence[_Reach]) -> list[PlanProblem]:
    """What makes the answer another than the pattern's."""
    pattern, path = plan.pattern, plan.path
    entities = [reach.entity for reach in reaches]
    asked = (*conjuncts(pattern.where), *conjuncts(pattern.filter))
    return [
        *(problem for entity in entities for problem in coverage.sparse_problems(entity, path, asked)),
        *coverage.projection_problems(pattern, entities, path, plan.filter),
        *coverage.key_filter_problems(path, plan.filter),
        *coverage.overlap_problems(path, [model.entities[name] for name in plan.others], pattern.filter),
        *request_problems(plan),
    ]
