"""Makes conditions and updates out of trees that came from no expression: legacy, PartiQL, DAX."""

from collections.abc import Iterable
from typing import assert_never

from hashrange.core.expressions.evaluate import compile_condition
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
    Condition,
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
    Values,
)
from hashrange.core.expressions.update import Update, plan

_NO_VALUES: Values = {}


def condition(root: Node, values: Values = _NO_VALUES) -> Condition:
    """A condition from a tree with real names; `values` are for the Parameters in it, if any."""
    names = frozenset(str(path.parts[0]) for path in condition_paths(root))
    return Condition(root, values, names, compile_condition(root))


def update(actions: Iterable[Action], values: Values = _NO_VALUES) -> Update:
    """An update from actions with real names, whose paths must neither overlap nor conflict."""
    taken = tuple(actions)
    names = {str(path.parts[0]) for action in taken for path in _action_paths(action)}
    return Update(taken, values, frozenset(names), plan(taken))


def condition_paths(node: Node) -> list[Path]:
    """Every document path that a condition looks at, in the order of the text."""
    match node:
        case And(conditions) | Or(conditions):
            return [path for inner in conditions for path in condition_paths(inner)]
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


def _action_paths(action: Action) -> list[Path]:
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
