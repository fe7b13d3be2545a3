"""The nodes of parsed expressions, as written: with placeholders, so that one parse serves all requests."""

from typing import Literal

import msgspec

Comparator = Literal["=", "<>", "<", "<=", ">", ">="]
Connective = Literal["AND", "OR"]
Section = Literal["SET", "REMOVE", "ADD", "DELETE"]


class PathRef(msgspec.Struct, frozen=True):
    """A document path as written: bare names, `#placeholders` and list indexes."""

    parts: tuple[str | int, ...]


class ValueRef(msgspec.Struct, frozen=True):
    """A `:placeholder`."""

    name: str


class Call(msgspec.Struct, frozen=True):
    """A function with its arguments; `size` and the update functions are operands, the others conditions."""

    function: str
    arguments: tuple["Operand", ...]


Operand = PathRef | ValueRef | Call


class Comparison(msgspec.Struct, frozen=True):
    """left comparator right."""

    comparator: Comparator
    left: Operand
    right: Operand


class Range(msgspec.Struct, frozen=True):
    """operand BETWEEN lower AND upper."""

    operand: Operand
    lower: Operand
    upper: Operand


class Membership(msgspec.Struct, frozen=True):
    """operand IN (candidate, ...)."""

    operand: Operand
    candidates: tuple[Operand, ...]


class Negation(msgspec.Struct, frozen=True):
    """NOT condition."""

    condition: "ConditionSyntax"


class Junction(msgspec.Struct, frozen=True):
    """Conditions joined by AND, or by OR."""

    connective: Connective
    conditions: tuple["ConditionSyntax", ...]


ConditionSyntax = Comparison | Range | Membership | Negation | Junction | Call


class Sum(msgspec.Struct, frozen=True):
    """left + right or left - right, on the right-hand side of SET only."""

    operator: Literal["+", "-"]
    left: Operand
    right: Operand


class ActionSyntax(msgspec.Struct, frozen=True):
    """One action of an update expression; REMOVE has no operand."""

    section: Section
    target: PathRef
    operand: Operand | Sum | None


class ConditionText(msgspec.Struct, frozen=True):
    """A parsed condition and how many operators it spends."""

    condition: ConditionSyntax
    operators: int


class UpdateText(msgspec.Struct, frozen=True):
    """A parsed update expression and how many operators it spends."""

    actions: tuple[ActionSyntax, ...]
    operators: int


class ProjectionText(msgspec.Struct, frozen=True):
    """A parsed projection expression."""

    paths: tuple[PathRef, ...]
