"""Selectivity: the share of items for which a condition holds, as far as the model tells; else the usual guesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from hashrange.modeling.conditions import holds
from hashrange.modeling.model import (
    All,
    AnyOf,
    Attribute,
    Comparison,
    Condition,
    Entity,
    Not,
    Now,
)

RANGE_SHARE = 1 / 3  # of a range whose ends are not known
BETWEEN_SHARE = 1 / 4
TEXT_SHARE = 1 / 10  # of `contains` and `begins_with`
_DAY_SECONDS = 86_400
Distinct = Callable[[Entity, str], float]


def selectivity(entity: Entity, condition: Condition | None, distinct: Distinct) -> float:
    """A number from 0 to 1. Parts of a condition are taken to be independent."""
    match condition:
        case None:
            return 1.0
        case All():
            share = 1.0
            for part in condition.parts:
                share *= selectivity(entity, part, distinct)
            return share
        case AnyOf():
            none = 1.0
            for part in condition.parts:
                none *= 1 - selectivity(entity, part, distinct)
            return 1 - none
        case Not():
            return 1 - selectivity(entity, condition.part, distinct)
        case Comparison():
            return _compared(entity, condition, distinct)
        case _:
            assert_never(condition)


def _compared(entity: Entity, comparison: Comparison, distinct: Distinct) -> float:
    attribute = entity.attributes.get(comparison.attribute)
    if attribute is None:
        # Key attributes are there in every item; what no item has is neither equal to anything nor different.
        is_there = comparison.attribute in entity.keys
        return float(is_there != (comparison.operator in ("<>", "not_exists")))
    present = 1 - attribute.optional
    match comparison.operator:
        case "exists":
            return present
        case "not_exists":
            return attribute.optional
        case "<>":
            return 1 - present * _share(entity, attribute, comparison, distinct)
        case _:
            return present * _share(entity, attribute, comparison, distinct)


def _share(entity: Entity, attribute: Attribute, comparison: Comparison, distinct: Distinct) -> float:
    """Of the items that have the attribute."""
    operands = comparison.operands
    if attribute.values and all(isinstance(operand, str | int | float) for operand in operands):
        if comparison.operator == "<>":
            comparison = Comparison(comparison.attribute, "=", operands)
        matching = sum(holds(comparison, {attribute.name: value}, {}, 0) for value in attribute.values)
        return matching / len(attribute.values)
    if (share := _share_of_range(attribute, comparison)) is not None:
        return share
    match comparison.operator:
        case "=" | "<>":
            return 1 / max(distinct(entity, attribute.name), 1.0)
        case "in":
            return min(len(operands) / max(distinct(entity, attribute.name), 1.0), 1.0)
        case "between":
            return BETWEEN_SHARE
        case "<" | "<=" | ">" | ">=":
            return _since(entity, comparison)
        case _:
            return TEXT_SHARE


def _share_of_range(attribute: Attribute, comparison: Comparison) -> float | None:
    """`unread > 0` of numbers from 0 to 99, which are taken to be equally frequent; None where an end is not known."""
    minimum, maximum = attribute.minimum, attribute.maximum
    numbers = [operand for operand in comparison.operands if isinstance(operand, int | float)]
    if minimum is None or maximum is None or not numbers or len(numbers) < len(comparison.operands):
        return None
    step = 1.0 if attribute.format == "integer" else 0.0
    if maximum + step <= minimum:
        return None
    match comparison.operator:
        case ">=":
            low, high = numbers[0], maximum
        case ">":
            low, high = numbers[0] + step, maximum
        case "<=":
            low, high = minimum, numbers[0]
        case "<":
            low, high = minimum, numbers[0] - step
        case "between":
            low, high = numbers[0], numbers[-1]
        case _:
            return None
    kept = min(high, maximum) - max(low, minimum) + step
    return min(max(kept / (maximum - minimum + step), 0.0), 1.0)


def _since(entity: Entity, comparison: Comparison) -> float:
    """`placed_at >= now - 30 days` is a twelfth of what is kept for a year."""
    operand = comparison.operands[0]
    if not isinstance(operand, Now) or not entity.retention_days:
        return RANGE_SHARE
    share = min(max(operand.seconds_before / _DAY_SECONDS / entity.retention_days, 0.0), 1.0)
    return share if comparison.operator in (">", ">=") else 1 - share
