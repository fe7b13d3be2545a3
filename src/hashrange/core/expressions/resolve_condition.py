"""Resolves conditions: real names for placeholders, and a note of the checks that the values must pass."""

from collections.abc import Callable
from typing import assert_never

from hashrange.core import limits
from hashrange.core.expressions import resolved, syntax, value_checks
from hashrange.core.expressions.scope import Scope


def resolve_condition(scope: Scope, condition: syntax.ConditionSyntax) -> resolved.Node:
    """The condition with real names; its checks go to the scope from left to right."""
    match condition:
        case syntax.Junction(connective, conditions):
            # A loop, not a comprehension: deep nesting must not cost two frames a level.
            nodes = []
            for inner in conditions:
                nodes.append(resolve_condition(scope, inner))  # noqa: PERF401
            return resolved.And(tuple(nodes)) if connective == "AND" else resolved.Or(tuple(nodes))
        case syntax.Negation(inner):
            return resolved.Not(resolve_condition(scope, inner))
        case syntax.Comparison():
            return _comparison(scope, condition)
        case syntax.Range():
            return _range(scope, condition)
        case syntax.Membership():
            return _membership(scope, condition)
        case syntax.Call(function, arguments):
            return _function(scope, function, arguments)
        case _:
            assert_never(condition)


def _operand(scope: Scope, operand: syntax.Operand) -> resolved.Operand:
    match operand:
        case syntax.PathRef():
            return scope.path(operand)
        case syntax.ValueRef():
            return scope.value(operand)
        case syntax.Call(function, arguments):
            operands = [_operand(scope, argument) for argument in arguments]
            if scope.count(function, len(operands)):
                scope.checks += value_checks.type_checks(function, (operands[0],), value_checks.SIZED_TYPES)
            return resolved.Size(operands[0])
        case _:
            assert_never(operand)


def _comparison(scope: Scope, comparison: syntax.Comparison) -> resolved.Compare:
    left, right = _operand(scope, comparison.left), _operand(scope, comparison.right)
    comparator = comparison.comparator
    if comparator not in ("=", "<>"):
        scope.checks += value_checks.type_checks(comparator, (left, right), value_checks.ORDERED_TYPES)
    scope.distinct(comparator, left, (right,))
    return resolved.Compare(comparator, left, right)


def _range(scope: Scope, span: syntax.Range) -> resolved.Between:
    operand, lower, upper = (_operand(scope, part) for part in (span.operand, span.lower, span.upper))
    scope.checks += value_checks.type_checks("BETWEEN", (operand, lower, upper), value_checks.ORDERED_TYPES)
    scope.distinct("BETWEEN", operand, (lower, upper))
    if isinstance(lower, resolved.Known) and isinstance(upper, resolved.Known):
        scope.checks.append(value_checks.Bounds(lower, upper))
    return resolved.Between(operand, lower, upper)


def _membership(scope: Scope, membership: syntax.Membership) -> resolved.In:
    operand = _operand(scope, membership.operand)
    candidates = tuple(_operand(scope, candidate) for candidate in membership.candidates)
    scope.distinct("IN", operand, candidates)
    if len(candidates) > limits.IN_OPERANDS_MAX:
        scope.fault(
            f"The IN operator is provided with too many operands; number of operands: {len(candidates)}"
        )
    return resolved.In(operand, candidates)


def _function(scope: Scope, function: str, arguments: tuple[syntax.Operand, ...]) -> resolved.Node:
    operands = tuple(_operand(scope, argument) for argument in arguments)
    if not scope.count(function, len(operands)):
        return resolved.And(())
    return _FUNCTIONS[function](scope, operands)


def _exists(scope: Scope, operands: tuple[resolved.Operand, ...]) -> resolved.Node:
    return resolved.AttributeExists(_only_path(scope, "attribute_exists", operands[0]))


def _not_exists(scope: Scope, operands: tuple[resolved.Operand, ...]) -> resolved.Node:
    return resolved.AttributeNotExists(_only_path(scope, "attribute_not_exists", operands[0]))


def _only_path(scope: Scope, function: str, operand: resolved.Operand) -> resolved.Path:
    if isinstance(operand, resolved.Path):
        return operand
    scope.needs_path(function)
    return resolved.Path(())


def _type(scope: Scope, operands: tuple[resolved.Operand, ...]) -> resolved.Node:
    operand, type_name = operands
    scope.distinct("attribute_type", operand, (type_name,))
    scope.checks += value_checks.type_name_checks(type_name)
    return resolved.AttributeType(operand, type_name)


def _begins_with(scope: Scope, operands: tuple[resolved.Operand, ...]) -> resolved.Node:
    operand, prefix = operands
    scope.checks += value_checks.type_checks("begins_with", operands, value_checks.PREFIX_TYPES)
    scope.distinct("begins_with", operand, (prefix,))
    return resolved.BeginsWith(operand, prefix)


def _contains(scope: Scope, operands: tuple[resolved.Operand, ...]) -> resolved.Node:
    operand, member = operands
    scope.distinct("contains", operand, (member,))
    return resolved.Contains(operand, member)


_FUNCTIONS: dict[str, Callable[[Scope, tuple[resolved.Operand, ...]], resolved.Node]] = {
    "attribute_exists": _exists,
    "attribute_not_exists": _not_exists,
    "attribute_type": _type,
    "begins_with": _begins_with,
    "contains": _contains,
}
