"""Binary Ion as values of DynamoDB JSON (Ion specification: binary encoding).

Top-level values are cut out of what arrives by their lengths, each within limits, and decoded one by one. Names are
numbers in tables of symbols, which stand between the values.
"""

from collections.abc import Iterable, Iterator

from hashrange.core.values import Value
from hashrange.formats import limits
from hashrange.formats.errors import Garbage
from hashrange.formats.ion_decoder import NULL_LENGTH, Decoder, Kind
from hashrange.formats.ion_symbols import Symbols
from hashrange.formats.ion_values import NOT_ION, Unmapped

MARKER = b"\xe0\x01\x00\xea"
_TOO_LONG = "The value is too long to be an item"
_LENGTH_FOLLOWS = 14
_VAR_BYTES_MAX = 5


def values(chunks: Iterable[bytes]) -> Iterator[Value | Unmapped]:
    """All top-level values, and in place of those that no item can have why that is so."""
    source = _Bytes(chunks)
    symbols = Symbols()
    while not source.is_at_end():
        head = source.take(1)
        if head == MARKER[:1]:
            if head + source.take(3) != MARKER:
                raise Garbage(NOT_ION)
            symbols.reset()
            continue
        value = _value(source, head)
        if not symbols.take(value) and not _is_padding(head[0]):
            yield Decoder(value, symbols.names).top_level_value()


class _Bytes:
    """Chunks of which any number of bytes can be taken."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._data = bytearray()

    def take(self, count: int) -> bytes:
        """Exactly so many bytes."""
        while len(self._data) < count:
            chunk = next(self._chunks, None)
            if chunk is None:
                raise Garbage(NOT_ION)
            self._data += chunk
        taken = bytes(self._data[:count])
        del self._data[:count]
        return taken

    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        while not self._data:
            chunk = next(self._chunks, None)
            if chunk is None:
                return True
            self._data += chunk
        return False


def _is_padding(head: int) -> bool:
    return head >> 4 == Kind.NULL and head & 15 != NULL_LENGTH


def _value(source: _Bytes, head: bytes) -> bytes:
    """A value with its head; a table of symbols may be longer than an item."""
    kind, length = head[0] >> 4, head[0] & 15
    longest = limits.ION_SYMBOLS_BYTES_MAX if kind == Kind.ANNOTATED else limits.ION_BINARY_BYTES_MAX
    extra = b""
    if kind == Kind.BOOL or length == NULL_LENGTH:
        size = 0
    elif length == _LENGTH_FOLLOWS or (kind == Kind.STRUCT and length == 1):
        extra, size = _var_uint(source)
    else:
        size = length
    if size > longest:
        raise Garbage(_TOO_LONG)
    return head + extra + source.take(size)


def _var_uint(source: _Bytes) -> tuple[bytes, int]:
    """A number in groups of seven bits, the last of which has the high bit."""
    written, number = b"", 0
    while len(written) < _VAR_BYTES_MAX:
        byte = source.take(1)
        written += byte
        number = number << 7 | byte[0] & 127
        if byte[0] & 128:
            return written, number
    raise Garbage(NOT_ION)
