"""From a table to files: the service's export layout, with manifests and checksums."""

import hashlib
import secrets
import time
from typing import Any, Literal

import msgspec
import orjson

from hashrange.core.values import Item
from hashrange.formats import dynamodb_json, manifest
from hashrange.formats.data_files import DataFiles
from hashrange.formats.export_names import (
    RANDOM_NAME_BYTES,
    ExportNames,
    checksum_name,
    data_file_name,
    iso_time,
    job_id,
)
from hashrange.formats.manifest import DataFile, Summary
from hashrange.objects.interface import Writer
from hashrange.transfer import table_schema
from hashrange.transfer.buckets import Objects
from hashrange.transfer.endpoint import Endpoint
from hashrange.transfer.errors import TransferError
from hashrange.transfer.exports import SCHEMA
from hashrange.transfer.run import Run
from hashrange.transfer.scanning import Page, pages
from hashrange.transfer.state import ExportPosition, Segment
from hashrange.transfer.wire_values import from_wire

OutputFormat = Literal["DYNAMODB_JSON", "ION"]
_FILE_BYTES = (
    64 * 1024 * 1024
)  # of lines; what is in a file that is not complete is read again after an interruption


class ExportWriter:
    """Writes one export."""

    def __init__(self, source: Endpoint, target: Objects, run: Run, output_format: OutputFormat) -> None:
        self._source = source
        self._target = target
        self._run = run
        self._format = output_format
        state = run.state.state
        if state.export is None:
            now = time.time()
            export_id = job_id(int(now * 1000), secrets.token_bytes(4))
            state.export = ExportPosition(export_id, now, output_format)
        elif state.export.output_format != output_format:
            raise TransferError(
                f"the export began with the format {state.export.output_format}: name it again, "
                "or remove the state file to begin another"
            )
        self._position = state.export
        self.names = ExportNames(target.prefix or None, self._position.export_id)

    def export(self, description: dict[str, Any]) -> str:
        """Write the files, then the manifests; gives the folder's key."""
        state = self._run.state.state
        if not state.segments:
            state.segments = [Segment() for _ in range(self._run.parallel)]
            self._run.state.save()
        self._target.bucket.put(self.names.started, b"")
        done = sum(segment.items for segment in state.segments)
        self._run.progress.begin("exported", count=done, total=description.get("ItemCount"))
        self._run.in_parallel(self._export_segment)
        self._finish(description, [file for segment in state.segments for file in segment.files])
        return self.names.folder

    def _export_segment(self, number: int) -> None:
        state = self._run.state.state
        segment = state.segments[number]
        if segment.done:
            return
        files = DataFiles(lambda: self._sink(number, segment), bytes_max=_FILE_BYTES * 1024)
        size = 0
        try:
            for page in pages(
                self._source, number, len(state.segments), position=segment.position, pace=self._run.pace
            ):
                for item in page.items:
                    line = self._line(from_wire(item))
                    files.add(line)
                    size += len(line)
                self._run.progress.add(len(page.items))
                if size >= _FILE_BYTES or page.position is None:
                    files.finish_file()
                    self._remember(segment, files.files.pop(), page)
                    size = 0
        finally:
            files.abort()

    def _remember(self, segment: Segment, file: DataFile, page: Page) -> None:
        """A file is complete; nothing of it is read again."""
        with self._run.state.lock:
            segment.files.append(file)
            segment.items += file.item_count
            segment.position = page.position
            segment.done = page.position is None
            self._run.state.save()

    def _line(self, item: Item) -> bytes:
        if self._format == "ION":
            from hashrange.formats import ion_writer  # noqa: PLC0415 - loads its library

            return ion_writer.item_line(item)
        return dynamodb_json.item_line(orjson.dumps(item))

    def _sink(self, number: int, segment: Segment) -> Writer:
        """The next file of a segment. It has the same name when it is written again, and then replaces the first."""
        seed = f"{self.names.export_id} {number} {len(segment.files)}".encode()
        name = data_file_name(hashlib.sha256(seed).digest()[:RANDOM_NAME_BYTES], self._format)
        return self._target.bucket.writer(self.names.data(name))

    def _finish(self, description: dict[str, Any], files: list[DataFile]) -> None:
        schema = table_schema.of_description(description)
        self._target.bucket.put(self.names.folder + SCHEMA, msgspec.json.encode(schema.request()))
        self._put_manifest(self.names.files, manifest.encode_files(files))
        table_arn = str(description.get("TableArn", ""))
        summary = Summary(
            version=manifest.FULL_VERSION,
            export_arn=f"{table_arn}/export/{self.names.export_id}",
            start_time=iso_time(self._position.began_at),
            end_time=iso_time(time.time()),
            table_arn=table_arn,
            table_id=str(description.get("TableId", "")),
            export_time=iso_time(self._position.began_at),
            s3_bucket=self._target.bucket.name,
            s3_prefix=self._target.prefix or None,
            s3_sse_algorithm="AES256",
            s3_sse_kms_key_id=None,
            manifest_files_s3_key=self.names.files,
            billed_size_bytes=int(description.get("TableSizeBytes", 0)),
            item_count=sum(file.item_count for file in files),
            output_format=self._format,
        )
        self._put_manifest(self.names.summary, manifest.encode_summary(summary))

    def _put_manifest(self, key: str, content: bytes) -> None:
        """The checksum first: whoever sees the manifest can check it."""
        self._target.bucket.put(checksum_name(key), manifest.checksum(content))
        self._target.bucket.put(key, content)
