"""Python's values for the service's and back, as boto3's resources have them."""

import base64
import hashlib
import zlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

Item: TypeAlias = dict[str, Any]  # attribute names and plain Python values
WireItem: TypeAlias = dict[str, Any]  # attribute names and values such as {"S": "text"}
Scalar: TypeAlias = str | int | Decimal | bytes  # what a key may be


def wire_value(value: object) -> dict[str, Any]:
    """The service's form of a value. Floats are refused: most decimal fractions would not survive them."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int() | Decimal():
            return {"N": str(value)}
        case bytes() | bytearray():
            return {"B": bytes(value)}
        case Mapping():
            return {"M": {str(name): wire_value(member) for name, member in value.items()}}
        case list() | tuple():
            return {"L": [wire_value(member) for member in value]}
        case set() | frozenset():
            return _wire_set(value)
        case _:
            raise TypeError(f"no attribute value: {type(value).__name__}")


def _wire_set(members: set[Any] | frozenset[Any]) -> dict[str, Any]:
    if members and all(isinstance(member, str) for member in members):
        return {"SS": sorted(members)}
    if members and all(isinstance(member, bytes) for member in members):
        return {"BS": sorted(members)}
    if members and all(isinstance(member, int | Decimal) for member in members):
        return {"NS": [str(member) for member in sorted(members)]}
    raise TypeError("a set holds one or more values of one type: text, numbers or bytes")


def plain_value(wire: Mapping[str, Any]) -> Any:
    """The Python value; a number without a fraction is an int, any other a Decimal."""
    ((kind, value),) = wire.items()
    match kind:
        case "N":
            return _number(value)
        case "M":
            return plain_item(value)
        case "L":
            return [plain_value(member) for member in value]
        case "SS" | "BS":
            return set(value)
        case "NS":
            return {_number(member) for member in value}
        case "NULL":
            return None
        case _:
            return value


def _number(text: str) -> int | Decimal:
    return int(text) if text.lstrip("-").isdigit() else Decimal(text)


def wire_item(item: Mapping[str, Any]) -> WireItem:
    return {name: wire_value(value) for name, value in item.items()}


def plain_item(item: Mapping[str, Any]) -> Item:
    return {name: plain_value(value) for name, value in item.items()}


def value_bytes(value: Any) -> int:
    """About what a value counts towards the service's limits; never less."""
    match value:
        case str():
            return len(value.encode())
        case bytes() | bytearray():
            return len(value)
        case Mapping():
            return 3 + sum(
                len(str(name).encode()) + 1 + value_bytes(member) for name, member in value.items()
            )
        case list() | tuple() | set() | frozenset():
            return 3 + sum(1 + value_bytes(member) for member in value)
        case _:
            return 21


def json_scalar(value: Scalar) -> list[str]:
    """A key's value in JSON: its type and its text."""
    ((kind, wire),) = wire_value(value).items()
    return [kind, base64.b64encode(wire).decode() if kind == "B" else wire]


def scalar_of_json(pair: object) -> Scalar:
    """The value again; ValueError if it is none."""
    match pair:
        case ["S", str() as text]:
            return text
        case ["N", str() as text] if text.lstrip("-").replace(".", "", 1).isdigit():
            return _number(text)
        case ["B", str() as text]:
            return base64.b64decode(text, validate=True)
        case _:
            raise ValueError("not the value of a key")


def digest(*parts: str) -> str:
    """Forty hexadecimal digits that stand for these texts, wherever the boundaries between them are."""
    hashed = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        hashed.update(b"%d:" % len(encoded) + encoded)
    return hashed.hexdigest()[:40]


def shard_of(value: object, shards: int) -> int:
    """The shard that a value belongs to: the CRC-32 of its text, which every language has.

    `shard(…)` of a model file and generated code mean the same, so a model can describe what patterns write.
    """
    return zlib.crc32(_shard_text(value).encode("utf-8", "surrogatepass")) % shards


def _shard_text(value: object) -> str:
    """One text for one value: 1 and 1.0 are the same number, and so the same item."""
    match value:
        case bool():
            return "true" if value else "false"
        case bytes() | bytearray():
            return value.hex()
        case int() | float() | Decimal():
            # Not `normalize`, which rounds to 28 digits where the service has 38.
            text = format(Decimal(str(value)), "f")
            text = text.rstrip("0").rstrip(".") if "." in text else text
            return "0" if text == "-0" else text
        case _:
            return str(value)
