"""Resolves update and projection expressions. The service goes through these from the last action to the first."""

from collections.abc import Iterable
from typing import assert_never

from hashrange.core.expressions import ast, checks
from hashrange.core.expressions.paths import clash
from hashrange.core.expressions.resolve import Scope
from hashrange.core.expressions.tree import (
    Action,
    Add,
    Arithmetic,
    Assigned,
    Delete,
    IfNotExists,
    ListAppend,
    Literal,
    Parameter,
    Path,
    Remove,
    Set,
)


def resolve_paths(scope: Scope, paths: Iterable[ast.PathRef]) -> list[Path]:
    """Real names for all paths, none of which may overlap or conflict with another; last one first."""
    resolved: list[Path] = []
    for path in reversed(list(paths)):
        here = scope.path(path)
        problem = clash(resolved, here)
        if problem is not None:
            scope.fault(problem)
        resolved.append(here)
    resolved.reverse()
    return resolved


def resolve_update(scope: Scope, actions: tuple[ast.ActionSyntax, ...]) -> tuple[Action, ...]:
    """The actions with real names: every target, then every operand, each from the last to the first."""
    targets = resolve_paths(scope, (action.target for action in actions))
    resolved = [
        _action(scope, action, target)
        for action, target in zip(reversed(actions), reversed(targets), strict=True)
    ]
    resolved.reverse()
    return tuple(resolved)


def _action(scope: Scope, action: ast.ActionSyntax, target: Path) -> Action:
    match action:
        case ast.ActionSyntax("SET", _, ast.Sum() as total):
            return Set(target, _sum(scope, total))
        case ast.ActionSyntax("ADD", _, ast.ValueRef() as value):
            return Add(target, _joined(scope, "ADD", value))
        case ast.ActionSyntax("DELETE", _, ast.ValueRef() as value):
            return Delete(target, _joined(scope, "DELETE", value))
        case ast.ActionSyntax(_, _, None):
            return Remove(target)
        case ast.ActionSyntax(_, _, ast.PathRef() | ast.ValueRef() | ast.Call() as operand):
            return Set(target, _assigned(scope, operand))
        case _:
            raise AssertionError(action)


def _joined(scope: Scope, operator: str, value: ast.ValueRef) -> Parameter:
    parameter = scope.value(value)
    scope.checks.append(checks.Joinable(operator, parameter))
    return parameter


def _sum(scope: Scope, total: ast.Sum) -> Arithmetic:
    left, right = _assigned(scope, total.left), _assigned(scope, total.right)
    scope.checks += _known_types(total.operator, (left, right), checks.NUMBER_TYPES)
    return Arithmetic(total.operator, left, right)


def _assigned(scope: Scope, operand: ast.Operand) -> Assigned:
    match operand:
        case ast.PathRef():
            return scope.path(operand)
        case ast.ValueRef():
            return scope.value(operand)
        case ast.Call(function, arguments):
            return _call(scope, function, tuple(_assigned(scope, argument) for argument in arguments))
        case _:
            assert_never(operand)


def _call(scope: Scope, function: str, operands: tuple[Assigned, ...]) -> Assigned:
    if not scope.count(function, len(operands)):
        return Path(())
    left, right = operands
    if function == "list_append":
        scope.checks += _known_types(function, operands, checks.LIST_TYPES)
        return ListAppend(left, right)
    if not isinstance(left, Path):
        scope.needs_path(function)
        return Path(())
    scope.distinct(function, left, (right,))
    return IfNotExists(left, right)


def _known_types(
    operator: str, operands: tuple[Assigned, ...], allowed: frozenset[str]
) -> list[checks.Check]:
    """Values have a type now; paths and functions only once the item is there."""
    return [
        checks.Typed(operator, operand, allowed)
        for operand in operands
        if isinstance(operand, Parameter | Literal)
    ]
