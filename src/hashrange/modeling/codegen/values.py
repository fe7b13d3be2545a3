"""Values in generated code: operands, keys and their texts, as calls of the helpers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hashrange.modeling.codegen.nodes import Call, Node, Variable
from hashrange.modeling.conditions import comparisons
from hashrange.modeling.key_values import HIGHEST, LOWEST
from hashrange.modeling.model import (
    All,
    AnyOf,
    Attribute,
    Comparison,
    Condition,
    Entity,
    Field,
    KeyAttribute,
    Literally,
    Name,
    Not,
    Now,
    Operand,
    Parameter,
    Piece,
)
from hashrange.modeling.plans import Given, KeyCondition, KeyOperand, KeyPiece, Spread, template_of

Arguments = Callable[[str], Variable]  # from a parameter of the pattern to the argument of the function
NOW = Variable("now")
SHARD = Variable("shard")
_ITEM = Variable("item")


def operand_node(operand: Operand, attribute: Attribute | None, arguments: Arguments) -> Node:
    """The value of an operand; times have the form of the attribute beside them."""
    match operand:
        case Parameter():
            return arguments(operand.name)
        case Now():
            return Call("_moment", (NOW, operand.seconds_before, _form(attribute)))
        case Name():
            return Call("_of", (_ITEM, operand.attribute))
        case _:
            return operand


def _form(attribute: Attribute | None) -> str:
    if attribute is not None and attribute.format == "date":
        return "date"
    is_number = attribute is not None and (attribute.type == "N" or attribute.format == "epoch")
    return "epoch" if is_number else "timestamp"


def condition_values(
    condition: Condition | None, attributes: dict[str, Attribute], arguments: Arguments
) -> Iterator[Node]:
    """The values of a condition's placeholders, in the order in which `expressions` numbers them."""
    for comparison in comparisons(condition):
        attribute = attributes.get(comparison.attribute)
        for operand in comparison.operands:
            if not isinstance(operand, Name):
                yield value_node(operand_node(operand, attribute, arguments), attribute)


def value_node(node: Node, attribute: Attribute | None) -> Node:
    """A value with its type."""
    return Call("_value", (node, None if attribute is None else attribute.type))


def key_condition_values(condition: KeyCondition, arguments: Arguments) -> Iterator[Node]:
    """The values of a key condition's placeholders."""
    for operand in condition.operands:
        yield Call("_key", (_operand_text(operand, arguments), condition.attribute.type))


def _operand_text(operand: KeyOperand, arguments: Arguments) -> Node:
    if operand.edge == "at":
        match operand.pieces:
            case (Given(piece=piece) as only,) if not piece.pad and not piece.cut:
                return operand_node(only.operand, only.attribute, arguments)
    text = Call("_text", tuple(_piece(piece, arguments) for piece in operand.pieces))
    match operand.edge:
        case "end":
            return Call("_text", (text, HIGHEST))
        case "after":
            return Call("_text", (text, LOWEST))
        case "before":
            return Call("_before", (text,))
        case _:
            return text


def _piece(piece: KeyPiece, arguments: Arguments) -> Node:
    match piece:
        case Literally():
            return piece.text
        case Given():
            value = operand_node(piece.operand, piece.attribute, arguments)
            return Call("_field", (value, piece.piece.pad, piece.piece.cut))
        case Spread() if piece.is_each:
            return Call("_nth", (SHARD, piece.piece.shards))
        case Spread():
            value = operand_node(piece.operand, piece.attribute, arguments)
            return Call("_shard", (value, piece.piece.shards))


def stored_key(entity: Entity, key: KeyAttribute, of: Callable[[str], Node], shard: Node = None) -> Node:
    """The value of one key attribute of an item; nothing if the item does not have it.

    `shard` is the one that was drawn when the item was stored; without it, one is drawn.
    """
    template = template_of(entity, key.name)
    if template is None:
        return None
    match template.pieces:
        case (Field(attribute=name, pad=0, cut=0),):
            text = of(name)
        case pieces:
            text = Call("_text", tuple(_template_piece(piece, of, shard) for piece in pieces))
    return Call("_key", (text, key.type))


def _template_piece(piece: Piece, of: Callable[[str], Node], shard: Node) -> Node:
    match piece:
        case Literally():
            return piece.text
        case Field():
            return Call("_field", (of(piece.attribute), piece.pad, piece.cut))
        case _ if piece.attribute is None and shard is not None:
            return Call("_nth", (shard, piece.shards))
        case _ if piece.attribute is None:
            return Call("_drawn", (piece.shards,))
        case _:
            return Call("_shard", (of(piece.attribute), piece.shards))


def holds_node(condition: Condition, attributes: dict[str, Attribute]) -> Node:
    """Whether a condition holds for `item`."""
    match condition:
        case All():
            return Call("_all", tuple(holds_node(part, attributes) for part in condition.parts))
        case AnyOf():
            return Call("_any", tuple(holds_node(part, attributes) for part in condition.parts))
        case Not():
            return Call("_not", (holds_node(condition.part, attributes),))
        case Comparison():
            beside = attributes.get(condition.attribute)
            operands = [operand_node(operand, beside, Variable) for operand in condition.operands]
            value = Call("_of", (_ITEM, condition.attribute))
            return Call("_holds", (condition.operator, value, *operands))
