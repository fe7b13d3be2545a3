"""Binary Ion, cut into values by their lengths before anybody parses them (Ion specification: binary encoding)."""

from collections.abc import Iterable, Iterator

import msgspec

from hashrange.formats import limits
from hashrange.formats.errors import Garbage

MARKER = b"\xe0\x01\x00\xea"
_NOT_ION = "The object is not valid Ion"
_TOO_LONG = "The value is too long to be an item"
_TOO_DEEP = "The value is nested too deeply to be an item"
_STRUCT = 13
_ANNOTATED = 14
_CONTAINERS = (11, 12, _STRUCT, _ANNOTATED)  # lists and s-expressions before them
_SYMBOL_TABLE = 3  # $ion_symbol_table, in every table of symbols
_IMPORTS = 6
_LENGTH_FOLLOWS = 14
_NULL = 15
_VAR_BYTES_MAX = 5


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
                raise Garbage(_NOT_ION)
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


class Batch(msgspec.Struct, frozen=True):
    """Some top-level values, and what has to stand before them: the marker and the tables of symbols."""

    head: bytes
    values: list[bytes]


def batches(chunks: Iterable[bytes]) -> Iterator[Batch]:
    """All top-level values. They come together: a table of symbols may be long, and is not parsed for each of them."""
    batch = Batch(MARKER, [])
    size = 0
    try:
        for part in _parts(_Bytes(chunks)):
            if batch.values and (isinstance(part, Batch) or size + len(part) > limits.ION_BINARY_BYTES_MAX):
                yield batch
                batch, size = Batch(batch.head, []), 0
            if isinstance(part, Batch):
                batch = part
            else:
                batch.values.append(part)
                size += len(part)
    except Garbage:
        # What stands before it can be read.
        if batch.values:
            yield batch
        raise
    if batch.values:
        yield batch


def _parts(source: _Bytes) -> Iterator[Batch | bytes]:
    """Values, and empty batches with another head where the symbols change."""
    symbols: list[bytes] = []
    while not source.is_at_end():
        head = source.take(1)
        if head == MARKER[:1]:
            if head + source.take(3) != MARKER:
                raise Garbage(_NOT_ION)
            symbols = []
            yield Batch(MARKER, [])
            continue
        value = _value(source, head)
        table = _table_kind(value)
        if table is not None:
            symbols = [*(symbols if table == "more" else ()), value]
            if sum(map(len, symbols)) > limits.ION_SYMBOLS_BYTES_MAX:
                raise Garbage(_TOO_LONG)
            yield Batch(MARKER + b"".join(symbols), [])
        elif not _is_padding(head[0]):
            _check_annotations(_Bytes([value]))
            yield value


def _check_annotations(source: _Bytes, level: int = 0, *, named: bool = False) -> None:
    """The parser takes time by the square of the annotations of one value."""
    if level > limits.ION_LEVELS_MAX:
        raise Garbage(_TOO_DEEP)
    while not source.is_at_end():
        if named:
            _var_uint(source)
        head = source.take(1)
        kind, content = head[0] >> 4, _value(source, head)
        if kind not in _CONTAINERS or head[0] & 15 == _NULL:
            continue
        inside = _Bytes([content[1:]])
        if head[0] & 15 == _LENGTH_FOLLOWS or (kind == _STRUCT and head[0] & 15 == 1):
            _var_uint(inside)
        if kind == _ANNOTATED:
            annotations = inside.take(_var_uint(inside)[1])
            if sum(byte >> 7 for byte in annotations) > limits.ION_ANNOTATIONS_MAX:
                raise Garbage(_NOT_ION)
        _check_annotations(inside, level + 1, named=kind == _STRUCT)


def _is_padding(head: int) -> bool:
    return head >> 4 == 0 and head & 15 != _NULL


def _value(source: _Bytes, head: bytes) -> bytes:
    kind, length = head[0] >> 4, head[0] & 15
    if kind == 15:
        raise Garbage(_NOT_ION)
    extra = b""
    if kind == 1 or length == _NULL:
        size = 0
    elif length == _LENGTH_FOLLOWS or (kind == 13 and length == 1):
        extra, size = _var_uint(source)
    else:
        size = length
    if size > limits.ION_BINARY_BYTES_MAX:
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
    raise Garbage(_NOT_ION)


def _table_kind(value: bytes) -> str | None:
    """Whether a value is a table of symbols, and if so whether it adds to those before it."""
    if value[0] >> 4 != _ANNOTATED:
        return None
    inside = _Bytes([value[1:]])
    try:
        if value[0] & 15 == _LENGTH_FOLLOWS:
            _var_uint(inside)
        _, annotations_size = _var_uint(inside)
        annotations = _Bytes([inside.take(annotations_size)])
        if _var_uint(annotations)[1] != _SYMBOL_TABLE:
            return None
        return "more" if _imports_current(inside) else "new"
    except Garbage:
        return None  # the parser says what is wrong with it


def _imports_current(table: _Bytes) -> bool:
    """Whether a struct begins with `imports: $ion_symbol_table`, as one that adds symbols does."""
    head = table.take(1)[0]
    if head >> 4 != 13:
        return False
    if head & 15 in {1, _LENGTH_FOLLOWS}:
        _var_uint(table)
    while not table.is_at_end():
        _, field = _var_uint(table)
        value = _value(table, table.take(1))
        if field == _IMPORTS:
            return value == b"\x71\x03"
    return False
