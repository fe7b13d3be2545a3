"""Shortcomings of plans in words: what no key serves, what one request cannot do, and which key would help."""

from __future__ import annotations

from hashrange.core import limits
from hashrange.modeling.conditions import conjuncts, text_of
from hashrange.modeling.key_pieces import Terms, following_text
from hashrange.modeling.key_ranges import SortRange
from hashrange.modeling.model import Comparison, Condition, Field, Name, ReadOperation, ReadPattern
from hashrange.modeling.plans import AccessPath, PlanProblem, ReadPlan
from hashrange.modeling.value_texts import keeps_order, value_texts

_BATCH_KEYS_MAX = {
    ReadOperation.GET_ITEM: 1,
    ReadOperation.BATCH_GET_ITEM: limits.BATCH_GET_KEYS_MAX,
    ReadOperation.TRANSACT_GET_ITEMS: limits.TRANSACT_ITEMS_MAX,
}
_RANGES = ("<", "<=", ">", ">=", "between", "begins_with")


def left_problem(path: AccessPath, range_: SortRange, terms: Terms, condition: Condition) -> PlanProblem:
    """A condition of `where` that the path cannot enforce."""
    free = range_.leading.free
    text = text_of(condition)
    if free is not None and isinstance(condition, Comparison) and condition.attribute == free.attribute:
        if condition.operator == "in":
            return in_problem(path, condition)
        reason = _field_reason(range_, terms, free, condition)
        if reason is not None:
            return reason
    return PlanProblem(
        "filter",
        f"{path.title} cannot enforce `{text}`: it would be read and filtered out",
        f"use a key that begins with it, or move `{text}` to `filter` if what it leaves out is little",
    )


def in_problem(path: AccessPath, condition: Comparison) -> PlanProblem:
    """Several values of an attribute that a key is made of."""
    name, count = condition.attribute, len(condition.operands)
    return PlanProblem(
        "batch",
        f"{path.title} takes one {name} at a time: a key condition has no `in`",
        f"write `{name} = ?{name}` and `batch: {count}`: BatchGetItem reads by whole keys, a Query by one value each",
    )


def _field_reason(range_: SortRange, terms: Terms, free: Field, condition: Comparison) -> PlanProblem | None:
    """Why a range over the field that comes next in the sort key is not one range of keys."""
    name = free.attribute
    texts = value_texts(terms.attribute(name), free)
    following = following_text(range_.leading.rest[1:])
    if condition.operator not in _RANGES:
        return None
    if range_.last is not None and range_.last.type != "S":
        message = f"BETWEEN includes both its ends, which `{text_of(condition)}` does not"
        return PlanProblem("filter", message, "use >= and <=, which become one BETWEEN")
    if free.cut:
        message = f"{{{name}:.{free.cut}}} does not tell values of {name} apart that begin alike"
        return PlanProblem("filter", message, f"put {{{name}}} itself into the key, behind it")
    if not texts.sorts:
        message = f"numbers do not sort as text: {name} 10 comes before 9"
        return PlanProblem("order", message, f"pad it with zeros: {{{name}:010}}, or make it a key of type N")
    if not keeps_order(texts, following):
        message = (
            f"keys do not sort by {name}, because its values have different lengths and more text behind them"
        )
        return PlanProblem(
            "order", message, f"let the key end with {{{name}}}, or make the values of one length"
        )
    return None


def request_problems(plan: ReadPlan) -> list[PlanProblem]:
    """What the operation cannot do."""
    pattern = plan.pattern
    problems = []
    if pattern.consistent and plan.path.is_global:
        message = f"{plan.path.title} is global, and gives no strongly consistent reads"
        problems.append(PlanProblem("consistency", message, "read eventually, or by the table's key"))
    if not plan.ordered:
        problems.append(order_problem(plan))
    if pattern.operation not in (None, plan.operation):
        message = f"{_name(pattern.operation)} needs the whole key, and no filter"
        problems.append(
            PlanProblem("operation", message, f"leave `operation` out: {plan.operation.value} serves it")
        )
    keys_max = _BATCH_KEYS_MAX.get(plan.operation, 1)
    if pattern.batch > keys_max:
        message = f"{plan.operation.value} takes {keys_max} at a time, not {pattern.batch}"
        remedy = "make the whole key known, so that BatchGetItem reads up to 100 items"
        problems.append(PlanProblem("batch", message, remedy))
    return problems


def _name(operation: ReadOperation | None) -> str:
    return "" if operation is None else operation.value


def order_problem(plan: ReadPlan) -> PlanProblem:
    """The items come in another order than the pattern's."""
    order = plan.pattern.order
    sort = ", ".join(key.name for key in plan.path.sort) or "nothing"
    return PlanProblem(
        "order",
        f"{plan.path.title} sorts by {sort}, which does not give the order of {order}",
        f"a sort key with {{{order}}} right behind its fixed prefix; numbers padded with zeros",
    )


def suggestion(pattern: ReadPattern) -> str:
    """The key that would serve a pattern."""
    comparisons = [part for part in conjuncts(pattern.where) if isinstance(part, Comparison)]
    equal = [
        part.attribute
        for part in comparisons
        if part.operator == "=" and part.operands and not isinstance(part.operands[0], Name)
    ]
    ranged = [part.attribute for part in comparisons if part.operator in _RANGES]
    behind = [
        name for name in dict.fromkeys((*ranged, pattern.order)) if name is not None and name not in equal
    ]
    if any(part.operator == "contains" for part in comparisons):
        return "no key serves `contains`: keep an item for each word or member, or a search index beside the table"
    if not equal and not behind:
        return "an index with one partition key for all of them, sharded: ALL#{shard(id, 10)}"
    partition = "#".join(f"{{{name}}}" for name in dict.fromkeys(equal)) or "ALL#{shard(id, 10)}"
    name = pattern.entities[0].upper()
    sort = f" and the sort key {'#'.join(f'{{{name}}}' for name in behind)}" if behind else ""
    return f"an index with the partition key {name}#{partition}{sort}"
