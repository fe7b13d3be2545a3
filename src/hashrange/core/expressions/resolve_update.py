"""Resolves update and projection expressions, as the service does it: from the last action to the first."""

from collections.abc import Iterable
from typing import assert_never

from hashrange.core.expressions import resolved, syntax, value_checks
from hashrange.core.expressions.document_paths import PathTree
from hashrange.core.expressions.scope import Scope


def resolve_paths(scope: Scope, paths: Iterable[syntax.PathRef]) -> list[resolved.Path]:
    """Give all paths real names, the last one first; no two of them may overlap or conflict."""
    real: list[resolved.Path] = []
    tree = PathTree()
    for written in reversed(list(paths)):
        path = scope.path(written)
        problem = tree.add(path)
        if problem is not None:
            scope.fault(problem)
        real.append(path)
    real.reverse()
    return real


def resolve_update(scope: Scope, actions: tuple[syntax.ActionSyntax, ...]) -> tuple[resolved.Action, ...]:
    """Give the actions real names: all targets from the last to the first, then all operands likewise."""
    targets = resolve_paths(scope, (action.target for action in actions))
    last_first = [
        _action(scope, action, target)
        for action, target in zip(reversed(actions), reversed(targets), strict=True)
    ]
    return tuple(reversed(last_first))


def _action(scope: Scope, action: syntax.ActionSyntax, target: resolved.Path) -> resolved.Action:
    match action:
        case syntax.ActionSyntax("SET", _, syntax.Sum() as total):
            return resolved.Set(target, _sum(scope, total))
        case syntax.ActionSyntax("ADD", _, syntax.ValueRef() as value):
            return resolved.Add(target, _joined(scope, "ADD", value))
        case syntax.ActionSyntax("DELETE", _, syntax.ValueRef() as value):
            return resolved.Delete(target, _joined(scope, "DELETE", value))
        case syntax.ActionSyntax(_, _, None):
            return resolved.Remove(target)
        case syntax.ActionSyntax(_, _, syntax.PathRef() | syntax.ValueRef() | syntax.Call() as operand):
            return resolved.Set(target, _assigned(scope, operand))
        case _:
            raise AssertionError(action)


def _joined(scope: Scope, operator: str, value: syntax.ValueRef) -> resolved.Parameter:
    parameter = scope.value(value)
    scope.checks.append(value_checks.Joinable(operator, parameter))
    return parameter


def _sum(scope: Scope, total: syntax.Sum) -> resolved.Arithmetic:
    left, right = _assigned(scope, total.left), _assigned(scope, total.right)
    scope.checks += _known_types(total.operator, (left, right), value_checks.NUMBER_TYPES)
    return resolved.Arithmetic(total.operator, left, right)


def _assigned(scope: Scope, operand: syntax.Operand) -> resolved.Assigned:
    match operand:
        case syntax.PathRef():
            return scope.path(operand)
        case syntax.ValueRef():
            return scope.value(operand)
        case syntax.Call(function, arguments):
            return _call(scope, function, tuple(_assigned(scope, argument) for argument in arguments))
        case _:
            assert_never(operand)


def _call(scope: Scope, function: str, operands: tuple[resolved.Assigned, ...]) -> resolved.Assigned:
    if not scope.count(function, len(operands)):
        return resolved.Path(())
    left, right = operands
    if function == "list_append":
        scope.checks += _known_types(function, operands, value_checks.LIST_TYPES)
        return resolved.ListAppend(left, right)
    if not isinstance(left, resolved.Path):
        scope.needs_path(function)
        return resolved.Path(())
    scope.distinct(function, left, (right,))
    return resolved.IfNotExists(left, right)


def _known_types(
    operator: str, operands: tuple[resolved.Assigned, ...], allowed: frozenset[str]
) -> list[value_checks.Check]:
    """Checks for the types that the request fixes; those of paths and functions depend on the item."""
    return [
        value_checks.Typed(operator, operand, allowed)
        for operand in operands
        if isinstance(operand, resolved.Known)
    ]
