"""Bulk puts: write a bucket's records into a table, as PutItem would, and report what was not written."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import msgspec
import orjson

from hashrange import logs
from hashrange.api.transfers.bulk_operations import bulk_arn
from hashrange.core import capacity, effort, indexes
from hashrange.core.errors import Invalid
from hashrange.core.mutation import Origin, Outcome, Rejected
from hashrange.core.schema import Table, changed
from hashrange.formats.bulk_records import (
    BulkRecord,
    ReportType,
    bulk_records,
    condition_failure_line,
    error_line,
    report_folder,
)
from hashrange.formats.errors import ItemPointer, Rejection
from hashrange.formats.manifest import checksum
from hashrange.jobs import export_sealing, piece_sizes
from hashrange.jobs.bulk_conditions import with_conditions
from hashrange.jobs.input_objects import Piece, pieces
from hashrange.jobs.long_runs import JobFailure, LongRuns
from hashrange.jobs.threads import Threads
from hashrange.kms.interface import FileSeals
from hashrange.objects.errors import ObjectStoreError
from hashrange.objects.interface import Bucket, BucketOptions, ObjectStore
from hashrange.storage import catalogue, report_rows, store
from hashrange.storage.bulk_rows import BULK_OPERATIONS, BulkOperation, BulkStatus
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.report_rows import Batch, Report

log = logs.Log("jobs.bulk")

_OBJECTS_MAX = 50_000
_OBJECT_BYTES_MAX = 5 * 1024**3
_PAUSE_SECONDS = 0.002
_CONDITION_SECONDS = 0.1  # that evaluating one condition may take
_CANCELLED = JobFailure("Cancelled", "The bulk operation was cancelled")
_COLLECTION_FULL = "Collection size exceeded."


def bulk_jobs(
    engine: Engine, objects: ObjectStore, threads: Threads, seals: FileSeals | None = None
) -> LongRuns[BulkOperation]:
    """All bulk operations; `seals` opens exports that are encrypted."""

    def begin(place: JobPlace, record: BulkOperation) -> BulkRun:
        return BulkRun(engine, objects, place, record, seals)

    def fail(place: JobPlace, failure: JobFailure, now: float) -> None:
        record = engine.read(lambda reader: BULK_OPERATIONS.find(reader, place))
        if record is not None:
            with suppress(ObjectStoreError):  # the operation has failed already
                begin(place, record).report()
        engine.write(partial(_ended, place=place, now=now, failure=failure))

    return LongRuns("bulk-put-items", engine, BULK_OPERATIONS, begin, fail, threads)


class _Full(Exception):
    """A record would grow its item collection past 10 GB: the piece is written again without it."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


class _Written(msgspec.Struct):
    """What became of a piece."""

    record: BulkOperation
    units: int


