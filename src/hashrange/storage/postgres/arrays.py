"""Parameters in PostgreSQL's binary form."""

import struct
from collections.abc import Sequence

_BYTEA = 17
_INT8 = 20
_length = struct.Struct("!i")
_head = struct.Struct("!iiIii")  # dimensions, has nulls, element type, elements, lower bound
_integers = struct.Struct("!iq")
_double = struct.Struct("!d")


def bytea_array(values: Sequence[bytes]) -> bytes:
    """An array of byte strings."""
    parts = [_head.pack(1, 0, _BYTEA, len(values), 1)]
    for value in values:
        parts.append(_length.pack(len(value)))
        parts.append(value)
    return b"".join(parts)


def int8_array(values: Sequence[int]) -> bytes:
    """An array of 64-bit integers."""
    return _head.pack(1, 0, _INT8, len(values), 1) + b"".join(_integers.pack(8, value) for value in values)


def int8(value: int) -> bytes:
    """A 64-bit integer."""
    return value.to_bytes(8, "big", signed=True)


def int4(value: int) -> bytes:
    """A 32-bit integer."""
    return value.to_bytes(4, "big", signed=True)


def read_int8(value: bytes | None) -> int:
    """The number of a 64-bit result; null counts as zero."""
    return 0 if value is None else int.from_bytes(value, "big", signed=True)


def read_float8(value: bytes | None) -> float:
    """The number of a double; null counts as zero."""
    return 0.0 if value is None else float(_double.unpack(value)[0])
