"""The tree of an expression."""

from collections.abc import Iterator
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


def walk(node: Node) -> Iterator[Node]:
    """All nodes of an expression, in no order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        match current:
            case Negation():
                stack.append(current.operand)
            case Binary():
                stack += (current.left, current.right)
            case Array():
                stack += current.elements
            case FunctionCall():
                stack += current.arguments
            case Number() | String() | Name():
                pass


def names(node: Node) -> set[str]:
    """The ids that an expression refers to; words for functions' modes, which have no lower-case letter, are none."""
    return {one.name for one in walk(node) if isinstance(one, Name) and one.name[0].islower()}


def calls(node: Node, function: str) -> list[FunctionCall]:
    """Where a function is called in an expression."""
    return [one for one in walk(node) if isinstance(one, FunctionCall) and one.function == function]