class BulkRun:
    """A bulk operation under way in this process: a turn writes one piece."""

    def __init__(
        self,
        engine: Engine,
        objects: ObjectStore,
        place: JobPlace,
        record: BulkOperation,
        seals: FileSeals | None = None,
    ) -> None:
        self._engine = engine
        self._place = place
        source, target = record.input, record.output
        stored = objects.bucket(source.bucket, BucketOptions(owner=source.bucket_owner))
        self._input = export_sealing.opened_input(engine, stored, seals, place.account_id)
        options = BucketOptions(
            sse_algorithm=target.sse_algorithm,
            sse_kms_key_id=target.sse_kms_key_id,
            owner=target.bucket_owner,
        )
        self._output = objects.bucket(target.bucket, options)
        self._pieces: Iterator[Piece[BulkRecord]] | None = None

    def close(self) -> None:
        """Let go of the object that is being read."""
        self._pieces = None

    def advance(self, now: float) -> float | None:
        """Look at the input, or write the next items, or end."""
        if self._pieces is None:
            self._pieces = self._begin()
            return 0.0
        record = self._record()
        piece = None if record.status == "CANCELLING" else next(self._pieces, None)
        if piece is None:
            self._finish(now)
            return None
        if piece.is_idle:
            return 0.0
        written = self._write(piece, now)
        for name, report in written.record.reports.items():
            if report.is_due:
                self._flush(name, all_lines=False)
        if record.units_max is None:
            return _PAUSE_SECONDS
        return max(_PAUSE_SECONDS, written.units / record.units_max)

    def _record(self) -> BulkOperation:
        record = self._engine.read(lambda reader: BULK_OPERATIONS.find(reader, self._place))
        if record is None:
            raise AssertionError(self._place)
        return record

    def _begin(self) -> Iterator[Piece[BulkRecord]]:
        record = self._record()
        prefix = record.input.prefix or ""
        if record.total_size is None:
            # What cannot be reported must not be written.
            self._output.put(_folder(self._place, record) + "_started", b"")
            size = _total_size(self._input, prefix)
            self._engine.write(partial(_sized, place=self._place, size=size))
        source, table = record.input, record.table

        def read(chunks: Iterator[bytes]) -> Iterator[BulkRecord | Rejection]:
            records = bulk_records(chunks, source.format, source.compression or "NONE", table)
            return with_conditions(records, table)

        return pieces(self._input, prefix, record.position, read, rows_max=piece_sizes.rows_max(table))

    def _write(self, piece: Piece[BulkRecord], now: float) -> _Written:
        while True:
            try:
                return self._engine.write(partial(_write_piece, place=self._place, piece=piece, now=now))
            except _Full as full:
                piece.rows = [row for row in piece.rows if row.index != full.index]
                piece.rejections.append(Rejection(full.index, _COLLECTION_FULL))

    def _finish(self, now: float) -> None:
        self.report()
        done = self._engine.write(partial(_ended, place=self._place, now=now))
        log.info("bulk.ended", table=done.table.name, status=done.status, items=done.written)

    def report(self) -> None:
        """Complete the reports."""
        for name in self._record().reports:
            self._flush(name, all_lines=True)
        self._write_manifest()

    def _flush(self, name: ReportType, *, all_lines: bool) -> None:
        """Write files of a report's lines that wait."""
        record = self._record()
        while (report := record.reports[name]).is_due or (all_lines and report.waiting_lines):
            batch = self._engine.read(lambda reader: report_rows.waiting(reader, self._place, name))
            self._output.put(_file_key(self._place, record, name, report.files), b"".join(batch.lines))
            record = self._engine.write(partial(_flushed, place=self._place, name=name, batch=batch))

    def _write_manifest(self) -> None:
        record = self._record()
        reports = [
            {
                "outputType": name,
                "itemCount": report.lines,
                "files": [_file_key(self._place, record, name, number) for number in range(report.files)],
            }
            for name, report in sorted(record.reports.items())
        ]
        content = orjson.dumps({"bulkOperationArn": bulk_arn(self._place, record), "reports": reports})
        self._output.put(_folder(self._place, record) + "manifest.json", content)
        self._output.put(_folder(self._place, record) + "manifest.md5", checksum(content))


def _folder(place: JobPlace, record: BulkOperation) -> str:
    return report_folder(record.output.prefix, place.id, "ERROR").rpartition("errors/")[0]


def _file_key(place: JobPlace, record: BulkOperation, name: ReportType, number: int) -> str:
    """The same after a crash, so that a file that is written again replaces the first one."""
    digest = hashlib.sha256(f"{place.id}/{name}/{number}".encode()).hexdigest()
    return f"{report_folder(record.output.prefix, place.id, name)}{number:06d}-{digest[:16]}.json"


def _total_size(bucket: Bucket, prefix: str) -> int:
    size = 0
    for number, info in enumerate(bucket.list(prefix), 1):
        if number > _OBJECTS_MAX:
            raise JobFailure("LimitExceeded", f"The input has more than {_OBJECTS_MAX} objects")
        if info.size > _OBJECT_BYTES_MAX:
            raise JobFailure("LimitExceeded", f"The object {info.key} is larger than 5 GB")
        size += info.size
    return size


def _sized(tx: Transaction, *, place: JobPlace, size: int) -> None:
    BULK_OPERATIONS.save(tx, place, changed(_active(tx, place), total_size=size), active=True)


def _active(tx: Transaction, place: JobPlace) -> BulkOperation:
    record = BULK_OPERATIONS.find(tx, place)
    if record is None or record.is_over:
        raise AssertionError(place)
    return record


