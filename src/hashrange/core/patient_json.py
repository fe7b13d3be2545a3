"""Reading large JSON piece by piece: one call of a JSON library holds up all other threads until it is done."""

import contextlib
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec

PIECE_BYTES = 32 * 1024  # a piece is read within a millisecond
# Attribute values may be nested 32 deep, which is 64 levels of JSON. Every level is looked through once more.
_LEVELS_MAX = 80
_SPACE = b" \t\r\n"
# An object with more members than this beyond the first of each that is in it, in more bytes than this, is cut.
_MEMBERS = 8_192
_OBJECT_BYTES = 128 * 1024
_COMMA = re.compile(rb",[ \t\r\n]{0,64}\"")
_GUESSES = 6
_TEXT_BYTES = 1024 * 1024  # a text larger than this is read in slices
_ESCAPE_BYTES = 6  # of the longest escape
_HIGH_SURROGATES = {b"d8", b"d9", b"da", b"db"}

Decode = Callable[[Any], Any]
_Split = Callable[[bytes | memoryview], Iterator[dict[str, msgspec.Raw]]]

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode


def loads(data: bytes | bytearray | memoryview, decode: Decode = msgspec.json.decode) -> Any:
    """What `decode` makes of the same JSON, in short calls of it. Raises what it raises, or a `DecodeError`."""
    if len(data) <= PIECE_BYTES:
        return decode(data)
    text = bytes(data).lstrip(_SPACE)
    split = _member_pieces if text.count(b":") > _MEMBERS else _all_members
    return _loads(text, decode, split, 1)


def _loads(data: bytes | memoryview, decode: Decode, split: _Split, level: int) -> Any:
    if len(data) <= PIECE_BYTES:
        return decode(data)
    if level > _LEVELS_MAX:
        raise RecursionError
    match bytes(data[:1]):
        case b"{":
            return {
                name: _loads(memoryview(raw), decode, split, level + 1)
                for members in split(data)
                for name, raw in members.items()
            }
        case b"[":
            return [
                value for piece in _pieces(_elements(data)) for value in _read(piece, decode, split, level)
            ]
        case b'"' if len(data) > _TEXT_BYTES:
            return "".join(_text_slices(bytes(data), decode))
        case _:
            return decode(data)


def _text_slices(text: bytes, decode: Decode) -> Iterator[str]:
    begin, end = 1, len(text) - 1
    while begin < end:
        stop = min(begin + PIECE_BYTES, end)
        if stop < end:
            stop = _slice_end(text, begin, stop)
        yield decode(b'"' + text[begin : stop if stop > begin else end] + b'"')
        begin = stop if stop > begin else end


def _slice_end(text: bytes, begin: int, stop: int) -> int:
    """The last place up to `stop` that is within no escape, no pair of them and no character."""
    last = text.rfind(b"\\", max(begin, stop - _ESCAPE_BYTES + 1), stop)
    if last >= 0 and _backslashes(text, begin, last + 1) % 2:
        stop = last  # an escape begins there, and may end behind
    escape = stop - _ESCAPE_BYTES
    if (
        text[stop : stop + 2] == b"\\u"
        and text[escape : escape + 2] == b"\\u"
        and text[escape + 2 : escape + 4].lower() in _HIGH_SURROGATES
        and _backslashes(text, begin, escape + 1) % 2
    ):
        stop = escape
    while begin < stop and text[stop] & 0xC0 == 0x80:
        stop -= 1
    return stop


def _backslashes(text: bytes, begin: int, stop: int) -> int:
    """How many there are in a row up to `stop`."""
    slice_ = text[begin:stop]
    return len(slice_) - len(slice_.rstrip(b"\\"))


def _all_members(data: bytes | memoryview) -> Iterator[dict[str, msgspec.Raw]]:
    yield _members(data)


def _member_pieces(data: bytes | memoryview) -> Iterator[dict[str, msgspec.Raw]]:
    """The members of an object, those of one with very many in several calls."""
    text = bytes(data)
    begin = 1
    # A colon for each member, a brace for each object; an empty one has no colon.
    if len(text) > _OBJECT_BYTES and text.count(b":") - text.count(b"{") + text.count(b"{}") > _MEMBERS:
        while (cut := _member_end(text, begin)) is not None:
            end, members = cut
            yield members
            begin = end + 1
    yield _members(text if begin == 1 else b"{" + text[begin:])


def _member_end(text: bytes, begin: int) -> tuple[int, dict[str, msgspec.Raw]] | None:
    """A comma that ends a member, some way behind the beginning of another; and what is between the two.

    It is guessed. If what is before it is an object when a brace is put behind it, then the guess was right.
    """
    size = _OBJECT_BYTES
    while begin + size < len(text):
        for guess in islice(_COMMA.finditer(text, begin + size), _GUESSES):
            piece = text[begin : guess.start()]
            with contextlib.suppress(msgspec.DecodeError):
                members = _members(b"{" + piece + b"}")
                if members:
                    return guess.start(), members
        size *= 2
    return None


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


def _read(piece: list[msgspec.Raw], decode: Decode, split: _Split, level: int) -> list[Any]:
    if len(piece) == 1:
        return [_loads(memoryview(piece[0]), decode, split, level + 1)]
    values: list[Any] = decode(b"[" + b",".join(piece) + b"]")
    return values
