"""What an update statement itself counts for against the item size limit (measured on the service)."""

from collections.abc import Iterable
from typing import assert_never

import msgspec

from hashrange.core import values as attribute_values
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
    known_value,
)

_STATEMENT = 3
_WRITE = 19
_CLEAR = 1
_TARGET_PART = 4
_READ = 1
_READ_PART = 14
_SUM = {"+": 34, "-": 37}
_IF_NOT_EXISTS = 39
_LIST_APPEND = 37


class Charge(msgspec.Struct, frozen=True):
    """What a statement charges whatever its values are, and the values whose size comes on top."""

    fixed: int
    written: tuple[Literal | Parameter, ...]

    def total(self, values: Values) -> int:
        """The charge with these values."""
        total = self.fixed
        for operand in self.written:
            total += attribute_values.size(known_value(operand, values))
        return total


def charge(actions: Iterable[Action]) -> Charge:
    """The charge of these actions: what they write and how they say so; what they only read is free."""
    fixed, written = _STATEMENT, list[Literal | Parameter]()
    for action in actions:
        fixed += _action(action)
        if isinstance(action, Set | Add):
            fixed += _assigned(action.value, written)
    return Charge(fixed, tuple(written))


def _action(action: Action) -> int:
    match action:
        case Set(path):
            # A SET of a list element costs one byte more.
            return _WRITE + _target(path) + isinstance(path.parts[-1], int)
        case Add(path):
            return _WRITE + _target(path)
        case Remove(path) | Delete(path):
            return _CLEAR + _target(path)
        case _:
            assert_never(action)


def _target(path: Path) -> int:
    name, *rest = path.parts
    return _length(name) + sum(_TARGET_PART + _length(part) for part in rest)


def _assigned(assigned: Assigned, written: list[Literal | Parameter]) -> int:
    match assigned:
        case Literal() | Parameter():
            written.append(assigned)
            return 0
        case Path(parts):
            return _READ + sum(_READ_PART + _length(part) for part in parts)
        case Arithmetic(operator, left, right):
            return _SUM[operator] + _assigned(left, written) + _assigned(right, written)
        case IfNotExists(path, default):
            return _IF_NOT_EXISTS + _assigned(path, written) + _assigned(default, written)
        case ListAppend(left, right):
            return _LIST_APPEND + _assigned(left, written) + _assigned(right, written)
        case _:
            assert_never(assigned)


def _length(part: str | int) -> int:
    return 0 if isinstance(part, int) else len(part.encode("utf-8"))
