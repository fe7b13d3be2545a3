"""The checks that need the values of a request: resolving notes them once, binding runs them for every request."""

from typing import Any, assert_never

import msgspec

from hashrange.core.expressions import resolved
from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.order import compare
from hashrange.core.expressions.resolved import known_value
from hashrange.core.values import TYPE_NAMES, Value

ORDERED_TYPES = frozenset({"S", "N", "B"})
PREFIX_TYPES = frozenset({"S", "B"})
SIZED_TYPES = frozenset(TYPE_NAMES) - {"N", "BOOL", "NULL"}
NUMBER_TYPES = frozenset({"N"})
LIST_TYPES = frozenset({"L"})
STRING_TYPES = frozenset({"S"})

# The service prints these in the order of a Java hash set.
_ALL_TYPES = "{N,BS,L,BOOL,NS,M,S,SS,NULL,B}"
_LONG_TYPE_NAMES = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "Binary",
    "BOOL": "BOOL",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
}


class Fault(msgspec.Struct, frozen=True):
    """A flaw of the text or the names, which stands among the checks because the service reports in this order."""

    detail: str

    def run(self, values: resolved.Values) -> None:
        """Always fail."""
        raise Flaw(self.detail)


class Defined(msgspec.Struct, frozen=True):
    """A :placeholder must have a value."""

    name: str

    def run(self, values: resolved.Values) -> None:
        """The request must bring the value."""
        if self.name not in values:
            raise Flaw(
                f"An expression attribute value used in expression is not defined; attribute value: {self.name}"
            )


class Typed(msgspec.Struct, frozen=True):
    """An operand that the request fixes must have one of these types."""

    operator: str
    operand: resolved.Known
    allowed: frozenset[str]

    def run(self, values: resolved.Values) -> None:
        """The value must be of an allowed type."""
        kind = next(iter(known_value(self.operand, values)))
        if kind not in self.allowed:
            raise wrong_type(self.operator, kind)


class Joinable(msgspec.Struct, frozen=True):
    """ADD takes numbers and sets, DELETE sets; their messages have words of their own."""

    operator: str
    operand: resolved.Known

    def run(self, values: resolved.Values) -> None:
        """The value must be something that the action can work with."""
        kind = next(iter(known_value(self.operand, values)))
        if kind in _LONG_TYPE_NAMES and not (kind == "N" and self.operator == "ADD"):
            raise Flaw(
                "Incorrect operand type for operator or function; "
                f"operator: {self.operator}, operand type: {_LONG_TYPE_NAMES[kind]}, "
                "typeSet: ALLOWED_FOR_ADD_OPERAND"  # for DELETE too (measured)
            )


class TypeName(msgspec.Struct, frozen=True):
    """The second argument of attribute_type must name a type."""

    operand: resolved.Known

    def run(self, values: resolved.Values) -> None:
        """The value must be the name of a type."""
        name = known_value(self.operand, values)["S"]
        if name not in TYPE_NAMES:
            raise Flaw(f"Invalid attribute type name found; type: {name}, valid types: {_ALL_TYPES}")


class Bounds(msgspec.Struct, frozen=True):
    """Two bounds of BETWEEN that the request fixes must have one type and be in order."""

    lower: resolved.Known
    upper: resolved.Known

    def run(self, values: resolved.Values) -> None:
        """The lower bound must not be above the upper one."""
        lower, upper = known_value(self.lower, values), known_value(self.upper, values)
        difference = compare(lower, upper)
        if difference is not None and difference <= 0:
            return
        rule = "upper bound to be greater than or equal to lower bound" if difference else _SAME_TYPE
        raise Flaw(
            f"The BETWEEN operator requires {rule}; "
            f"lower bound operand: {_shown(lower)}, upper bound operand: {_shown(upper)}"
        )


_SAME_TYPE = "same data type for lower and upper bounds"

Check = Fault | Defined | Typed | Joinable | TypeName | Bounds


def wrong_type(operator: str, kind: str) -> Flaw:
    """An operand of a type that the operator cannot take."""
    return Flaw(
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {kind}"
    )


def type_checks(
    operator: str, operands: tuple[resolved.Operand, ...], allowed: frozenset[str]
) -> list[Check]:
    """Checks for the types of all operands that the request fixes; the type of a path depends on the item."""
    checks: list[Check] = []
    for operand in operands:
        match operand:
            case resolved.Parameter() | resolved.Literal():
                checks.append(Typed(operator, operand, allowed))
            case resolved.Size():
                if "N" not in allowed:
                    checks.append(Fault(wrong_type(operator, "N").detail))
            case resolved.Path():
                pass
            case _:
                assert_never(operand)
    return checks


def type_name_checks(operand: resolved.Operand) -> list[Check]:
    """Checks on the second argument of attribute_type: a string value that names a type."""
    match operand:
        case resolved.Parameter() | resolved.Literal():
            return [Typed("attribute_type", operand, STRING_TYPES), TypeName(operand)]
        case resolved.Path():
            return [Fault(wrong_type("attribute_type", _ALL_TYPES).detail)]
        case resolved.Size():
            return [Fault(wrong_type("attribute_type", "N").detail)]
        case _:
            assert_never(operand)


def _shown(value: Value) -> str:
    ((kind, content),) = value.items()
    return f"AttributeValue: {{{kind}:{_content(content)}}}"


def _content(content: Any) -> str:
    return str(content)
