"""Reading large JSON piece by piece: one call of a JSON library holds up all other threads until it is done."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

PIECE_BYTES = 32 * 1024  # a piece is read within a millisecond
# Attribute values may be nested 32 deep, which is 64 levels of JSON. Every level is looked through once more.
_LEVELS_MAX = 80
_SPACE = b" \t\r\n"

Decode = Callable[[Any], Any]

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode


def loads(data: bytes | bytearray | memoryview, decode: Decode = msgspec.json.decode) -> Any:
    """What `decode` makes of the same JSON, in short calls of it. Raises what it raises, or a `DecodeError`."""
    return decode(data) if len(data) <= PIECE_BYTES else _loads(bytes(data).lstrip(_SPACE), decode, 1)


def _loads(data: bytes | memoryview, decode: Decode, level: int) -> Any:
    if len(data) <= PIECE_BYTES:
        return decode(data)
    if level > _LEVELS_MAX:
        raise RecursionError
    match bytes(data[:1]):
        case b"{":
            return {name: _loads(memoryview(raw), decode, level + 1) for name, raw in _members(data).items()}
        case b"[":
            return [value for piece in _pieces(_elements(data)) for value in _read(piece, decode, level)]
        case _:
            return decode(data)


def _pieces(elements: list[msgspec.Raw]) -> Iterator[list[msgspec.Raw]]:
    """Elements that are read in one call: a large one by itself, small ones together."""
    piece: list[msgspec.Raw] = []
    size = 0
    for element in elements:
        length = len(memoryview(element))
        if piece and size + length > PIECE_BYTES:
            yield piece
            piece, size = [], 0
        piece.append(element)
        size += length
    if piece:
        yield piece


def _read(piece: list[msgspec.Raw], decode: Decode, level: int) -> list[Any]:
    if len(piece) == 1:
        return [_loads(memoryview(piece[0]), decode, level + 1)]
    values: list[Any] = decode(b"[" + b",".join(piece) + b"]")
    return values
