"""The nodes of resolved expressions: they have real attribute names. Legacy parameters and PartiQL make them too."""

from collections.abc import Mapping
from typing import Literal as OneOf

import msgspec

from hashrange.core.values import Value

Values = Mapping[str, Value]
Comparator = OneOf["=", "<>", "<", "<=", ">", ">="]


class Path(msgspec.Struct, frozen=True):
    """A document path: the attribute's name, then map keys and list indexes."""

    parts: tuple[str | int, ...]

    def __str__(self) -> str:
        """The path as the service's messages show it: [a, b, [0]]."""
        return f"[{', '.join(f'[{part}]' if isinstance(part, int) else part for part in self.parts)}]"


class Literal(msgspec.Struct, frozen=True):
    """A value that the expression itself holds."""

    value: Value


class Parameter(msgspec.Struct, frozen=True):
    """A `:placeholder`: every request brings its own value, so that the tree around it can be cached."""

    name: str


class Size(msgspec.Struct, frozen=True):
    """size(operand)."""

    operand: "Operand"


# An operand whose value the request fixes, whatever the item is.
Known = Literal | Parameter
Operand = Path | Literal | Parameter | Size


class And(msgspec.Struct, frozen=True):
    """All of these hold."""

    conditions: tuple["Node", ...]


class Or(msgspec.Struct, frozen=True):
    """At least one of these holds."""

    conditions: tuple["Node", ...]


class Not(msgspec.Struct, frozen=True):
    """This does not hold."""

    condition: "Node"


class Equivalent(msgspec.Struct, frozen=True):
    """The condition is as true or false as one of the others; PartiQL compares conditions with booleans."""

    condition: "Node"
    others: tuple["Node | Operand", ...]


class Compare(msgspec.Struct, frozen=True):
    """left comparator right."""

    comparator: Comparator
    left: Operand
    right: Operand


class Between(msgspec.Struct, frozen=True):
    """operand BETWEEN lower AND upper."""

    operand: Operand
    lower: Operand
    upper: Operand


class In(msgspec.Struct, frozen=True):
    """operand IN (candidates)."""

    operand: Operand
    candidates: tuple[Operand, ...]


class AttributeExists(msgspec.Struct, frozen=True):
    """attribute_exists(path)."""

    path: Path


class AttributeNotExists(msgspec.Struct, frozen=True):
    """attribute_not_exists(path)."""

    path: Path


class AttributeType(msgspec.Struct, frozen=True):
    """attribute_type(operand, type name)."""

    operand: Operand
    type_name: Operand


class BeginsWith(msgspec.Struct, frozen=True):
    """begins_with(operand, prefix)."""

    operand: Operand
    prefix: Operand


class Contains(msgspec.Struct, frozen=True):
    """contains(operand, member)."""

    operand: Operand
    member: Operand


Node = (
    And
    | Or
    | Not
    | Equivalent
    | Compare
    | Between
    | In
    | AttributeExists
    | AttributeNotExists
    | AttributeType
    | BeginsWith
    | Contains
)


class Arithmetic(msgspec.Struct, frozen=True):
    """left + right or left - right."""

    operator: OneOf["+", "-"]
    left: "Assigned"
    right: "Assigned"


class IfNotExists(msgspec.Struct, frozen=True):
    """if_not_exists(path, default)."""

    path: Path
    default: "Assigned"


class ListAppend(msgspec.Struct, frozen=True):
    """list_append(left, right)."""

    left: "Assigned"
    right: "Assigned"


Assigned = Path | Literal | Parameter | Arithmetic | IfNotExists | ListAppend


class Set(msgspec.Struct, frozen=True):
    """SET path = value."""

    path: Path
    value: Assigned


class Remove(msgspec.Struct, frozen=True):
    """REMOVE path."""

    path: Path


class Add(msgspec.Struct, frozen=True):
    """ADD path value; the legacy form also appends to lists."""

    path: Path
    value: Known
    legacy: bool = False


class Delete(msgspec.Struct, frozen=True):
    """DELETE path value."""

    path: Path
    value: Known
    legacy: bool = False


Action = Set | Remove | Add | Delete


def known_value(operand: Known, values: Values) -> Value:
    """The value of an operand that the request fixes."""
    return operand.value if isinstance(operand, Literal) else values[operand.name]
