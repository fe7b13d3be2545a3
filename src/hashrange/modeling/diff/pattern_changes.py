"""Pattern changes: reads that break, that begin to be served, or that go by another key."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hashrange.modeling.demand import read_demand
from hashrange.modeling.diff.likeness import is_same_index
from hashrange.modeling.key_texts import plan_text
from hashrange.modeling.model import Model
from hashrange.modeling.planning import plan_read
from hashrange.modeling.plans import ReadPlan

Effect = Literal["breaks", "unserved", "begins", "flips", "ends"]


@dataclass(frozen=True, slots=True)
class PatternChange:
    """A read pattern before and after. `units` are of one answer; None where there is no such pattern."""

    id: str
    name: str
    effect: Effect
    before: str
    after: str
    units_before: float | None
    units_after: float | None
    problems: tuple[str, ...] = ()


def pattern_changes(old: Model, new: Model, copied: frozenset[str]) -> Iterator[PatternChange]:
    """All reads that are not served just as before; `copied` are the entities whose items lie elsewhere then."""
    plans = {pattern.id: plan_read(old, pattern) for pattern in old.reads}
    for pattern in new.reads:
        before, after = plans.pop(pattern.id, None), plan_read(new, pattern)
        effect = _effect(before, after, copied)
        if effect is not None:
            yield _change(old, new, effect, before, after)
    for plan in plans.values():
        yield _change(old, new, "ends", plan, None)


def _effect(before: ReadPlan | None, after: ReadPlan, copied: frozenset[str]) -> Effect | None:
    if not after.served:
        return "breaks" if before is not None and before.served else "unserved"
    if before is None or not before.served:
        return "begins"
    return "flips" if _is_elsewhere(before, after) or copied & set(after.pattern.entities) else None


def _is_elsewhere(before: ReadPlan, after: ReadPlan) -> bool:
    if _text(before) != _text(after):
        return True
    return after.index is not None and not is_same_index(before.index, after.index)


def _text(plan: ReadPlan | None) -> str:
    if plan is None:
        return ""
    key = plan.table.name if plan.index is None else f"{plan.table.name}/{plan.index.name}"
    conditions = plan_text(plan)
    return f"{plan.operation.value} {key}" + (f" by {conditions}" if conditions else "")


def _change(
    old: Model, new: Model, effect: Effect, before: ReadPlan | None, after: ReadPlan | None
) -> PatternChange:
    pattern = (after or before).pattern  # type: ignore[union-attr]  # one of them is there
    return PatternChange(
        pattern.id,
        pattern.name,
        effect,
        _text(before),
        _text(after),
        None if before is None else read_demand(old, before).rcu,
        None if after is None else read_demand(new, after).rcu,
        () if after is None else tuple(problem.message for problem in after.problems),
    )
