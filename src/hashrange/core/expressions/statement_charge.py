"""The bytes that an update expression itself counts against the item size limit (measured on the service)."""

from collections.abc import Iterable
from typing import assert_never

import msgspec

from hashrange.core import values as attribute_values
from hashrange.core.expressions import resolved
from hashrange.core.expressions.resolved import known_value
from hashrange.core.limits import ITEM_BYTES_MAX

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
    """The bytes of an expression without its values, and the values whose sizes are added."""

    fixed: int
    written: tuple[resolved.Known, ...]

    def total(self, values: resolved.Values) -> int:
        """The charge with these values, or as much of it as no item can hold: one value may stand in many places."""
        total = self.fixed
        for operand in self.written:
            total += attribute_values.size(known_value(operand, values))
            if total > ITEM_BYTES_MAX:
                break
        return total


def charge(actions: Iterable[resolved.Action]) -> Charge:
    """The charge of these actions: for the text and for what they write; values that they only read are free."""
    fixed, written = _STATEMENT, list[resolved.Known]()
    for action in actions:
        fixed += _action(action)
        if isinstance(action, resolved.Set | resolved.Add):
            fixed += _assigned(action.value, written)
    return Charge(fixed, tuple(written))


def _action(action: resolved.Action) -> int:
    match action:
        case resolved.Set(path) | resolved.Add(path):
            return _WRITE + _target(path)
        case resolved.Remove(path) | resolved.Delete(path):
            return _CLEAR + _target(path)
        case _:
            assert_never(action)


def _target(path: resolved.Path) -> int:
    name, *rest = path.parts
    return _length(name) + sum(_TARGET_PART + _length(part) for part in rest)


def _assigned(assigned: resolved.Assigned, written: list[resolved.Known]) -> int:
    match assigned:
        case resolved.Literal() | resolved.Parameter():
            written.append(assigned)
            return 0
        case resolved.Path(parts):
            return _READ + sum(_READ_PART + _length(part) for part in parts)
        case resolved.Arithmetic(operator, left, right):
            return _SUM[operator] + _assigned(left, written) + _assigned(right, written)
        case resolved.IfNotExists(path, default):
            return _IF_NOT_EXISTS + _assigned(path, written) + _assigned(default, written)
        case resolved.ListAppend(left, right):
            return _LIST_APPEND + _assigned(left, written) + _assigned(right, written)
        case _:
            assert_never(assigned)


def _length(part: str | int) -> int:
    """An index counts for its decimal digits."""
    return len(str(part).encode("utf-8"))
