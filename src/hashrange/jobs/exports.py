"""Exports: write a table as it was, or what has changed in it, into files of a bucket."""

import hashlib
from collections.abc import Iterator
from functools import partial

from hashrange import logs
from hashrange.core import partitions
from hashrange.core.schema import changed
from hashrange.formats import export_names, manifest
from hashrange.formats.data_files import DataFiles, Sink
from hashrange.formats.export_names import ExportNames, iso_time
from hashrange.jobs import export_sealing
from hashrange.jobs.export_lines import Line, export_lines
from hashrange.jobs.long_runs import JobFailure, LongRuns
from hashrange.jobs.threads import Threads
from hashrange.kms.interface import FileSeals
from hashrange.objects.interface import Bucket, BucketOptions, ObjectStore
from hashrange.objects.sealed_exports import SealingBucket
from hashrange.storage import holds
from hashrange.storage.changed_items import ChangedItems
from hashrange.storage.engine import Engine, Transaction
from hashrange.storage.export_rows import EXPORTS, Export, Progress
from hashrange.storage.history import PastTable
from hashrange.storage.job_rows import JobPlace

log = logs.Log("jobs.exports")

_INCREMENTAL_BYTES_MIN = 10_000_000  # that the service charges for
_PAUSE_SECONDS = 0.002
_MICROSECONDS = 1_000_000


def export_jobs(
    engine: Engine, objects: ObjectStore, threads: Threads, seals: FileSeals | None = None
) -> LongRuns[Export]:
    """All exports; `seals` is for the files of those that are encrypted."""

    def begin(place: JobPlace, export: Export) -> ExportRun:
        if seals is not None and export_sealing.is_sealed(objects, seals):
            export = export_sealing.with_keys(engine, place, export, seals)
        return ExportRun(engine, objects, place, export, seals)

    def fail(place: JobPlace, failure: JobFailure, now: float) -> None:
        engine.write(partial(_failed, place=place, failure=failure, now=now))

    return LongRuns("export-tables", engine, EXPORTS, begin, fail, threads)


class ExportRun:
    """An export under way in this process: a turn writes one chunk of items."""

    def __init__(
        self,
        engine: Engine,
        objects: ObjectStore,
        place: JobPlace,
        export: Export,
        seals: FileSeals | None = None,
    ) -> None:
        self._engine = engine
        self._place = place
        self._export = export
        self._seals = seals
        options = BucketOptions(
            sse_algorithm=export.sse_algorithm,
            sse_kms_key_id=export.sse_kms_key_id,
            owner=export.bucket_owner,
        )
        self._bucket = objects.bucket(export.bucket, options)
        self._target: Bucket | SealingBucket = self._bucket  # where files go once the export is begun
        self._names = ExportNames(export.prefix, place.id, incremental=export.window is not None)
        self._source = _source(engine, export)
        self._lines: Iterator[list[Line]] = export_lines(self._source, export)
        self._files = DataFiles(self._open_file)
        self._saved = self._progress = export.progress
        self._last = export.progress.after
        self._waiting = self._waiting_bytes = 0  # items of the file that is not finished
        self._is_started = False

    def close(self) -> None:
        """Throw the unfinished file away."""
        self._source.close()
        self._files.abort()

    def advance(self, now: float) -> float | None:
        """Write the next items; behind the last one the manifests."""
        if not self._is_started:
            self._start()
        chunk = next(self._lines, None)
        starts = self._export.source.partitions
        for key, line, size in chunk or ():
            self._finish_partitions(partitions.number_of(starts, key))
            self._add(key, line, size)
        if chunk is None:
            self._finish_partitions(len(starts))
        if self._progress is not self._saved:
            self._engine.write(partial(_progressed, place=self._place, progress=self._progress))
            self._saved = self._progress
        if chunk is not None:
            return _PAUSE_SECONDS
        self._finish(now)
        return None

    def _start(self) -> None:
        self._bucket.put(self._names.started, b"")
        if self._export.keys:
            self._target = export_sealing.sealing_bucket(
                self._bucket, self._names, self._place, self._export, self._seals
            )
        self._is_started = True

    def _open_file(self) -> Sink:
        """A file has the name that it would have had before a crash, so that what is written again replaces it."""
        seed = f"{self._place.id}/{len(self._progress.files)}".encode()
        name = export_names.data_file_name(hashlib.sha256(seed).digest(), self._export.format)
        return self._target.writer(self._names.data(name))

    def _add(self, key: bytes, line: bytes | None, size: int) -> None:
        self._last = key
        self._waiting_bytes += size
        if line is not None:
            self._waiting += 1
            finished = len(self._files.files)
            self._files.add(line)
            if len(self._files.files) > finished:
                self._file_finished()

    def _finish_partitions(self, number: int) -> None:
        """Complete the files of all partitions before this one; each has at least one."""
        while self._progress.partition < number:
            if self._waiting or not self._progress.partition_files:
                self._files.finish_file()
                self._file_finished()
            self._progress = changed(
                self._progress, partition=self._progress.partition + 1, partition_files=0
            )

    def _file_finished(self) -> None:
        before = self._progress
        self._progress = changed(
            before,
            files=(*before.files, self._files.files[-1]),
            after=self._last,
            partition_files=before.partition_files + 1,
            items=before.items + self._waiting,
            size=before.size + self._waiting_bytes,
        )
        self._waiting = self._waiting_bytes = 0

    def _finish(self, now: float) -> None:
        names, export = self._names, self._export
        self._put_manifest(names.files, manifest.encode_files(self._progress.files))
        done = changed(
            export,
            status="COMPLETED",
            ended_at=now,
            progress=changed(self._progress, files=()),
            keys={},
            manifest=names.summary,
            billed_size=_billed(export, self._progress.size),
        )
        self._put_manifest(names.summary, manifest.encode_summary(_summary(self._place, done, names)))
        self._engine.write(partial(_finished, place=self._place, done=done, now=now))
        log.info("export.finished", table=export.source.name, items=done.progress.items)

    def _put_manifest(self, key: str, content: bytes) -> None:
        self._target.put(key, content)
        self._target.put(export_names.checksum_name(key), manifest.checksum(content))


