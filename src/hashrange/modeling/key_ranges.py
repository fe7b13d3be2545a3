"""Key ranges: which conditions on attributes become conditions on a sort key that say exactly the same."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hashrange.modeling.key_bounds import bounds_of
from hashrange.modeling.key_pieces import (
    NOTHING_KNOWN,
    Leading,
    Terms,
    leading,
    mixing_problems,
    prefix_problems,
)
from hashrange.modeling.key_shapes import ANYTHING, Shape, operand_shape
from hashrange.modeling.model import KeyAttribute
from hashrange.modeling.plans import AccessPath, KeyCondition, KeyOperand, PlanProblem, template_of


@dataclass(frozen=True, slots=True)
class SortRange:
    """The sort key's part of a Query. `regions` has, for each attribute of the key, where its values lie."""

    conditions: tuple[KeyCondition, ...] = ()
    used: frozenset[int] = frozenset()
    regions: tuple[Shape, ...] = ()
    leading: Leading = NOTHING_KNOWN
    complete: bool = True  # every attribute of the sort key is known
    problems: tuple[PlanProblem, ...] = ()
    last: KeyAttribute | None = None  # the attribute that `leading` is about


def sort_range(path: AccessPath, terms: Terms) -> SortRange:
    """The conditions on the sort key: equality from left to right, then one range, then nothing more."""
    result = SortRange()
    for position, attribute in enumerate(path.sort):
        template = template_of(terms.entity, attribute.name)
        if template is None:
            break
        known = leading(template, terms)
        step = _attribute_range(attribute, known, terms)
        result = SortRange(
            result.conditions + step.conditions,
            result.used | step.used,
            result.regions + step.regions,
            known,
            step.complete,
            result.problems + step.problems,
            attribute,
        )
        if not step.complete:
            unbounded: tuple[Shape, ...] = ((ANYTHING,),) * (len(path.sort) - position - 1)
            return replace(result, regions=result.regions + unbounded)
    return result


def _attribute_range(attribute: KeyAttribute, known: Leading, terms: Terms) -> SortRange:
    if not known.rest:
        operand = KeyOperand(known.pieces)
        return SortRange(
            (KeyCondition(attribute, "=", (operand,)),),
            known.used,
            (operand_shape(operand),),
            known,
            problems=mixing_problems(known.pieces),
        )
    if known.free is not None:
        about = terms.about(known.free.attribute)
        bounds = bounds_of(about, known, terms.attribute(known.free.attribute))
        condition = None if bounds is None else bounds.condition(attribute)
        if bounds is not None and condition is not None:
            return SortRange(
                (condition,),
                known.used | bounds.used,
                (bounds.region(condition),),
                known,
                complete=False,
                problems=mixing_problems(known.pieces),
            )
    return begins_with(attribute, known)


def begins_with(attribute: KeyAttribute, known: Leading) -> SortRange:
    """Every key that begins with what is known; all of them if that is nothing."""
    if not known.pieces:
        return SortRange((), frozenset(), ((ANYTHING,),), known, complete=False)
    operand = KeyOperand(known.pieces)
    return SortRange(
        (KeyCondition(attribute, "begins_with", (operand,)),),
        known.used,
        ((*operand_shape(operand), ANYTHING),),
        known,
        complete=False,
        problems=prefix_problems(known.pieces),
    )
