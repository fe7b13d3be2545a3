"""Attribute values as botocore has them: as in JSON, but for binary values, which are bytes."""

import base64
from typing import Any

from hashrange.core.values import Item, Value

WireItem = dict[str, dict[str, Any]]


def to_wire(item: Item) -> WireItem:
    """An item of a file, for a request."""
    return {name: _to_wire(value) for name, value in item.items()}


def _to_wire(value: Value) -> dict[str, Any]:
    ((kind, content),) = value.items()
    match kind:
        case "B":
            return {"B": base64.b64decode(content)}
        case "BS":
            return {"BS": [base64.b64decode(member) for member in content]}
        case "L":
            return {"L": [_to_wire(member) for member in content]}
        case "M":
            return {"M": to_wire(content)}
        case _:
            return value


def from_wire(item: WireItem) -> Item:
    """An item of an answer, as JSON has it."""
    return {name: _from_wire(value) for name, value in item.items()}


def _from_wire(value: dict[str, Any]) -> Value:
    ((kind, content),) = value.items()
    match kind:
        case "B":
            return {"B": _text(content)}
        case "BS":
            return {"BS": [_text(member) for member in content]}
        case "L":
            return {"L": [_from_wire(member) for member in content]}
        case "M":
            return {"M": from_wire(content)}
        case _:
            return value


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