def _source(engine: Engine, export: Export) -> PastTable | ChangedItems:
    if export.window is None:
        return PastTable(engine, export.source, export.moment_us)
    until_us = round(export.window.end * _MICROSECONDS) - 1
    return ChangedItems(engine, export.source, export.moment_us, until_us)


def _billed(export: Export, size: int) -> int:
    return size if export.window is None else max(size, _INCREMENTAL_BYTES_MIN)


def _summary(place: JobPlace, done: Export, names: ExportNames) -> manifest.Summary:
    window = done.window
    summary = manifest.Summary(
        version=manifest.FULL_VERSION if window is None else manifest.INCREMENTAL_VERSION,
        export_arn=f"{done.source.arn}/export/{place.id}",
        start_time=iso_time(done.started_at),
        end_time=iso_time(done.ended_at or done.started_at),
        table_arn=done.source.arn,
        table_id=done.source.table_id,
        s3_bucket=done.bucket,
        s3_prefix=done.prefix,
        s3_sse_algorithm=done.sse_algorithm or "AES256",
        s3_sse_kms_key_id=done.sse_kms_key_id,
        manifest_files_s3_key=names.files,
        billed_size_bytes=done.billed_size or 0,
        item_count=done.progress.items,
        output_format=done.format,
    )
    if window is None:
        return changed(summary, export_time=iso_time(done.export_time or done.started_at))
    return changed(
        summary,
        export_from_time=iso_time(window.start),
        export_to_time=iso_time(window.end),
        output_view=window.view_type,
        export_type="INCREMENTAL_EXPORT",
    )


def _progressed(tx: Transaction, *, place: JobPlace, progress: Progress) -> None:
    export = EXPORTS.find(tx, place)
    if export is not None and export.status == "IN_PROGRESS":
        EXPORTS.save(tx, place, changed(export, progress=progress), active=True)


def _finished(tx: Transaction, *, place: JobPlace, done: Export, now: float) -> None:
    export = EXPORTS.find(tx, place)
    if export is None or export.status != "IN_PROGRESS":
        return
    EXPORTS.save(tx, place, done, active=False)
    holds.release(tx, export.source, place.id, now)


def _failed(tx: Transaction, *, place: JobPlace, failure: JobFailure, now: float) -> None:
    export = EXPORTS.find(tx, place)
    if export is None or export.status != "IN_PROGRESS":
        return
    done = changed(
        export,
        status="FAILED",
        ended_at=now,
        progress=Progress(),
        keys={},
        failure_code=failure.code,
        failure_message=failure.message,
    )
    EXPORTS.save(tx, place, done, active=False)
    holds.release(tx, export.source, place.id, now)
