"""Values of keys: of the operands of key conditions, and of stored items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from hashrange.modeling.conditions import ITSELF, conjuncts, holds
from hashrange.modeling.model import (
    All,
    AnyOf,
    Attribute,
    Comparison,
    Condition,
    Entity,
    KeyAttribute,
    Literally,
    Model,
    Not,
)
from hashrange.modeling.plans import Given, KeyOperand, ReadPlan, Spread, template_of
from hashrange.modeling.sizes import table_keys
from hashrange.modeling.templates import fill
from hashrange.modeling.value_texts import field_text
from hashrange.modeling.wire_values import operand_value
from hashrange.patterns.values import shard_of

HIGHEST = "\U0010ffff"
LOWEST = "\0"


def operand_text(
    operand: KeyOperand, parameters: Mapping[str, object], *, now: int, shard: int = 0
) -> object:
    """What a key is compared with. A key that is one attribute and nothing else has its value, not a text."""
    if operand.edge == "at":
        match operand.pieces:
            case (Given(piece=piece) as only,) if not piece.pad and not piece.cut:
                return operand_value(only.operand, only.attribute, parameters, now)
    text = "".join(_piece_text(piece, parameters, now, shard) for piece in operand.pieces)
    match operand.edge:
        case "end":
            return text + HIGHEST
        case "after":
            return text + LOWEST
        case "before":
            return before(text)
        case _:
            return text


def is_empty_range(
    plan: ReadPlan, parameters: Mapping[str, object], attributes: Mapping[str, Attribute], *, now: int
) -> bool:
    """Whether a BETWEEN of the plan ends before it begins. Open ends meet earlier: nothing is > 3 and < 3."""
    ranges = [
        [operand_text(operand, parameters, now=now) for operand in condition.operands]
        for condition in plan.sort
        if condition.operator == "between"
    ]
    ranges += [
        [operand_value(operand, attributes.get(part.attribute), parameters, now) for operand in part.operands]
        for part in conjuncts(plan.filter)
        if isinstance(part, Comparison) and part.operator == "between"
    ]
    return any(is_after(low, high) for low, high in ranges)


def is_after(one: object, other: object) -> bool:
    """Whether a value sorts behind another of its kind; values of different kinds have no order."""
    match one, other:
        case (str(), str()) | (bytes(), bytes()):
            return one > other  # type: ignore[operator, no-any-return]
        case (int() | float() | Decimal(), int() | float() | Decimal()):
            return one > other
        case _:
            return False


def _piece_text(
    piece: Literally | Given | Spread, parameters: Mapping[str, object], now: int, shard: int
) -> str:
    match piece:
        case Literally():
            return piece.text
        case Given():
            return field_text(operand_value(piece.operand, piece.attribute, parameters, now), piece.piece)
        case Spread():
            if piece.is_each:
                return str(shard % piece.piece.shards)
            value = operand_value(piece.operand, piece.attribute, parameters, now)
            return str(shard_of(value, piece.piece.shards))


def before(text: str) -> str:
    """The end of all texts that sort before a text."""
    if not text or text[-1] == LOWEST:
        return text[:-1]
    code = ord(text[-1]) - 1
    # UTF-8 has no surrogates.
    return text[:-1] + chr(0xD7FF if 0xD800 <= code <= 0xDFFF else code) + HIGHEST


def stored_item(
    model: Model, entity: Entity, values: Mapping[str, object], *, now: int = 0
) -> dict[str, object]:
    """An item with its keys, made from its attributes. Keys that are there already stay, as drawn shards have to."""
    item = {name: value for name, value in values.items() if value is not None}
    for name, key in table_keys(model.tables[entity.table]).items():
        if name not in item:
            value = key_of(entity, key, values, now=now)
            if value is not None:
                item[name] = value
    return item


def key_of(entity: Entity, key: KeyAttribute, values: Mapping[str, object], *, now: int = 0) -> object:
    """The value of one key attribute; None if the item does not have it."""
    template = template_of(entity, key.name)
    condition = entity.only_if.get(key.name)
    if template is None or (condition is not None and not holds(condition, values, {}, now)):
        return None
    return fill(template, values)


def about_item(condition: Condition, partition_key: str) -> Condition:
    """`exists` and `not exists` alone speak of the item, which is there if its partition key is."""
    match condition:
        case Comparison(attribute=attribute) if attribute == ITSELF:
            return replace(condition, attribute=partition_key)
        case All() | AnyOf():
            return replace(
                condition, parts=tuple(about_item(part, partition_key) for part in condition.parts)
            )
        case Not():
            return Not(about_item(condition.part, partition_key))
        case _:
            return condition
