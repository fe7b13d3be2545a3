"""Which document paths an expression looks at or writes to."""

from collections.abc import Iterable
from typing import assert_never

import msgspec

from hashrange.core.expressions import resolved


class Mentions(msgspec.Struct, frozen=True):
    """Top-level names of the attributes that an expression mentions, and of those into which it has paths."""

    attributes: frozenset[str]
    nested: frozenset[str]


def mentions(paths: Iterable[resolved.Path]) -> Mentions:
    """What these paths mention."""
    known = list(paths)
    return Mentions(
        frozenset(str(path.parts[0]) for path in known),
        frozenset(str(path.parts[0]) for path in known if len(path.parts) > 1),
    )


def condition_paths(node: resolved.Node) -> list[resolved.Path]:
    """Every document path that a condition looks at, in the order of the text."""
    match node:
        case resolved.And(conditions) | resolved.Or(conditions):
            paths = []
            for inner in conditions:
                paths += condition_paths(inner)
            return paths
        case resolved.Not(inner):
            return condition_paths(inner)
        case resolved.Equivalent(inner, others):
            paths = condition_paths(inner)
            for other in others:
                if isinstance(other, resolved.Operand):
                    paths += _operand_paths(other)
                else:
                    paths += condition_paths(other)
            return paths
        case resolved.Compare(_, left, right):
            return _operand_paths(left, right)
        case resolved.Between(operand, lower, upper):
            return _operand_paths(operand, lower, upper)
        case resolved.In(operand, candidates):
            return _operand_paths(operand, *candidates)
        case resolved.AttributeExists(path) | resolved.AttributeNotExists(path):
            return [path]
        case (
            resolved.AttributeType(operand, other)
            | resolved.BeginsWith(operand, other)
            | resolved.Contains(operand, other)
        ):
            return _operand_paths(operand, other)
        case _:
            assert_never(node)


def looks(node: resolved.Node) -> int:
    """How many operators a condition has: each may look at all of an attribute, and an attribute be all of an item."""
    match node:
        case resolved.And(conditions) | resolved.Or(conditions):
            total = 0
            for inner in conditions:
                total += looks(inner)
            return total
        case resolved.Not(inner):
            return looks(inner)
        case resolved.In(_, candidates):
            return 1 + len(candidates)
        case resolved.Equivalent(inner, others):
            total = 1 + looks(inner)
            for other in others:
                total += 1 if isinstance(other, resolved.Operand) else looks(other)
            return total
        case _:
            return 1


def _operand_paths(*operands: resolved.Operand) -> list[resolved.Path]:
    paths: list[resolved.Path] = []
    for operand in operands:
        match operand:
            case resolved.Path():
                paths.append(operand)
            case resolved.Size(inner):
                paths += _operand_paths(inner)
            case resolved.Literal() | resolved.Parameter():
                pass
            case _:
                assert_never(operand)
    return paths


def action_paths(action: resolved.Action) -> list[resolved.Path]:
    """The path that an action writes to, then those that it reads."""
    if isinstance(action, resolved.Set):
        return [action.path, *assigned_paths(action.value)]
    return [action.path]


def assigned_paths(assigned: resolved.Assigned) -> list[resolved.Path]:
    """The paths that a right-hand side reads."""
    match assigned:
        case resolved.Path():
            return [assigned]
        case resolved.Arithmetic(_, left, right) | resolved.ListAppend(left, right):
            return [*assigned_paths(left), *assigned_paths(right)]
        case resolved.IfNotExists(path, default):
            return [path, *assigned_paths(default)]
        case resolved.Literal() | resolved.Parameter():
            return []
        case _:
            assert_never(assigned)