class _Tally:
    """What a piece has done so far, inside its transaction."""

    def __init__(self) -> None:
        self.units = self.written = self.table_bytes = 0
        self.index_bytes: dict[str, int] = {}
        self.errors: list[Rejection] = []
        self.condition_failures: list[tuple[BulkRecord, Rejected]] = []

    def add(self, outcome: Outcome) -> None:
        self.written += 1
        self.units += outcome.units
        self.table_bytes += outcome.after_size
        for diff in outcome.index_diffs:
            if diff.after is not None:
                name = diff.index.name
                self.index_bytes[name] = self.index_bytes.get(name, 0) + diff.after.size


def _write_piece(tx: Transaction, *, place: JobPlace, piece: Piece[BulkRecord], now: float) -> _Written:
    record = _active(tx, place)
    table = catalogue.stored_table(tx, *catalogue.address(record.table))
    if table is None or table.number != record.table.number or table.status == "DELETING":
        raise JobFailure("ResourceNotFound", f"Table not found: {record.table.name}")
    tally = _Tally()
    for row in piece.rows:
        _put(tx, table, row, Origin(now), tally)
    tally.errors += piece.rejections
    index_bytes = dict(record.index_bytes)
    for name, size in tally.index_bytes.items():
        index_bytes[name] = index_bytes.get(name, 0) + size
    record = changed(
        record,
        position=piece.position,
        written=record.written + tally.written,
        failed=record.failed + len(tally.errors),
        condition_failures=record.condition_failures + len(tally.condition_failures),
        table_bytes=record.table_bytes + tally.table_bytes,
        index_bytes=index_bytes,
        reports=_reported(tx, place, record, piece.key, tally),
    )
    BULK_OPERATIONS.save(tx, place, record, active=True)
    return _Written(record, tally.units)


def _put(tx: Transaction, table: Table, row: BulkRecord, origin: Origin, tally: _Tally) -> None:
    command = row.command
    try:
        if table.indexes:
            indexes.check_index_keys(table, command.item)  # the table may have another index by now
        with effort.patience(time.monotonic, _CONDITION_SECONDS):
            tally.add(store.apply(tx, table, command, origin))
    except Rejected as rejected:
        tally.units += capacity.write_units(
            max(command.size, 0 if rejected.before is None else rejected.before.size)
        )
        tally.condition_failures.append((row, rejected))
    except Invalid as invalid:
        tally.errors.append(Rejection(row.index, invalid.message))
    except store.CollectionFull:
        raise _Full(row.index) from None


def _reported(
    tx: Transaction, place: JobPlace, record: BulkOperation, key: str, tally: _Tally
) -> dict[ReportType, Report]:
    """Store the lines of the reports that are wanted."""
    arn, bucket = bulk_arn(place, record), record.input.bucket
    reports: dict[ReportType, Report] = {}
    for name in record.output.types:
        if name == "ERROR":
            ordered = sorted(tally.errors, key=lambda rejection: rejection.index)
            lines = [error_line(arn, bucket, key, rejection) for rejection in ordered]
        else:
            lines = [
                condition_failure_line(ItemPointer(bucket, key, row.index), row.command.item, rejected.item)
                for row, rejected in tally.condition_failures
            ]
        reports[name] = report_rows.add(tx, place, name, record.reports.get(name, Report()), lines)
    return reports


def _flushed(tx: Transaction, *, place: JobPlace, name: ReportType, batch: Batch) -> BulkOperation:
    record = _active(tx, place)
    reports = {**record.reports, name: report_rows.remove(tx, record.reports[name], batch)}
    record = changed(record, reports=reports)
    BULK_OPERATIONS.save(tx, place, record, active=True)
    return record


def _ended(
    tx: Transaction, *, place: JobPlace, now: float, failure: JobFailure | None = None
) -> BulkOperation:
    record = _active(tx, place)
    status: BulkStatus = "COMPLETED_WITH_ERRORS" if record.failed else "COMPLETED"
    if record.status == "CANCELLING":
        status, failure = "CANCELLED", _CANCELLED
    elif failure is not None:
        status = "FAILED"
    record = changed(
        record,
        status=status,
        ended_at=now,
        failure_code=None if failure is None else failure.code,
        failure_message=None if failure is None else failure.message,
    )
    BULK_OPERATIONS.save(tx, place, record, active=False)
    return record
