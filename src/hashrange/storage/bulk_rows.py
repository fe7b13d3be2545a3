"""What a bulk operation has to do and how far it is."""

from typing import Literal

import msgspec

from hashrange.core.schema import Table
from hashrange.formats.bulk_records import ReportType
from hashrange.formats.compression import Compression
from hashrange.storage.import_rows import Position
from hashrange.storage.job_rows import JobRows
from hashrange.storage.report_rows import Report

BulkStatus = Literal["IN_PROGRESS", "COMPLETED", "COMPLETED_WITH_ERRORS", "CANCELLING", "CANCELLED", "FAILED"]


class BulkInput(msgspec.Struct, frozen=True, kw_only=True):
    """Where the records are, and how to read them."""

    bucket: str
    bucket_owner: str | None = None
    prefix: str | None = None
    format: Literal["DYNAMODB_JSON", "ION"]
    compression: Compression | None = None


class BulkOutput(msgspec.Struct, frozen=True, kw_only=True):
    """Which reports are wanted, and where."""

    types: tuple[ReportType, ...]
    bucket: str
    bucket_owner: str | None = None
    prefix: str | None = None
    sse_algorithm: str | None = None
    sse_kms_key_id: str | None = None


class BulkOperation(msgspec.Struct, frozen=True, kw_only=True):
    """Items, with or without conditions, that are put into a table."""

    table: Table  # as it was when the operation was asked for
    status: BulkStatus = "IN_PROGRESS"
    started_at: float
    ended_at: float | None = None
    client_token: str
    input: BulkInput
    output: BulkOutput
    units_max: int | None = None  # per second
    performance_tier: str | None = None
    position: Position = Position()
    total_size: int | None = None
    written: int = 0
    failed: int = 0
    condition_failures: int = 0
    table_bytes: int = 0  # that were put
    index_bytes: dict[str, int] = {}
    reports: dict[ReportType, Report] = {}
    failure_code: str | None = None
    failure_message: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens."""
        return self.status not in ("IN_PROGRESS", "CANCELLING")


BULK_OPERATIONS = JobRows("bulk", BulkOperation)
ACTIVE_MAX = 50
