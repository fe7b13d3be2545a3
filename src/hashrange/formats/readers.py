"""The items of an object, whatever its format and compression."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from hashrange.core.schema import Table
from hashrange.formats import csv_rows, dynamodb_json
from hashrange.formats.compression import Compression, unpacked
from hashrange.formats.csv_rows import CsvOptions
from hashrange.formats.errors import Rejection
from hashrange.formats.records import Record, Row, Unread, rows

InputFormat = Literal["DYNAMODB_JSON", "ION", "CSV"]


class InputOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to read an import's objects; one format and compression for all of them, never guessed."""

    input_format: InputFormat
    compression: Compression = "NONE"
    csv: CsvOptions = CsvOptions()


def item_rows(chunks: Iterable[bytes], options: InputOptions, table: Table) -> Iterator[Row | Rejection]:
    """What an import of an object writes and what it reports."""
    return rows(_records(unpacked(chunks, options.compression), options, table), table)


def _records(plain: Iterator[bytes], options: InputOptions, table: Table) -> Iterator[Record | Unread]:
    if options.input_format == "CSV":
        return csv_rows.records(plain, options.csv, csv_rows.columns_of(table))
    return typed_records(plain, options.input_format)


def typed_records(
    plain: Iterator[bytes], input_format: Literal["DYNAMODB_JSON", "ION"]
) -> Iterator[Record | Unread]:
    """The records of a format that has the types of attributes in it."""
    match input_format:
        case "DYNAMODB_JSON":
            return dynamodb_json.records(plain)
        case "ION":
            from hashrange.formats import ion_reader  # noqa: PLC0415 - few servers ever need it

            return ion_reader.records(plain)
