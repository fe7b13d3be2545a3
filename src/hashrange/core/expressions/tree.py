"""Resolved expressions: real attribute names, real values. Anyone may build these, not only the parser."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal as OneOf

from hashrange.core.values import Value

Values = Mapping[str, Value]
Comparator = OneOf["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Path:
    """A document path: the attribute's name, then map keys and list indexes."""

    parts: tuple[str | int, ...]

    def __str__(self) -> str:
        """The path as the service's messages show it: [a, b, [0]]."""
        return f"[{', '.join(f'[{part}]' if isinstance(part, int) else part for part in self.parts)}]"


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is known now."""

    value: Value


@dataclass(frozen=True, slots=True)
class Parameter:
    """A `:placeholder` whose value each request brings along, so that the tree around it can be kept."""

    name: str


@dataclass(frozen=True, slots=True)
class Size:
    """size(operand)."""

    operand: "Operand"


Operand = Path | Literal | Parameter | Size


@dataclass(frozen=True, slots=True)
class And:
    """All of these hold."""

    conditions: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of these holds."""

    conditions: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """This does not hold."""

    condition: "Node"


@dataclass(frozen=True, slots=True)
class Compare:
    """left comparator right."""

    comparator: Comparator
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    """operand BETWEEN lower AND upper."""

    operand: Operand
    lower: Operand
    upper: Operand


@dataclass(frozen=True, slots=True)
class In:
    """operand IN (candidates)."""

    operand: Operand
    candidates: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class AttributeExists:
    """attribute_exists(path)."""

    path: Path


@dataclass(frozen=True, slots=True)
class AttributeNotExists:
    """attribute_not_exists(path)."""

    path: Path


@dataclass(frozen=True, slots=True)
class AttributeType:
    """attribute_type(operand, type name)."""

    operand: Operand
    type_name: Operand


@dataclass(frozen=True, slots=True)
class BeginsWith:
    """begins_with(operand, prefix)."""

    operand: Operand
    prefix: Operand


@dataclass(frozen=True, slots=True)
class Contains:
    """contains(operand, member)."""

    operand: Operand
    member: Operand


Node = (
    And
    | Or
    | Not
    | Compare
    | Between
    | In
    | AttributeExists
    | AttributeNotExists
    | AttributeType
    | BeginsWith
    | Contains
)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """left + right or left - right."""

    operator: OneOf["+", "-"]
    left: "Assigned"
    right: "Assigned"


@dataclass(frozen=True, slots=True)
class IfNotExists:
    """if_not_exists(path, default)."""

    path: Path
    default: "Assigned"


@dataclass(frozen=True, slots=True)
class ListAppend:
    """list_append(left, right)."""

    left: "Assigned"
    right: "Assigned"


Assigned = Path | Literal | Parameter | Arithmetic | IfNotExists | ListAppend


@dataclass(frozen=True, slots=True)
class Set:
    """SET path = value."""

    path: Path
    value: Assigned


@dataclass(frozen=True, slots=True)
class Remove:
    """REMOVE path."""

    path: Path


@dataclass(frozen=True, slots=True)
class Add:
    """ADD path value; the legacy form also appends to lists."""

    path: Path
    value: Literal | Parameter
    legacy: bool = False


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE path value."""

    path: Path
    value: Literal | Parameter
    legacy: bool = False


Action = Set | Remove | Add | Delete


def known_value(operand: Parameter | Literal, values: Values) -> Value:
    """The value of an operand that does not depend on the item."""
    return operand.value if isinstance(operand, Literal) else values[operand.name]
