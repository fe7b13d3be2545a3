"""CBOR (RFC 8949) as Smithy's RPC protocol uses it: JSON's values, bytes, and moments under tag 1.

A decoder of our own: those of libraries make objects of a dozen tags (regular expressions, big decimals, references),
each of which a client could send, and none of which this protocol has. This one knows nothing but the subset, and
stops at a depth and at a number of values that no request needs.
"""

import base64
import math
import struct
from typing import Any

from hashrange.api.errors import serialization, too_many_values
from hashrange.api.protocol.kinds import Double, Kind, ListOf, MapOf, Member, Struct, Timestamp

VALUES_MAX = 100_000
LEVELS_MAX = 32
_LONG_MIN = -(2**63)
_INDEFINITE = 31
_EPOCH_TAG = 1
_FLOATS = {25: struct.Struct(">e"), 26: struct.Struct(">f"), 27: struct.Struct(">d")}
_SIMPLE: dict[int, bool | None] = {20: False, 21: True, 22: None, 23: None}
_DOUBLE = struct.Struct(">Bd")


def loads(body: bytes | bytearray) -> dict[str, Any]:
    """A request's CBOR, which must be one map, as the values that JSON would have."""
    reader = _Reader(bytes(body))
    content = reader.value(0)
    if not isinstance(content, dict) or reader.at != len(body):
        raise serialization(None)
    return content


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._values = 0
        self.at = 0

    def value(self, level: int) -> Any:
        self._values += 1
        if self._values > VALUES_MAX:
            raise too_many_values()
        if level > LEVELS_MAX:
            raise serialization(None)
        major, info = divmod(self._take(1)[0], 32)
        match major:
            case 0:
                return self._argument(info)
            case 1:
                return self._negative(info)
            case 2:
                return base64.b64encode(self._string(major, info)).decode()
            case 3:
                return _text(self._string(major, info))
            case 4:
                return self._list(info, level)
            case 5:
                return self._map(info, level)
            case 6:
                return self._tagged(info, level)
            case _:
                return self._simple(info)

    def _take(self, size: int) -> bytes:
        piece = self._data[self.at : self.at + size]
        if len(piece) < size:
            raise serialization(None)
        self.at += size
        return piece

    def _argument(self, info: int) -> int:
        if info < 24:
            return info
        if info > 27:
            raise serialization(None)
        return int.from_bytes(self._take(1 << (info - 24)), "big")

    def _negative(self, info: int) -> int:
        value = -1 - self._argument(info)
        if value < _LONG_MIN:
            raise serialization(None)
        return value

    def _string(self, major: int, info: int) -> bytes:
        if info != _INDEFINITE:
            return self._take(self._argument(info))
        pieces = []
        while not self._ended():
            kind, info = divmod(self._take(1)[0], 32)
            self._values += 1
            if kind != major or info == _INDEFINITE or self._values > VALUES_MAX:
                raise serialization(None)
            pieces.append(self._take(self._argument(info)))
        return b"".join(pieces)

    def _ended(self) -> bool:
        """Whether an indefinite value ends here; its end is then read."""
        if self._data[self.at : self.at + 1] != b"\xff":
            return False
        self.at += 1
        return True

    def _list(self, info: int, level: int) -> list[Any]:
        elements: list[Any] = []
        # A length is only believed as far as there is data: nothing is made before its element is read.
        left = math.inf if info == _INDEFINITE else self._argument(info)
        while len(elements) < left and not (info == _INDEFINITE and self._ended()):
            elements.append(self.value(level + 1))
        return elements

    def _map(self, info: int, level: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        left = math.inf if info == _INDEFINITE else self._argument(info)
        entries = 0
        while entries < left and not (info == _INDEFINITE and self._ended()):
            name = self.value(level + 1)
            if not isinstance(name, str):
                raise serialization(None)
            members[name] = self.value(level + 1)
            entries += 1
        return members

    def _tagged(self, info: int, level: int) -> Any:
        tag = self._argument(info)
        content = self.value(level + 1)
        if tag == _EPOCH_TAG and (isinstance(content, bool) or not isinstance(content, int | float)):
            raise serialization(None)
        return content

    def _simple(self, info: int) -> Any:
        if info in _FLOATS:
            layout = _FLOATS[info]
            return _number(layout.unpack(self._take(layout.size))[0])
        if info not in _SIMPLE:
            raise serialization(None)
        return _SIMPLE[info]


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise serialization(None) from None


def _number(value: float) -> float | str:
    """A float, or the word that stands for it in JSON, which has no digits for some."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def dumps(content: dict[str, Any], members: dict[str, Member]) -> bytes:
    """A structure of the service's model."""
    pieces: list[bytes] = []
    _write_members(pieces, content, members)
    return b"".join(pieces)


def _write_members(pieces: list[bytes], content: dict[str, Any], members: dict[str, Member]) -> None:
    pieces.append(_head(5, len(content)))
    for name, value in content.items():
        _write_text(pieces, name)
        _write(pieces, value, members[name].kind)


def _write(pieces: list[bytes], value: Any, kind: Kind) -> None:
    match kind:
        case Struct():
            _write_members(pieces, value, kind.members)
        case ListOf():
            pieces.append(_head(4, len(value)))
            for element in value:
                _write(pieces, element, kind.element)
        case MapOf():
            pieces.append(_head(5, len(value)))
            for name, element in value.items():
                _write_text(pieces, name)
                _write(pieces, element, kind.element)
        case Timestamp():
            pieces.append(b"\xc1" + _DOUBLE.pack(0xFB, value))
        case Double():
            pieces.append(_DOUBLE.pack(0xFB, value))
        case _:
            _write_scalar(pieces, value)


def _write_scalar(pieces: list[bytes], value: Any) -> None:
    if isinstance(value, bool):
        pieces.append(b"\xf5" if value else b"\xf4")
    elif isinstance(value, int):
        pieces.append(_head(0, value) if value >= 0 else _head(1, -1 - value))
    else:
        _write_text(pieces, value)


def _write_text(pieces: list[bytes], text: str) -> None:
    encoded = text.encode()
    pieces.append(_head(3, len(encoded)))
    pieces.append(encoded)


def _head(major: int, argument: int) -> bytes:
    if argument < 24:
        return bytes((major * 32 + argument,))
    for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if argument < 1 << (8 * size):
            return bytes((major * 32 + info,)) + argument.to_bytes(size, "big")
    raise ValueError(argument)


def plain(members: dict[str, str]) -> bytes:
    """A map of texts, such as an error."""
    pieces = [_head(5, len(members))]
    for name, text in members.items():
        _write_text(pieces, name)
        _write_text(pieces, text)
    return b"".join(pieces)
