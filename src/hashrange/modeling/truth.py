"""Whether a condition holds for an item. As in DynamoDB, values of different types are neither equal nor in order."""

from collections.abc import Mapping
from decimal import Decimal
from typing import assert_never

from hashrange.modeling import moments
from hashrange.modeling.model import All, AnyOf, Comparison, Condition, Name, Not, Now, Operand, Parameter

_Number = int | float | Decimal


def holds(
    condition: Condition, item: Mapping[str, object], parameters: Mapping[str, object], now: int
) -> bool:
    """Whether it holds for an item, with the values that the application gives, at a time in epoch seconds."""
    match condition:
        case All():
            return all(holds(part, item, parameters, now) for part in condition.parts)
        case AnyOf():
            return any(holds(part, item, parameters, now) for part in condition.parts)
        case Not():
            return not holds(condition.part, item, parameters, now)
        case Comparison():
            return _compared(condition, item, parameters, now)
        case _:
            assert_never(condition)


def _compared(
    comparison: Comparison, item: Mapping[str, object], parameters: Mapping[str, object], now: int
) -> bool:
    is_there = comparison.attribute in item
    match comparison.operator:
        case "exists":
            return is_there
        case "not_exists":
            return not is_there
    value = item.get(comparison.attribute)
    operands = [_value(operand, item, parameters, now, value) for operand in comparison.operands]
    if not is_there or _MISSING in operands:
        return comparison.operator == "<>"
    return _related(comparison.operator, value, operands)


_MISSING = object()


def _value(
    operand: Operand, item: Mapping[str, object], parameters: Mapping[str, object], now: int, beside: object
) -> object:
    match operand:
        case Parameter():
            return parameters.get(operand.name, _MISSING)
        case Now():
            return moments.like(now - operand.seconds_before, beside)
        case Name():
            return item.get(operand.attribute, _MISSING)
        case _:
            return operand


def _related(operator: str, value: object, operands: list[object]) -> bool:
    match operator:
        case "=":
            return _same(value, operands[0])
        case "<>":
            return not _same(value, operands[0])
        case "in":
            return any(_same(value, operand) for operand in operands)
        case "between":
            low, high = (_order(value, operand) for operand in operands)
            return low is not None and high is not None and low >= 0 >= high
        case "begins_with":
            return _begins(value, operands[0])
        case "contains":
            return _contains(value, operands[0])
        case _:
            return _in_order(operator, _order(value, operands[0]))


def _in_order(operator: str, order: int | None) -> bool:
    if order is None:
        return False
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator]


def _is_number(value: object) -> bool:
    return isinstance(value, _Number) and not isinstance(value, bool)


def _decimal(value: object) -> Decimal:
    """The number as it is written: 0.1 is a tenth, as it is in DynamoDB."""
    return Decimal(str(value))


def _same(left: object, right: object) -> bool:
    if _is_number(left) and _is_number(right):
        return _decimal(left) == _decimal(right)
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return left == right


def _order(left: object, right: object) -> int | None:
    """Negative, zero or positive; None if the two have no order. Texts are in the order of their UTF-8."""
    if _is_number(left) and _is_number(right):
        first, second = _decimal(left), _decimal(right)
        return (first > second) - (first < second)
    if isinstance(left, str) and isinstance(right, str):
        left, right = left.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass")
    if isinstance(left, bytes) and isinstance(right, bytes):
        return (left > right) - (left < right)
    return None


def _begins(value: object, start: object) -> bool:
    match value, start:
        case (str(), str()):
            return value.startswith(start)
        case (bytes(), bytes()):
            return value.startswith(start)
        case _:
            return False


def _contains(value: object, part: object) -> bool:
    match value:
        case str():
            return isinstance(part, str) and part in value
        case bytes():
            return isinstance(part, bytes) and part in value
        case list() | tuple() | set() | frozenset():
            return any(_same(member, part) for member in value)
        case _:
            return False
