"""The tree of an expression."""

from typing import Literal

import msgspec

BinaryOperator = Literal["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "AND", "OR"]


class Number(msgspec.Struct, frozen=True):
    """A literal number."""

    value: float


class String(msgspec.Struct, frozen=True):
    """A literal text: an argument of some functions."""

    text: str


class Name(msgspec.Struct, frozen=True):
    """The id of another query, or a word such as REPEAT."""

    name: str


class Negation(msgspec.Struct, frozen=True):
    """Minus."""

    operand: "Node"


class Binary(msgspec.Struct, frozen=True):
    """An operator between two operands."""

    operator: BinaryOperator
    left: "Node"
    right: "Node"


class Array(msgspec.Struct, frozen=True):
    """Several series: `[m1, m2]`."""

    elements: "tuple[Node, ...]"


class FunctionCall(msgspec.Struct, frozen=True):
    """A function of its arguments."""

    function: str
    arguments: "tuple[Node, ...]"


Node = Number | String | Name | Negation | Binary | Array | FunctionCall


def names(node: Node) -> set[str]:
    """The ids that an expression refers to; words for functions' modes, which have no lower-case letter, are none."""
    match node:
        case Name():
            return {node.name} if node.name[0].islower() else set()
        case Negation():
            return names(node.operand)
        case Binary():
            return names(node.left) | names(node.right)
        case Array():
            return set().union(*map(names, node.elements))
        case FunctionCall():
            return set().union(*map(names, node.arguments))
        case Number() | String():
            return set()


def calls(node: Node, function: str) -> bool:
    """Whether a function is called anywhere in an expression."""
    match node:
        case Negation():
            return calls(node.operand, function)
        case Binary():
            return calls(node.left, function) or calls(node.right, function)
        case Array():
            return any(calls(element, function) for element in node.elements)
        case FunctionCall():
            return node.function == function or any(calls(argument, function) for argument in node.arguments)
        case Number() | String() | Name():
            return False
