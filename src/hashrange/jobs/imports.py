"""Imports: make a table and fill it from the objects of a bucket, a few items at a time."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from hashrange import logs
from hashrange.api.transfers.imports import import_arn
from hashrange.core.mutation import Origin
from hashrange.core.schema import Table, changed
from hashrange.core.table_life import gone
from hashrange.formats.errors import Rejection, import_error_line
from hashrange.formats.readers import item_rows
from hashrange.formats.records import Row
from hashrange.jobs import export_sealing, filled_tables, piece_sizes
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.input_objects import Piece, pieces
from hashrange.jobs.long_runs import JobFailure, LongRuns
from hashrange.jobs.threads import Threads
from hashrange.objects.errors import ObjectStoreError
from hashrange.objects.interface import BucketOptions, ObjectStore
from hashrange.storage import backup_rows, catalogue, report_rows, store
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.import_rows import IMPORTS, Import
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.report_rows import Batch

log = logs.Log("jobs.imports")

ERRORS = "import-errors"  # the report's name
LOGGED_MAX = 10  # rejected items of one import in the server's own log
_NEVER = 1e11  # when an import is over says its job
_PAUSE_SECONDS = 0.002
_INVALID_ITEMS = JobFailure(
    "ItemValidationError",
    "Some of the items failed validation checks and were not imported. Please check CloudWatch error logs for more "
    "details.",
)


def import_jobs(
    engine: Engine, tables: Catalogue, objects: ObjectStore, logs_place: BackupPlace, threads: Threads
) -> LongRuns[Import]:
    """All imports; what they reject goes into files beside the backups."""

    def begin(place: JobPlace, _record: Import) -> ImportRun:
        return ImportRun(engine, tables, objects, logs_place, place)

    def fail(place: JobPlace, failure: JobFailure, now: float) -> None:
        with suppress(ObjectStoreError):  # the import has failed already
            ImportRun(engine, tables, objects, logs_place, place).flush(all_lines=True)
        _end(engine, tables, place, now, failure)

    return LongRuns("import-tables", engine, IMPORTS, begin, fail, threads)


class ImportRun:
    """An import under way in this process: a turn writes one piece."""

    def __init__(
        self, engine: Engine, tables: Catalogue, objects: ObjectStore, errors: BackupPlace, place: JobPlace
    ) -> None:
        self._engine = engine
        self._tables = tables
        self._objects = objects
        self._errors = errors
        self._place = place
        self._pieces: Iterator[Piece[Row]] | None = None

    def close(self) -> None:
        """Let go of the object that is being read."""
        self._pieces = None

    def advance(self, now: float) -> float | None:
        """Make the table, or write the next items, or open the table."""
        if self._pieces is None:
            self._pieces = self._begin(now)
            return 0.0
        piece = next(self._pieces, None)
        if piece is None:
            self.flush(all_lines=True)
            _end(self._engine, self._tables, self._place, now)
            return None
        if piece.is_idle:
            return 0.0
        record = self._engine.write(partial(_write_piece, place=self._place, piece=piece, now=now))
        if piece.rejections:
            self._log(record, piece)
        if record.report.is_due:
            self.flush(all_lines=False)
        return _PAUSE_SECONDS

    def _begin(self, now: float) -> Iterator[Piece[Row]]:
        record = self._record()
        stored = self._objects.bucket(record.bucket, BucketOptions(owner=record.bucket_owner))
        bucket = export_sealing.opened_input(self._engine, stored, self._errors.seals, self._place.account_id)
        prefix = record.prefix or ""
        if not record.table.number:
            next(bucket.list(prefix), None)  # a bucket that is not there leaves no table
            record = self._engine.write(partial(_create_table, place=self._place, now=now))
            self._tables.refresh(*catalogue.address(record.table))
        options, table = record.options, record.table
        if self._is_open(table):
            return iter(
                ()
            )  # a crash has come between opening it and saying so; clients may have written since
        return pieces(
            bucket,
            prefix,
            record.position,
            lambda chunks: item_rows(chunks, options, table),
            rows_max=piece_sizes.rows_max(table),
        )

    def _is_open(self, table: Table) -> bool:
        stored = self._engine.read(lambda reader: catalogue.stored_table(reader, *catalogue.address(table)))
        return stored is not None and stored.number == table.number and stored.status != "CREATING"

    def _record(self) -> Import:
        record = self._engine.read(lambda reader: IMPORTS.find(reader, self._place))
        if record is None:
            raise AssertionError(self._place)
        return record

    def _log(self, record: Import, piece: Piece[Row]) -> None:
        """The first rejected items; all of them are in the files."""
        seen = record.rejected - len(piece.rejections)
        for rejection in piece.rejections[: max(0, LOGGED_MAX - seen)]:
            log.warning(
                "import.rejected",
                table=record.table.name,
                key=piece.key,
                index=rejection.index,
                reason=rejection.message,
            )

    def flush(self, *, all_lines: bool) -> None:
        """Write files of the errors that wait."""
        record = self._record()
        while record.report.is_due or (all_lines and record.report.waiting_lines):
            batch = self._engine.read(lambda reader: report_rows.waiting(reader, self._place, ERRORS))
            folder = f"{self._errors.prefix}{ERRORS}/{self._place.account_id}/{self._place.region}"
            key = f"{folder}/{self._place.id}/error-{record.report.files:06d}.jsonl"
            self._errors.put_report(key, b"".join(batch.lines))
            record = self._engine.write(partial(_flushed, place=self._place, batch=batch))


def _create_table(tx: Transaction, *, place: JobPlace, now: float) -> Import:
    record = _active(tx, place)
    stored = catalogue.stored_table(tx, *catalogue.address(record.table))
    if stored is not None:
        if not gone(stored, now):
            raise JobFailure("TableAlreadyExists", f"Table already exists: {stored.name}")
        backup_rows.remove_table(tx, stored, now)
    new = record.table
    table = changed(
        new,
        number=catalogue.next_number(tx),
        created_at=now,
        status="CREATING",
        settles_at=_NEVER,
        indexes=tuple(changed(index, status="CREATING", settles_at=_NEVER) for index in new.indexes),
    )
    record = changed(record, table=catalogue.save(tx, table, now))
    IMPORTS.save(tx, place, record, active=True)
    return record


def _write_piece(tx: Transaction, *, place: JobPlace, piece: Piece[Row], now: float) -> Import:
    record = _active(tx, place)
    table = _table(tx, record)
    origin = Origin(now, "restore")
    for row in piece.rows:
        store.apply(tx, table, row.command, origin)
    lines = [_error_line(place, record, piece.key, rejection) for rejection in piece.rejections]
    record = changed(
        record,
        position=piece.position,
        imported=record.imported + len(piece.rows),
        rejected=record.rejected + len(piece.rejections),
        report=report_rows.add(tx, place, ERRORS, record.report, lines),
    )
    IMPORTS.save(tx, place, record, active=True)
    return record


def _error_line(place: JobPlace, record: Import, key: str, rejection: Rejection) -> bytes:
    return import_error_line(import_arn(place, record), record.bucket, key, rejection)


def _flushed(tx: Transaction, *, place: JobPlace, batch: Batch) -> Import:
    record = _active(tx, place)
    record = changed(record, report=report_rows.remove(tx, record.report, batch))
    IMPORTS.save(tx, place, record, active=True)
    return record


def _active(tx: Transaction, place: JobPlace) -> Import:
    record = IMPORTS.find(tx, place)
    if record is None or record.status != "IN_PROGRESS":
        raise AssertionError(place)
    return record


def _table(tx: Transaction, record: Import) -> Table:
    table = catalogue.stored_table(tx, *catalogue.address(record.table))
    if table is None or table.number != record.table.number:
        raise JobFailure("TableNotFound", f"Table not found: {record.table.name}")
    return table


def _end(
    engine: Engine, tables: Catalogue, place: JobPlace, now: float, failure: JobFailure | None = None
) -> None:
    """Open the table first: whoever sees that the import is over finds it."""
    opened = engine.write(partial(_open_table, place=place, now=now))
    if opened is not None:
        tables.refresh(*catalogue.address(opened))
    record = engine.write(partial(_ended, place=place, now=now, failure=failure))
    if record is not None:
        log.info("import.ended", table=record.table.name, status=record.status, items=record.imported)


def _open_table(tx: Transaction, *, place: JobPlace, now: float) -> Table | None:
    """Open the table with the items that it has, however the import went."""
    record = IMPORTS.find(tx, place)
    if record is None or record.status != "IN_PROGRESS":
        return None
    table = catalogue.stored_table(tx, *catalogue.address(record.table))
    if table is None or table.number != record.table.number:
        return None
    if table.status == "CREATING":
        filled_tables.open_table(tx, table, now)
    return table


def _ended(tx: Transaction, *, place: JobPlace, now: float, failure: JobFailure | None) -> Import | None:
    """Say how the import went."""
    record = IMPORTS.find(tx, place)
    if record is None or record.status != "IN_PROGRESS":
        return None
    if failure is None and record.rejected:
        failure = _INVALID_ITEMS
    record = changed(
        record,
        status="COMPLETED" if failure is None else "FAILED",
        ended_at=now,
        failure_code=None if failure is None else failure.code,
        failure_message=None if failure is None else failure.message,
    )
    IMPORTS.save(tx, place, record, active=False)
    return record
