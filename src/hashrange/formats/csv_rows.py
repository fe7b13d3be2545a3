"""CSV: a header, or the names that the request gives, then one item per record (developer guide: CSV)."""

import codecs
import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from hashrange.core.schema import Table
from hashrange.core.values import Item, Malformed, canonical_base64
from hashrange.formats import limits
from hashrange.formats.errors import Garbage
from hashrange.formats.lines import lines
from hashrange.formats.records import Record, Unread

# For the whole process; nobody else reads CSV. Without it a field ends at 128 KB.
csv.field_size_limit(limits.CSV_FIELD_CHARS_MAX)

_NOT_CSV = "The line is not valid CSV"
_NOT_UTF8 = "The line is not valid UTF-8"
_TOO_LONG = "The record is too long to be an item"
_HEADER = "The header is not valid: its names must be different and not empty"
_COLUMNS = "The number of columns does not match the header"
_NOT_BASE64 = "The value of the key attribute {} is not valid base64"


class CsvOptions(msgspec.Struct, frozen=True):
    """InputFormatOptions.Csv."""

    delimiter: str = ","
    header: tuple[str, ...] | None = None  # with it the first line is data


class Columns(msgspec.Struct, frozen=True):
    """Which columns are anything but strings: the key attributes of the table and its indexes have their types."""

    table_keys: frozenset[str]
    types: Mapping[str, str]


def columns_of(table: Table) -> Columns:
    """The types of key attributes."""
    types = {attribute.name: attribute.type for index in table.indexes for attribute in index.keys}
    types |= {attribute.name: attribute.type for attribute in table.keys}
    return Columns(frozenset(attribute.name for attribute in table.keys), types)


def records(chunks: Iterable[bytes], options: CsvOptions, columns: Columns) -> Iterator[Record | Unread]:
    """The items of a file."""
    rows = _rows(chunks, options.delimiter)
    names = options.header or _header(rows)
    for index, row in enumerate(rows):
        if len(row) != len(names):
            yield Unread(index, _COLUMNS)
            continue
        try:
            yield Record(index, {"Item": _item(names, row, columns)})
        except _NotBase64 as error:
            yield Unread(index, str(error))


def _header(rows: Iterator[list[str]]) -> Sequence[str]:
    names = next(rows, [])
    if len(set(names)) != len(names) or "" in names or len(names) > limits.CSV_COLUMNS_MAX:
        raise Garbage(_HEADER)
    return names


def _rows(chunks: Iterable[bytes], delimiter: str) -> Iterator[list[str]]:
    """The fields of each record; one may have several lines, if they are inside quotes."""
    text = _Text(chunks)
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error:
            raise Garbage(_NOT_CSV) from None
        text.begin_record()
        if row is None:
            return
        if row:
            yield row


class _Text:
    """Lines as text, of which one record takes only so many bytes."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._lines = lines(chunks, limits.CSV_RECORD_BYTES_MAX)
        self._record_bytes = 0
        self._is_first = True

    def begin_record(self) -> None:
        """The reader has got all of a record."""
        self._record_bytes = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        if self._is_first:
            line = line.removeprefix(codecs.BOM_UTF8)
            self._is_first = False
        self._record_bytes += len(line)
        if self._record_bytes > limits.CSV_RECORD_BYTES_MAX:
            raise Garbage(_TOO_LONG)
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            raise Garbage(_NOT_UTF8) from None


class _NotBase64(Exception):
    """A key of type B is given in base64."""


def _item(names: Sequence[str], row: list[str], columns: Columns) -> Item:
    item: Item = {}
    for name, text in zip(names, row, strict=True):
        kind = columns.types.get(name, "S")
        # No index has an empty key: an item without one is not in it, which is what an empty cell says.
        if not text and name in columns.types and name not in columns.table_keys:
            continue
        if kind == "B":
            _check_base64(name, text)
        item[name] = {kind: text}
    return item


def _check_base64(name: str, text: str) -> None:
    try:
        canonical_base64(text)
    except Malformed:
        raise _NotBase64(_NOT_BASE64.format(name)) from None
