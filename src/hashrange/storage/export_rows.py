"""What an export has to do and how far it is."""

from typing import Literal

import msgspec

from hashrange.core.schema import Table
from hashrange.formats.manifest import DataFile
from hashrange.storage.job_rows import JobRows

ExportFormat = Literal["DYNAMODB_JSON", "ION"]
ViewType = Literal["NEW_IMAGE", "NEW_AND_OLD_IMAGES"]


class Window(msgspec.Struct, frozen=True):
    """What an incremental export is about: changes from a moment on, up to another, that not included."""

    start: float
    end: float
    view_type: ViewType


class ExportFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which items of the table are wanted, and what of them: expressions as they were sent."""

    key_condition_expression: str | None = None
    filter_expression: str | None = None
    projection_expression: str | None = None
    expression_attribute_names: dict[str, str] | None = None
    expression_attribute_values: dict[str, dict[str, object]] | None = None


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """What is in finished files. What comes behind them is written again after a crash."""

    files: tuple[DataFile, ...] = ()
    after: bytes = b""  # the key of the last item
    partition: int = 0  # the one that is being written
    partition_files: int = 0  # that it has already
    items: int = 0
    size: int = 0  # in the service's own bytes


class Export(msgspec.Struct, frozen=True, kw_only=True):
    """A table, or its changes, as files in a bucket."""

    source: Table
    status: Literal["IN_PROGRESS", "COMPLETED", "FAILED"] = "IN_PROGRESS"
    started_at: float
    ended_at: float | None = None
    export_time: float | None = None  # of a full export
    moment_us: int  # items as they were then; the first moment of an incremental export
    window: Window | None = None  # of an incremental export
    filter: ExportFilter | None = None
    client_token: str
    bucket: str
    bucket_owner: str | None = None
    prefix: str | None = None
    sse_algorithm: str | None = None
    sse_kms_key_id: str | None = None
    format: ExportFormat = "DYNAMODB_JSON"
    progress: Progress = Progress()
    keys: dict[
        str, bytes
    ] = {}  # of encrypted files, wrapped, by the id of the root key; until the export is over
    sealed: bool = False  # whether the files are encrypted
    manifest: str | None = None
    billed_size: int | None = None
    failure_code: str | None = None
    failure_message: str | None = None


EXPORTS = JobRows("export", Export)
ACTIVE_MAX = 300
