"""Values of items and operands in DynamoDB's JSON."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import Decimal

from hashrange.core import numbers
from hashrange.modeling import moments
from hashrange.modeling.model import Attribute, AttributeType, Now, Operand, Parameter

WireValue = dict[str, object]
WireItem = dict[str, WireValue]


class MissingParameter(ValueError):
    """A request needs a value that was not given."""


def operand_value(
    operand: Operand, attribute: Attribute | None, parameters: Mapping[str, object], now: int
) -> object:
    """The value of an operand; times have the form of the attribute that they are compared with."""
    match operand:
        case Parameter():
            if operand.name not in parameters:
                raise MissingParameter(f"no value for ?{operand.name}")
            return parameters[operand.name]
        case Now():
            return _moment(now - operand.seconds_before, attribute)
        case _:
            return operand


def _moment(seconds: int, attribute: Attribute | None) -> str | int:
    if attribute is not None and attribute.format == "date":
        return moments.date(seconds)
    if attribute is not None and (attribute.type == "N" or attribute.format == "epoch"):
        return seconds
    return moments.timestamp(seconds)


def wire_value(value: object, kind: AttributeType | None = None) -> WireValue:
    """A value with its type; `kind` decides where a Python type could be several of DynamoDB's."""
    if kind in ("SS", "NS", "BS") and isinstance(value, list | tuple | set | frozenset):
        return _set(value, kind)
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int() | float() | Decimal():
            return {"N": _number(value)}
        case str():
            return {"N": numbers.canonical(value)} if kind == "N" else {"S": value}
        case bytes():
            return {"B": base64.b64encode(value).decode("ascii")}
        case list() | tuple():
            return {"L": [wire_value(member) for member in value]}
        case set() | frozenset():
            return _set(value, "SS" if all(isinstance(member, str) for member in value) else "NS")
        case Mapping():
            return {"M": {str(name): wire_value(member) for name, member in value.items()}}
        case _:
            return {"S": str(value)}


def _number(value: float | Decimal) -> str:
    return numbers.canonical(format(value, "f") if isinstance(value, Decimal) else str(value))


def _set(
    members: list[object] | tuple[object, ...] | set[object] | frozenset[object], kind: str
) -> WireValue:
    wire = [next(iter(wire_value(member).values())) for member in members]
    return {kind: sorted(dict.fromkeys(map(str, wire)))}


def wire_item(values: Mapping[str, object], attributes: Mapping[str, Attribute]) -> WireItem:
    """An item as PutItem takes it."""
    return {
        name: wire_value(value, attributes[name].type if name in attributes else None)
        for name, value in values.items()
    }
