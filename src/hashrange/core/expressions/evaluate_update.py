"""Compiles the values that an update writes into functions of the item as it was before the update."""

from collections.abc import Callable
from typing import Any, assert_never

from hashrange.core import effort, numbers, values
from hashrange.core.errors import Invalid
from hashrange.core.expressions import resolved
from hashrange.core.expressions.document_paths import find
from hashrange.core.values import Item, Value

Source = Callable[[Item, resolved.Values], Value]
# The value at the action's path after the action, None where the action removes it.
Result = Callable[[Item, resolved.Values], Value | None]

_SORTS: dict[str, Callable[[list[str]], list[str]]] = {
    "SS": values.sort_strings,
    "NS": values.sort_numbers,
    "BS": values.sort_binaries,
}

_FEW_MEMBERS = 100
_UNITS_PER_MEMBER = {"SS": 50, "NS": 300, "BS": 100}  # to sort them


def missing_attribute() -> Invalid:
    """A right-hand side needs a value that the item does not have."""
    return Invalid("The provided expression refers to an attribute that does not exist in the item")


def wrong_operand() -> Invalid:
    """A value in the item is not of the type that the action works on."""
    return Invalid("An operand in the update expression has an incorrect data type")


def source(assigned: resolved.Assigned) -> Source:
    """A right-hand side as a function of the old item and the request's values."""
    match assigned:
        case resolved.Literal(value):
            return lambda _item, _values: value
        case resolved.Parameter(name):
            return lambda _item, values: values[name]
        case resolved.Path():
            return _stored(assigned)
        case resolved.Arithmetic(operator, left, right):
            rule = numbers.add if operator == "+" else numbers.subtract
            return _arithmetic(rule, source(left), source(right))
        case resolved.IfNotExists(path, default):
            return _if_not_exists(path, source(default))
        case resolved.ListAppend(left, right):
            return _list_append(source(left), source(right))
        case _:
            assert_never(assigned)


def _stored(path: resolved.Path) -> Source:
    parts = path.parts

    def get(item: Item, values: resolved.Values) -> Value:
        value = find(item, parts)
        if value is None:
            raise missing_attribute()
        return value

    return get


def _arithmetic(rule: Callable[[str, str], str], left: Source, right: Source) -> Source:
    def get(item: Item, values: resolved.Values) -> Value:
        first = _content("N", left(item, values))
        return {"N": rule(first, _content("N", right(item, values)))}

    return get


def _content(kind: str, value: Value) -> Any:
    content = value.get(kind)
    if content is None:
        raise wrong_operand()
    return content


def _if_not_exists(path: resolved.Path, default: Source) -> Source:
    parts = path.parts

    def get(item: Item, values: resolved.Values) -> Value:
        # The service looks the default up even where it does not need it: a missing one is an error.
        fallback = default(item, values)
        value = find(item, parts)
        return fallback if value is None else value

    return get


def _list_append(left: Source, right: Source) -> Source:
    def get(item: Item, values: resolved.Values) -> Value:
        first = _content("L", left(item, values))
        return {"L": first + _content("L", right(item, values))}

    return get


def addition(action: resolved.Add) -> Result:
    """ADD: a number to a number, elements to a set of the same type, or either to nothing."""
    parts, operand, legacy = action.path.parts, source(action.value), action.legacy

    def get(item: Item, values: resolved.Values) -> Value | None:
        added, old = operand(item, values), find(item, parts)
        if old is None:
            return added
        ((kind, content),) = added.items()
        held = old.get(kind)
        if held is None:
            raise _mismatch(legacy=legacy)
        if kind == "N":
            return {"N": numbers.add(held, content)}
        if kind == "L":
            return {"L": held + content}
        _spend_on_members(kind, len(held) + len(content))
        return {kind: _SORTS[kind](list({*held, *content}))}

    return get


def deletion(action: resolved.Delete) -> Result:
    """DELETE: take elements out of a set; an emptied set goes away."""
    parts, operand, legacy = action.path.parts, source(action.value), action.legacy

    def get(item: Item, values: resolved.Values) -> Value | None:
        taken, old = operand(item, values), find(item, parts)
        if old is None:
            return None
        ((kind, content),) = taken.items()
        held = old.get(kind)
        if held is None:
            raise _mismatch(legacy=legacy)
        _spend_on_members("SS", len(held) + len(content))
        removed = frozenset(content)
        left = [member for member in held if member not in removed]
        return {kind: left} if left else None

    return get


def _spend_on_members(kind: str, count: int) -> None:
    """Count the work on sets: one small text can add a large set to many others."""
    if count > _FEW_MEMBERS:
        effort.spend(count * _UNITS_PER_MEMBER[kind])


def _mismatch(*, legacy: bool) -> Invalid:
    return Invalid("Type mismatch for attribute to update") if legacy else wrong_operand()
