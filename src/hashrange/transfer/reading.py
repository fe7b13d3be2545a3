"""The changes that the files of a source make to a table, in order, each with its place."""

import hashlib
from collections.abc import Iterator
from typing import Literal

import msgspec

from hashrange.core.errors import Refused
from hashrange.core.keys import primary_key
from hashrange.core.mutation import PutCommand
from hashrange.core.schema import Table
from hashrange.core.values import Malformed
from hashrange.formats import manifest, plain_json
from hashrange.formats.compression import Compression, unpacked
from hashrange.formats.csv_rows import CsvOptions
from hashrange.formats.errors import Garbage, Rejection
from hashrange.formats.manifest import DataFile
from hashrange.formats.readers import InputOptions, item_rows, typed_records
from hashrange.formats.records import Record, Row, Unread, changes, put_command, rows
from hashrange.objects.interface import Bucket
from hashrange.transfer.errors import TransferError
from hashrange.transfer.table_schema import TableSchema
from hashrange.transfer.wire_values import to_wire
from hashrange.transfer.writing import Change, Delete, Put

FileFormat = Literal["csv", "dynamodb-json", "ion", "json-plain"]
_TYPED: dict[str, Literal["DYNAMODB_JSON", "ION"]] = {"dynamodb-json": "DYNAMODB_JSON", "ion": "ION"}


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """An object to read, and how."""

    key: str
    etag: str
    form: FileFormat
    compression: Compression
    csv: CsvOptions = CsvOptions()
    data_file: DataFile | None = None  # of an export
    incremental: bool = False


class FileChange(msgspec.Struct, frozen=True):
    """What one record says, or why it says nothing; `file` and `record` are where to go on behind it."""

    file: int
    record: int
    change: Change | None
    rejection: str = ""


class FilesSource(msgspec.Struct, frozen=True, kw_only=True):
    """Objects whose changes make a table, one after the other."""

    bucket: Bucket
    files: list[SourceFile]
    description: str
    item_count: int | None = None  # of records, as far as a manifest says it
    unique: bool = False  # whether every key is there once
    schema: TableSchema | None = None

    @property
    def fingerprint(self) -> str:
        """What changes when the source does: then nobody can go on where a run stopped."""
        digest = hashlib.sha256()
        for file in self.files:
            how = (file.key, file.etag, file.form, file.compression, file.csv, file.incremental)
            digest.update(msgspec.json.encode(how))
        return digest.hexdigest()

    def changes(self, table: Table, *, file: int = 0, record: int = 0) -> Iterator[FileChange]:
        """What the records from a place on say."""
        for number in range(file, len(self.files)):
            skipped = record if number == file else 0
            for change in self._file_changes(number, table):
                if change.record > skipped:
                    yield change

    def _file_changes(self, number: int, table: Table) -> Iterator[FileChange]:
        file = self.files[number]
        count = 0
        try:
            for outcome in _outcomes(self._chunks(file), file, table):
                _refuse_garbage(outcome)
                count += 1
                if isinstance(outcome, Rejection):
                    yield FileChange(number, count, None, f"{file.key}, record {count}: {outcome.message}")
                else:
                    yield FileChange(number, count, outcome)
        except Garbage as garbage:
            raise TransferError(f"{file.key}, record {count + 1}: {garbage.message}") from None
        if file.data_file is not None:
            manifest.check_count(file.data_file, count)

    def _chunks(self, file: SourceFile) -> Iterator[bytes]:
        stored = self.bucket.read(file.key, etag=file.etag)
        return stored if file.data_file is None else manifest.verified(stored, file.data_file)


def _refuse_garbage(outcome: Change | Rejection) -> None:
    if isinstance(outcome, Rejection) and outcome.stops:
        raise Garbage(outcome.message)


def _outcomes(chunks: Iterator[bytes], file: SourceFile, table: Table) -> Iterator[Change | Rejection]:
    if file.incremental:
        yield from _incremental(chunks, file, table)
        return
    if file.form == "csv":
        options = InputOptions(input_format="CSV", compression=file.compression, csv=file.csv)
        outcomes = item_rows(chunks, options, table)
    elif file.form == "json-plain":
        outcomes = rows(plain_json.records(unpacked(chunks, file.compression)), table)
    else:
        options = InputOptions(input_format=_TYPED[file.form], compression=file.compression)
        outcomes = item_rows(chunks, options, table)
    for outcome in outcomes:
        yield (_put(outcome.command) if isinstance(outcome, Row) else outcome)


def _put(command: PutCommand) -> Put:
    return Put(command.key, to_wire(command.item), command.size)


def _incremental(chunks: Iterator[bytes], file: SourceFile, table: Table) -> Iterator[Change | Rejection]:
    records = typed_records(unpacked(chunks, file.compression), _TYPED[file.form])
    for index, change in enumerate(changes(_read(records))):
        try:
            if change.new_image is None:
                yield Delete(primary_key.of_key(table, change.keys), to_wire(change.keys))
            else:
                yield _put(put_command(table, change.new_image))
        except Refused as refused:
            yield Rejection(index, refused.message)
        except Malformed:
            raise Garbage("The record is not one of an incremental export") from None


def _read(records: Iterator[Record | Unread]) -> Iterator[Record]:
    for record in records:
        if isinstance(record, Unread):
            raise Garbage(record.message)
        yield record
