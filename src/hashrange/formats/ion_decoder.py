"""One value of binary Ion as a value of DynamoDB JSON.

A type that DynamoDB has nothing for is noted and read over, as in text.
"""

from base64 import b64encode
from enum import IntEnum

from hashrange.core.limits import NESTING_LEVELS_MAX
from hashrange.core.values import TOO_DEEP, Item, Value
from hashrange.formats import limits
from hashrange.formats.errors import Garbage
from hashrange.formats.ion_values import FALSE, NOT_ION, NULL, TRUE, Unmapped, no_type, number_text, set_of

NULL_LENGTH = 15
_LENGTH_FOLLOWS = 14
_VAR_BYTES_MAX = 5
_NO_NAME = "An Ion field has no name"


class Kind(IntEnum):
    """The high half of a value's first byte."""

    NULL = 0
    BOOL = 1
    INT = 2
    NEGATIVE_INT = 3
    FLOAT = 4
    DECIMAL = 5
    TIMESTAMP = 6
    SYMBOL = 7
    STRING = 8
    CLOB = 9
    BLOB = 10
    LIST = 11
    SEXP = 12
    STRUCT = 13
    ANNOTATED = 14


_UNMAPPED = {Kind.FLOAT, Kind.TIMESTAMP, Kind.CLOB, Kind.SEXP}


