"""Which document paths an expression looks at or writes to."""

from collections.abc import Iterable
from typing import assert_never

import msgspec

from hashrange.core.expressions.tree import (
    Action,
    And,
    Arithmetic,
    Assigned,
    AttributeExists,
    AttributeNotExists,
    AttributeType,
    BeginsWith,
    Between,
    Compare,
    Contains,
    IfNotExists,
    In,
    ListAppend,
    Literal,
    Node,
    Not,
    Operand,
    Or,
    Parameter,
    Path,
    Set,
    Size,
)


class Mentions(msgspec.Struct, frozen=True):
    """Top-level names of the attributes an expression mentions, and of those it looks into with . or []."""

    attributes: frozenset[str]
    nested: frozenset[str]


def mentions(paths: Iterable[Path]) -> Mentions:
    """What these paths mention."""
    known = list(paths)
    return Mentions(
        frozenset(str(path.parts[0]) for path in known),
        frozenset(str(path.parts[0]) for path in known if len(path.parts) > 1),
    )


def condition_paths(node: Node) -> list[Path]:
    """Every document path that a condition looks at, in the order of the text."""
    match node:
        case And(conditions) | Or(conditions):
            paths = []
            for inner in conditions:
                paths += condition_paths(inner)
            return paths
        case Not(inner):
            return condition_paths(inner)
        case Compare(_, left, right):
            return _operand_paths(left, right)
        case Between(operand, lower, upper):
            return _operand_paths(operand, lower, upper)
        case In(operand, candidates):
            return _operand_paths(operand, *candidates)
        case AttributeExists(path) | AttributeNotExists(path):
            return [path]
        case AttributeType(operand, other) | BeginsWith(operand, other) | Contains(operand, other):
            return _operand_paths(operand, other)
        case _:
            assert_never(node)


def _operand_paths(*operands: Operand) -> list[Path]:
    paths: list[Path] = []
    for operand in operands:
        match operand:
            case Path():
                paths.append(operand)
            case Size(inner):
                paths += _operand_paths(inner)
            case Literal() | Parameter():
                pass
            case _:
                assert_never(operand)
    return paths


def action_paths(action: Action) -> list[Path]:
    """The path that an action writes to, then those that it reads."""
    if isinstance(action, Set):
        return [action.path, *_assigned_paths(action.value)]
    return [action.path]


def _assigned_paths(assigned: Assigned) -> list[Path]:
    match assigned:
        case Path():
            return [assigned]
        case Arithmetic(_, left, right) | ListAppend(left, right):
            return [*_assigned_paths(left), *_assigned_paths(right)]
        case IfNotExists(path, default):
            return [path, *_assigned_paths(default)]
        case Literal() | Parameter():
            return []
        case _:
            assert_never(assigned)
