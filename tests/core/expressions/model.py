"""A second opinion on conditions: plain Python values, one recursive function, no care for speed."""

import base64
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, assert_never

from hashrange.core.expressions import resolved
from hashrange.core.values import Value

_MISSING = ("missing", None)
Typed = tuple[str, Any]


def plain(value: Value) -> Typed:
    """A value as its type and a Python object that compares as the service compares."""
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return kind, Decimal(content)
        case "B":
            return kind, base64.b64decode(content)
        case "SS":
            return kind, frozenset(content)
        case "NS":
            return kind, frozenset(map(Decimal, content))
        case "BS":
            return kind, frozenset(map(base64.b64decode, content))
        case "L":
            return kind, tuple(plain(element) for element in content)
        case "M":
            return kind, {name: plain(entry) for name, entry in content.items()}
        case _:
            return kind, content


def holds(node: resolved.Node, item: Mapping[str, Value]) -> bool:
    """Whether the item meets the condition."""
    attributes = ("M", {name: plain(value) for name, value in item.items()})
    return _holds(node, attributes)


def _holds(node: resolved.Node, item: Typed) -> bool:
    match node:
        case resolved.And(conditions):
            return all(_holds(inner, item) for inner in conditions)
        case resolved.Or(conditions):
            return any(_holds(inner, item) for inner in conditions)
        case resolved.Not(inner):
            return not _holds(inner, item)
        case resolved.Equivalent(inner, others):
            truth = ("BOOL", _holds(inner, item))
            return any(
                truth
                == (
                    _value(other, item)
                    if isinstance(other, resolved.Operand)
                    else ("BOOL", _holds(other, item))
                )
                for other in others
            )
        case resolved.Compare(comparator, left, right):
            return _compare(comparator, _value(left, item), _value(right, item))
        case resolved.Between(operand, lower, upper):
            value = _value(operand, item)
            return _compare(">=", value, _value(lower, item)) and _compare("<=", value, _value(upper, item))
        case resolved.In(operand, candidates):
            value = _value(operand, item)
            return any(_compare("=", value, _value(candidate, item)) for candidate in candidates)
        case resolved.AttributeExists(path):
            return _value(path, item) != _MISSING
        case resolved.AttributeNotExists(path):
            return _value(path, item) == _MISSING
        case resolved.AttributeType(operand, name):
            return _value(operand, item)[0] == _value(name, item)[1]
        case resolved.BeginsWith(operand, prefix):
            return _starts(_value(operand, item), _value(prefix, item))
        case resolved.Contains(operand, member):
            return _contains(_value(operand, item), _value(member, item))
        case _:
            assert_never(node)


def _value(operand: resolved.Operand, item: Typed) -> Typed:
    match operand:
        case resolved.Literal(value):
            return plain(value)
        case resolved.Parameter():
            raise AssertionError(operand)
        case resolved.Path(parts):
            found = item
            for part in parts:
                kind, content = found
                if isinstance(part, str):
                    found = content.get(part, _MISSING) if kind == "M" else _MISSING
                else:
                    found = content[part] if kind == "L" and part < len(content) else _MISSING
            return found
        case resolved.Size(inner):
            kind, content = _value(inner, item)
            if kind in ("N", "BOOL", "NULL", "missing"):
                return _MISSING
            units = content.encode("utf-16-le") if kind == "S" else content
            return "N", Decimal(len(units) // 2 if kind == "S" else len(units))
        case _:
            assert_never(operand)


def _compare(comparator: str, left: Typed, right: Typed) -> bool:
    if _MISSING in (left, right):
        return comparator == "<>"
    if comparator in ("=", "<>"):
        return (left == right) is (comparator == "=")
    if left[0] != right[0] or left[0] not in ("S", "N", "B"):
        return False
    low, high = left[1], right[1]
    if left[0] == "S":
        low, high = low.encode(), high.encode()
    return bool({"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[comparator])


def _starts(value: Typed, prefix: Typed) -> bool:
    return value[0] == prefix[0] and value[0] in ("S", "B") and bool(value[1].startswith(prefix[1]))


def _contains(container: Typed, member: Typed) -> bool:
    kind, content = container
    if member == _MISSING:
        return False
    if kind == "L":
        return member in content
    if kind in ("S", "B"):
        return member[0] == kind and member[1] in content
    return kind == f"{member[0]}S" and kind in ("SS", "NS", "BS") and member[1] in content