class Decoder:
    """A position in the bytes of one top-level value."""

    def __init__(self, data: bytes, names: list[str | None]) -> None:
        """`names` are those of the symbols."""
        self._data = data
        self._names = names
        self._at = 0
        self._unmapped: str | None = None  # the first thing that no item can have

    def top_level_value(self) -> Value | Unmapped:
        """The value, or why no item can have it."""
        value = self._value(len(self._data), -1)
        return value if self._unmapped is None else Unmapped(self._unmapped)

    def annotations(self) -> list[str | None]:
        """Those of an annotated value; behind them stands the value itself."""
        _, end = self._head(len(self._data))
        return self._annotations(end)

    def struct(self) -> Item:
        """The members of the struct that stands here; none if it is something else."""
        members: Item = self._value(len(self._data), -1).get("M", {})
        return members

    def _head(self, limit: int) -> tuple[int, int]:
        """The first byte of the value that stands here, and where the value ends."""
        if self._at >= limit:
            raise Garbage(NOT_ION)
        head = self._data[self._at]
        self._at += 1
        length = head & 15
        if head >> 4 == Kind.BOOL or length == NULL_LENGTH:
            length = 0
        elif length == _LENGTH_FOLLOWS or head == Kind.STRUCT << 4 | 1:
            length = self._var_uint(limit)
        if self._at + length > limit:
            raise Garbage(NOT_ION)
        return head, self._at + length

    def _value(self, limit: int, level: int, annotations: tuple[str | None, ...] = ()) -> Value:
        """The value that stands here; the members of an item are at level 1."""
        head, end = self._head(limit)
        kind = head >> 4
        if head & 15 == NULL_LENGTH and kind < Kind.ANNOTATED:
            return NULL
        if kind == Kind.STRING:
            return {"S": self._text(end)}
        if kind == Kind.BOOL:
            return self._bool(head & 15)
        if kind in (Kind.LIST, Kind.STRUCT):
            return self._container(kind, end, level, annotations)
        if kind == Kind.ANNOTATED:
            return self._annotated(end, level, annotations)
        return self._scalar(kind, end)

    def _scalar(self, kind: int, end: int) -> Value:
        if kind == Kind.SYMBOL:
            return self._symbol(end)
        content = self._data[self._at : end]
        self._at = end
        match kind:
            case Kind.DECIMAL:
                return {"N": _decimal(content)}
            case Kind.INT:
                return {"N": number_text(int.from_bytes(content, "big"))}
            case Kind.NEGATIVE_INT if any(content):
                return {"N": number_text(-int.from_bytes(content, "big"))}
            case Kind.BLOB:
                return {"B": b64encode(content).decode("ascii")}
            case _ if kind in _UNMAPPED:
                return self._note(no_type(Kind(kind).name))
            case _:
                raise Garbage(NOT_ION)

    def _note(self, message: str) -> Value:
        self._unmapped = self._unmapped or message
        return NULL

    def _text(self, end: int) -> str:
        try:
            text = self._data[self._at : end].decode("utf-8")
        except UnicodeDecodeError:
            raise Garbage(NOT_ION) from None
        self._at = end
        return text

    def _bool(self, length: int) -> Value:
        if length > 1:
            raise Garbage(NOT_ION)
        return TRUE if length else FALSE

    def _symbol(self, end: int) -> Value:
        number = int.from_bytes(self._data[self._at : end], "big")
        self._at = end
        self._note(no_type("SYMBOL"))
        return {"SYMBOL": self._name(number)}

    def _name(self, number: int) -> str | None:
        if number >= len(self._names):
            raise Garbage(NOT_ION)
        return self._names[number]

    def _container(self, kind: int, end: int, level: int, annotations: tuple[str | None, ...]) -> Value:
        if level > limits.ION_LEVELS_MAX:
            raise Garbage(NOT_ION)
        if level > NESTING_LEVELS_MAX + 1:
            self._note(TOO_DEEP)
        if kind == Kind.STRUCT:
            return {"M": self._members(end, level + 1)}
        members = []
        while self._at < end:
            if not self._skips_padding(end):
                members.append(self._value(end, level + 1))
        try:
            return set_of(annotations, members)
        except Unmapped as unmapped:
            return self._note(str(unmapped))

    def _members(self, end: int, level: int) -> Item:
        members: Item = {}
        while self._at < end:
            number = self._var_uint(end)
            if self._skips_padding(end):
                continue
            name = self._name(number)
            unmapped = self._unmapped
            value = self._value(end, level)
            if level == 0 and "M" not in value:
                self._unmapped = unmapped  # no member that a record has
            if name is None:
                self._note(_NO_NAME)
            else:
                members[name] = value
        return members

    def _skips_padding(self, limit: int) -> bool:
        """Go over padding, if it stands here: a null with a length."""
        if self._at >= limit or self._data[self._at] >= NULL_LENGTH:
            return False
        _, self._at = self._head(limit)
        return True

    def _annotated(self, end: int, level: int, outer: tuple[str | None, ...]) -> Value:
        if outer:
            raise Garbage(NOT_ION)
        annotations = tuple(self._annotations(end))
        value = self._value(end, level, annotations)
        if self._at != end:
            raise Garbage(NOT_ION)
        return value

    def _annotations(self, end: int) -> list[str | None]:
        size = self._var_uint(end)
        limit = self._at + size
        if not size or limit >= end:
            raise Garbage(NOT_ION)
        annotations: list[str | None] = []
        while self._at < limit:
            annotations.append(self._name(self._var_uint(limit)))
            if len(annotations) > limits.ION_ANNOTATIONS_MAX:
                raise Garbage(NOT_ION)
        return annotations

    def _var_uint(self, limit: int) -> int:
        """A number in groups of seven bits, the last of which has the high bit."""
        number = 0
        for at in range(self._at, min(limit, self._at + _VAR_BYTES_MAX)):
            byte = self._data[at]
            number = number << 7 | byte & 127
            if byte & 128:
                self._at = at + 1
                return number
        raise Garbage(NOT_ION)


def _decimal(content: bytes) -> str:
    """An exponent, whose second bit is its sign, and a coefficient, whose first bit is its sign."""
    if not content:
        return "0"
    exponent = content[0] & 63
    at = 1
    while not content[at - 1] & 128:
        if at >= min(len(content), _VAR_BYTES_MAX):
            raise Garbage(NOT_ION)
        exponent = exponent << 7 | content[at] & 127
        at += 1
    if content[0] & 64:
        exponent = -exponent
    coefficient = int.from_bytes(content[at:], "big")
    if at < len(content) and content[at] & 128:
        coefficient = (1 << 8 * (len(content) - at) - 1) - coefficient
    text = number_text(coefficient)
    return text if "e" in text else f"{text}e{exponent}"
