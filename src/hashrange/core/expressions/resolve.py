"""Gives the names of a parsed expression their meaning and notes the checks that its values must pass."""

from collections.abc import Callable, Mapping
from typing import assert_never

from hashrange.core import limits
from hashrange.core.expressions import ast, checks
from hashrange.core.expressions.checks import Check, Defined, Fault
from hashrange.core.expressions.tree import (
    And,
    AttributeExists,
    AttributeNotExists,
    AttributeType,
    BeginsWith,
    Between,
    Compare,
    Contains,
    In,
    Literal,
    Node,
    Not,
    Operand,
    Or,
    Parameter,
    Path,
    Size,
)

_OPERAND_COUNTS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
    "if_not_exists": 2,
    "list_append": 2,
}


class Scope:
    """The names of a request; gathers what an expression uses and, in the service's order, what must be checked."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self.used_names: set[str] = set()
        self.used_values: set[str] = set()
        self.checks: list[Check] = []

    def fault(self, detail: str) -> None:
        """Note a flaw at this place among the checks."""
        self.checks.append(Fault(detail))

    def path(self, path: ast.PathRef) -> Path:
        """The path with real names in it."""
        parts: list[str | int] = []
        for part in path.parts:
            if isinstance(part, str) and part[0] == "#":
                name = self._names.get(part)
                if name is None:
                    self.fault(
                        "An expression attribute name used in the document path is not defined; "
                        f"attribute name: {part}"
                    )
                else:
                    self.used_names.add(part)
                    parts.append(name)
            else:
                parts.append(part)
        return Path(tuple(parts))

    def value(self, value: ast.ValueRef) -> Parameter:
        """The value's place."""
        self.used_values.add(value.name)
        self.checks.append(Defined(value.name))
        return Parameter(value.name)

    def count(self, function: str, operands: int) -> bool:
        """Whether a function has as many operands as it needs."""
        if operands == _OPERAND_COUNTS[function]:
            return True
        self.fault(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {function}, number of operands: {operands}"
        )
        return False

    def distinct(self, operator: str, first: object, rest: tuple[object, ...]) -> None:
        """The first operand may not be the same document path as one of the others."""
        if isinstance(first, Path) and first in rest:
            self.fault(
                "The first operand must be distinct from the remaining operands for this operator or function; "
                f"operator: {operator}, first operand: {first}"
            )

    def needs_path(self, function: str) -> None:
        """Note that something else stands where a document path must."""
        self.fault(f"Operator or function requires a document path; operator or function: {function}")


def resolve_condition(scope: Scope, condition: ast.ConditionSyntax) -> Node:
    """The condition with real names, its checks noted from left to right."""
    match condition:
        case ast.Junction(connective, conditions):
            # A loop, not a comprehension: deep nesting must not cost two frames a level.
            nodes = []
            for inner in conditions:
                nodes.append(resolve_condition(scope, inner))  # noqa: PERF401
            return And(tuple(nodes)) if connective == "AND" else Or(tuple(nodes))
        case ast.Negation(inner):
            return Not(resolve_condition(scope, inner))
        case ast.Comparison():
            return _comparison(scope, condition)
        case ast.Range():
            return _range(scope, condition)
        case ast.Membership():
            return _membership(scope, condition)
        case ast.Call(function, arguments):
            return _function(scope, function, arguments)
        case _:
            assert_never(condition)


def _operand(scope: Scope, operand: ast.Operand) -> Operand:
    match operand:
        case ast.PathRef():
            return scope.path(operand)
        case ast.ValueRef():
            return scope.value(operand)
        case ast.Call(function, arguments):
            resolved = [_operand(scope, argument) for argument in arguments]
            if scope.count(function, len(resolved)):
                scope.checks += checks.type_checks(function, (resolved[0],), checks.SIZED_TYPES)
            return Size(resolved[0])
        case _:
            assert_never(operand)


def _comparison(scope: Scope, comparison: ast.Comparison) -> Compare:
    left, right = _operand(scope, comparison.left), _operand(scope, comparison.right)
    comparator = comparison.comparator
    if comparator not in ("=", "<>"):
        scope.checks += checks.type_checks(comparator, (left, right), checks.ORDERED_TYPES)
    scope.distinct(comparator, left, (right,))
    return Compare(comparator, left, right)


def _range(scope: Scope, span: ast.Range) -> Between:
    operand, lower, upper = (_operand(scope, each) for each in (span.operand, span.lower, span.upper))
    scope.checks += checks.type_checks("BETWEEN", (operand, lower, upper), checks.ORDERED_TYPES)
    scope.distinct("BETWEEN", operand, (lower, upper))
    if isinstance(lower, Parameter | Literal) and isinstance(upper, Parameter | Literal):
        scope.checks.append(checks.Bounds(lower, upper))
    return Between(operand, lower, upper)


def _membership(scope: Scope, membership: ast.Membership) -> In:
    operand = _operand(scope, membership.operand)
    candidates = tuple(_operand(scope, candidate) for candidate in membership.candidates)
    scope.distinct("IN", operand, candidates)
    if len(candidates) > limits.IN_OPERANDS_MAX:
        scope.fault(
            f"The IN operator is provided with too many operands; number of operands: {len(candidates)}"
        )
    return In(operand, candidates)


def _function(scope: Scope, function: str, arguments: tuple[ast.Operand, ...]) -> Node:
    operands = tuple(_operand(scope, argument) for argument in arguments)
    if not scope.count(function, len(operands)):
        return And(())
    return _FUNCTIONS[function](scope, operands)


def _exists(scope: Scope, operands: tuple[Operand, ...]) -> Node:
    return AttributeExists(_only_path(scope, "attribute_exists", operands[0]))


def _not_exists(scope: Scope, operands: tuple[Operand, ...]) -> Node:
    return AttributeNotExists(_only_path(scope, "attribute_not_exists", operands[0]))


def _only_path(scope: Scope, function: str, operand: Operand) -> Path:
    if isinstance(operand, Path):
        return operand
    scope.needs_path(function)
    return Path(())


def _type(scope: Scope, operands: tuple[Operand, ...]) -> Node:
    operand, type_name = operands
    scope.distinct("attribute_type", operand, (type_name,))
    scope.checks += checks.type_name_checks(type_name)
    return AttributeType(operand, type_name)


def _begins_with(scope: Scope, operands: tuple[Operand, ...]) -> Node:
    operand, prefix = operands
    scope.checks += checks.type_checks("begins_with", operands, checks.PREFIX_TYPES)
    scope.distinct("begins_with", operand, (prefix,))
    return BeginsWith(operand, prefix)


def _contains(scope: Scope, operands: tuple[Operand, ...]) -> Node:
    operand, member = operands
    scope.distinct("contains", operand, (member,))
    return Contains(operand, member)


_FUNCTIONS: dict[str, Callable[[Scope, tuple[Operand, ...]], Node]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _not_exists,
    "attribute_type": _type,
    "begins_with": _begins_with,
    "contains": _contains,
}
