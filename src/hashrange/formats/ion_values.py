"""The mapping of exports between Ion's types and DynamoDB's, read backwards."""

import re
from collections.abc import Sequence

from hashrange.core.values import Value

NOT_ION = "The value is not valid Ion"
NULL: Value = {"NULL": True}
TRUE: Value = {"BOOL": True}
FALSE: Value = {"BOOL": False}
_SETS = {"$dynamodb_SS": "S", "$dynamodb_NS": "N", "$dynamodb_BS": "B"}
# An integer of more bits is out of range, and making its text would take long.
_INTEGER_BITS_MAX = 450
_OUT_OF_RANGE = "1e999"
_IDLE_POINT = re.compile(r"\.(?=e|\Z)")


class Unmapped(Exception):
    """A value that DynamoDB has nothing for."""


def no_type(ion_type: str) -> str:
    """Why there is no value."""
    return f"The Ion type {ion_type} has no DynamoDB type"


def number_text(value: str | int) -> str:
    """A number of DynamoDB JSON, from an integer or from the text of a decimal such as `6d2` or `103.`."""
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _INTEGER_BITS_MAX else _OUT_OF_RANGE
    return _IDLE_POINT.sub("", value.lower().replace("_", "").replace("d", "e"))


def set_of(annotations: Sequence[str | None], members: list[Value]) -> Value:
    """A list, or the set that an annotation says it is."""
    kinds = [_SETS[name] for name in annotations if name in _SETS]
    if not kinds:
        return {"L": members}
    kind = kinds[0]
    if any(kind not in member for member in members):
        raise Unmapped("The members of a set do not have the type of the set")
    return {kind + "S": [member[kind] for member in members]}
