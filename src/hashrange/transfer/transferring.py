"""One transfer from its beginning to its end."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from hashrange.transfer import decrypting, following, table_schema, verifying
from hashrange.transfer.buckets import Objects, open_source, open_target
from hashrange.transfer.copying import copy
from hashrange.transfer.endpoint import Endpoint
from hashrange.transfer.errors import BadArguments, Interrupted, TransferError
from hashrange.transfer.export_writing import ExportWriter, OutputFormat
from hashrange.transfer.following import Follower
from hashrange.transfer.loading import load
from hashrange.transfer.options import Options
from hashrange.transfer.places import BucketPlace, FolderPlace, Place, TablePlace
from hashrange.transfer.reading import FilesSource
from hashrange.transfer.run import Run
from hashrange.transfer.sources import FileOptions, files_source
from hashrange.transfer.table_schema import TableSchema
from hashrange.transfer.verifying import Checksum
from hashrange.transfer.writing import TableWriter


class Outcome(msgspec.Struct, kw_only=True):
    """How a transfer ended."""

    moved: int
    rejected: int
    sums: tuple[Checksum, Checksum] | None = None
    keeps_state: bool = False
    folder: str = ""


class Transfer:
    """A transfer between two places."""

    def __init__(self, options: Options, source: Place, target: Place, run: Run) -> None:
        self._options = options
        self._source = source
        self._target = target
        self._run = run

    def run(self) -> Outcome:
        """Do it, whichever kind it is."""
        if isinstance(self._source, TablePlace):
            source = self._endpoint(self._source)
            description = table_schema.describe(source)
            if description is None:
                raise TransferError(f"there is no table {self._source.description}")
            if isinstance(self._target, TablePlace):
                return self._table_to_table(source, self._endpoint(self._target), description)
            return self._table_to_files(source, self._target, description)
        if not isinstance(self._target, TablePlace):
            raise BadArguments("one of the two places must be a table: http(s)://HOST/TABLE")
        return self._files_to_table(self._source, self._endpoint(self._target))

    def _endpoint(self, place: TablePlace) -> Endpoint:
        return Endpoint(place, self._run.stop, connections=2 * self._options.parallel)

    def _table_to_table(self, source: Endpoint, target: Endpoint, description: dict[str, Any]) -> Outcome:
        run = self._run
        if self._options.follow:
            following.prepare(source, description, run, enable=self._options.enable_stream)
        table_schema.ensure_table(target, self._schema() or table_schema.of_description(description))
        with ThreadPoolExecutor(self._options.parallel) as pool:
            writer = TableWriter(target, pool)
            copy(source, writer, run, description)
            if self._options.follow:
                self._follow(Follower(source, writer, run))
        sums = None
        if self._options.verify:
            sums = (self._table_sum(source, "source"), self._table_sum(target, "target"))
        state = run.state.state
        followed = state.stream.changes if state.stream else 0
        moved = sum(segment.items for segment in state.segments) + followed
        return self._outcome(moved, sums, keeps_state=self._options.follow)

    def _follow(self, follower: Follower) -> None:
        try:
            follower.follow(once=self._options.once)
        except Interrupted:
            if not follower.caught_up:
                raise
            # A signal is how following ends.
            self._run.stop.clear()

    def _table_to_files(
        self, source: Endpoint, place: FolderPlace | BucketPlace, description: dict[str, Any]
    ) -> Outcome:
        if self._options.follow:
            raise BadArguments("--follow needs a table on both sides")
        target = open_target(place, self._options.s3, os.environ)
        output: OutputFormat = "ION" if self._options.form == "ion" else "DYNAMODB_JSON"
        writer = ExportWriter(source, target, self._run, output)
        folder = writer.export(description)
        sums = None
        if self._options.verify:
            written = files_source(Objects(target.bucket, folder, target.description), FileOptions())
            schema = table_schema.of_description(description)
            sums = (self._table_sum(source, "source"), self._files_sum(written, schema, "target"))
        moved = sum(segment.items for segment in self._run.state.state.segments)
        return self._outcome(moved, sums, folder=f"{place.root.rstrip('/')}/{folder}")

    def _files_to_table(self, place: FolderPlace | BucketPlace, target: Endpoint) -> Outcome:
        if self._options.follow:
            raise BadArguments("--follow needs a table on both sides")
        stored = open_source(place, self._options.s3, os.environ)
        source = files_source(decrypting.opened(stored, self._options.root_key), self._options.files)
        schema = table_schema.ensure_table(target, self._schema() or source.schema)
        with ThreadPoolExecutor(self._options.parallel) as pool:
            load(source, schema.table(target.table), TableWriter(target, pool), self._run)
        sums = None
        if self._options.verify:
            sums = (self._files_sum(source, schema, "source"), self._table_sum(target, "target"))
        position = self._run.state.state.files
        return self._outcome(position.items if position else 0, sums)

    def _outcome(
        self,
        moved: int,
        sums: tuple[Checksum, Checksum] | None,
        *,
        keeps_state: bool = False,
        folder: str = "",
    ) -> Outcome:
        rejected = self._run.rejections.count
        return Outcome(
            moved=moved - rejected, rejected=rejected, sums=sums, keeps_state=keeps_state, folder=folder
        )

    def _schema(self) -> TableSchema | None:
        options = self._options
        if options.key is not None:
            return table_schema.of_flag(options.key)
        if options.schema is None:
            return None
        try:
            content = Path(options.schema).read_bytes()
        except OSError as error:
            raise TransferError(f"cannot read {options.schema}: {error.strerror}") from None
        return table_schema.of_json(content, options.schema)

    def _table_sum(self, endpoint: Endpoint, side: str) -> Checksum:
        self._run.progress.begin(f"verified in the {side}", total=None)
        return verifying.of_table(
            endpoint,
            segments=self._options.parallel,
            pace=self._run.pace,
            report=self._run.progress.add,
        )

    def _files_sum(self, source: FilesSource, schema: TableSchema, side: str) -> Checksum:
        self._run.progress.begin(f"verified in the {side}", total=source.item_count)

        def report(count: int) -> None:
            self._run.stop.check()
            self._run.progress.add(count)

        return verifying.of_files(source, schema.table("table"), report)
