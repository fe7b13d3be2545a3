"""What an expression says as written; placeholders stay, so a parse serves all requests with its text."""

from dataclasses import dataclass
from typing import Literal

Comparator = Literal["=", "<>", "<", "<=", ">", ">="]
Connective = Literal["AND", "OR"]
Section = Literal["SET", "REMOVE", "ADD", "DELETE"]


@dataclass(frozen=True, slots=True)
class PathRef:
    """A document path as written: bare names, `#placeholders` and list indexes."""

    parts: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ValueRef:
    """A `:placeholder`."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments; `size` and the update functions are operands, the others conditions."""

    function: str
    arguments: tuple["Operand", ...]


Operand = PathRef | ValueRef | Call


@dataclass(frozen=True, slots=True)
class Comparison:
    """left comparator right."""

    comparator: Comparator
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Range:
    """operand BETWEEN lower AND upper."""

    operand: Operand
    lower: Operand
    upper: Operand


@dataclass(frozen=True, slots=True)
class Membership:
    """operand IN (candidate, ...)."""

    operand: Operand
    candidates: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """NOT condition."""

    condition: "ConditionSyntax"


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions joined by AND, or by OR."""

    connective: Connective
    conditions: tuple["ConditionSyntax", ...]


ConditionSyntax = Comparison | Range | Membership | Negation | Junction | Call


@dataclass(frozen=True, slots=True)
class Sum:
    """left + right or left - right, on the right-hand side of SET only."""

    operator: Literal["+", "-"]
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class ActionSyntax:
    """One action of an update expression; REMOVE has no operand."""

    section: Section
    target: PathRef
    operand: Operand | Sum | None


@dataclass(frozen=True, slots=True)
class ConditionText:
    """A parsed condition and how many operators it spends."""

    condition: ConditionSyntax
    operators: int


@dataclass(frozen=True, slots=True)
class UpdateText:
    """A parsed update expression and how many operators it spends."""

    actions: tuple[ActionSyntax, ...]
    operators: int


@dataclass(frozen=True, slots=True)
class ProjectionText:
    """A parsed projection expression."""

    paths: tuple[PathRef, ...]
