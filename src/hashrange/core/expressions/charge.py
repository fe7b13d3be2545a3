"""What an update statement itself counts for against the item size limit (measured on the service)."""

from typing import assert_never

from hashrange.core import values as attribute_values
from hashrange.core.expressions.checks import known_value
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
    Values,
)
from hashrange.core.expressions.update import Update

_STATEMENT = 3
_WRITE = 19
_CLEAR = 1
_TARGET_PART = 4
_READ = 1
_READ_PART = 14
_SUM = {"+": 34, "-": 37}
_IF_NOT_EXISTS = 39
_LIST_APPEND = 37


def update_charge(update: Update) -> int:
    """Bytes that the statement charges: what it writes and how it says so; what it only reads is free."""
    return _STATEMENT + sum(_action(action, update.values) for action in update.actions)


def _action(action: Action, values: Values) -> int:
    match action:
        case Set(path, value):
            # A SET of a list element costs one byte more.
            indexed = isinstance(path.parts[-1], int)
            return _WRITE + _target(path) + indexed + _assigned(value, values)
        case Add(path, value):
            return _WRITE + _target(path) + _assigned(value, values)
        case Remove(path) | Delete(path):
            return _CLEAR + _target(path)
        case _:
            assert_never(action)


def _target(path: Path) -> int:
    name, *rest = path.parts
    return _length(name) + sum(_TARGET_PART + _length(part) for part in rest)


def _assigned(assigned: Assigned, values: Values) -> int:
    match assigned:
        case Literal() | Parameter():
            return attribute_values.size(known_value(assigned, values))
        case Path(parts):
            return _READ + sum(_READ_PART + _length(part) for part in parts)
        case Arithmetic(operator, left, right):
            return _SUM[operator] + _assigned(left, values) + _assigned(right, values)
        case IfNotExists(path, default):
            return _IF_NOT_EXISTS + _assigned(path, values) + _assigned(default, values)
        case ListAppend(left, right):
            return _LIST_APPEND + _assigned(left, values) + _assigned(right, values)
        case _:
            assert_never(assigned)


def _length(part: str | int) -> int:
    return 0 if isinstance(part, int) else len(part.encode("utf-8"))
