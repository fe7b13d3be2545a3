"""Bulk operations as the service describes them."""

import msgspec

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.structures import Response
from hashrange.api.tables.description import timestamp
from hashrange.api.transfers.structures import place_of
from hashrange.storage.bulk_rows import BULK_OPERATIONS, BulkInput, BulkOperation, BulkOutput
from hashrange.storage.engine import Reader
from hashrange.storage.job_rows import JobPlace


class TableDetails(Response, kw_only=True):
    """The table that is written to."""

    table_name: str
    table_id: str


class InputS3Configuration(Response, kw_only=True):
    """Where the records are, and how to read them."""

    s3_bucket: str
    s3_bucket_owner: str | None = None
    s3_key_prefix: str | None = None
    input_format: str
    input_compression_type: str | None = None


class OutputS3Configuration(Response, kw_only=True):
    """Which reports are wanted, and where."""

    output_type: list[str]
    s3_bucket: str
    s3_bucket_owner: str | None = None
    s3_key_prefix: str | None = None
    s3_sse_algorithm: str | None = msgspec.field(name="S3SseAlgorithm", default=None)
    s3_sse_kms_key_id: str | None = msgspec.field(name="S3SseKmsKeyId", default=None)


class PutBytes(Response, kw_only=True):
    """What was put into a table or index."""

    bulk_put_bytes: int


class BulkOperationUsage(Response, kw_only=True):
    """What was put into a table and its indexes."""

    table_name: str
    bulk_put_bytes: int
    table: PutBytes
    local_secondary_indexes: dict[str, PutBytes] | None = None
    global_secondary_indexes: dict[str, PutBytes] | None = None


class BulkOperationDescription(Response, kw_only=True):
    """A bulk operation."""

    bulk_operation_arn: str
    bulk_operation_status: str
    table_details: list[TableDetails]
    client_token: str
    input_s3_configuration: InputS3Configuration
    output_s3_configuration: OutputS3Configuration
    start_time: float
    end_time: float | None = None
    processed_item_count: int
    failed_item_count: int
    processed_input_bytes: int
    total_input_bytes: int | None = None
    bulk_operation_usage: list[BulkOperationUsage]
    failure_code: str | None = None
    failure_message: str | None = None
    max_write_request_units: int | None = None
    performance_tier: str | None = None


def bulk_arn(place: JobPlace, record: BulkOperation) -> str:
    """The operation's Amazon resource name; the service's own form is not published."""
    return f"{record.table.arn}/bulk-operation/{place.id}"


def operation_place(context: Context, arn: str) -> JobPlace:
    """The place of a bulk operation."""
    place = place_of(context, arn, "bulk-operation")
    if place is None:
        raise _missing(arn)
    return place


def find(reader: Reader, place: JobPlace, arn: str) -> BulkOperation:
    """A bulk operation by its ARN."""
    record = BULK_OPERATIONS.find(reader, place)
    if record is None or bulk_arn(place, record) != arn:
        raise _missing(arn)
    return record


def _missing(arn: str) -> ApiError:
    return errors.not_found(f"Requested resource not found: Bulk operation: {arn} not found")


def described(place: JobPlace, record: BulkOperation) -> BulkOperationDescription:
    """What is told about a bulk operation."""
    return BulkOperationDescription(
        bulk_operation_arn=bulk_arn(place, record),
        bulk_operation_status=record.status,
        table_details=[TableDetails(table_name=record.table.name, table_id=record.table.table_id)],
        client_token=record.client_token,
        input_s3_configuration=_input(record.input),
        output_s3_configuration=_output(record.output),
        start_time=timestamp(record.started_at),
        end_time=None if record.ended_at is None else timestamp(record.ended_at),
        processed_item_count=record.written + record.failed + record.condition_failures,
        failed_item_count=record.failed,
        processed_input_bytes=record.position.processed,
        total_input_bytes=record.total_size,
        bulk_operation_usage=[_usage(record)],
        failure_code=record.failure_code,
        failure_message=record.failure_message,
        max_write_request_units=record.units_max,
        performance_tier=record.performance_tier,
    )


def _input(source: BulkInput) -> InputS3Configuration:
    return InputS3Configuration(
        s3_bucket=source.bucket,
        s3_bucket_owner=source.bucket_owner,
        s3_key_prefix=source.prefix,
        input_format=source.format,
        input_compression_type=source.compression,
    )


def _output(target: BulkOutput) -> OutputS3Configuration:
    return OutputS3Configuration(
        output_type=list(target.types),
        s3_bucket=target.bucket,
        s3_bucket_owner=target.bucket_owner,
        s3_key_prefix=target.prefix,
        s3_sse_algorithm=target.sse_algorithm,
        s3_sse_kms_key_id=target.sse_kms_key_id,
    )


def _usage(record: BulkOperation) -> BulkOperationUsage:
    def put_bytes(*, local: bool) -> dict[str, PutBytes] | None:
        own = {index.name for index in record.table.local_indexes}
        sizes = {
            name: PutBytes(bulk_put_bytes=size)
            for name, size in record.index_bytes.items()
            if (name in own) is local
        }
        return sizes or None

    return BulkOperationUsage(
        table_name=record.table.name,
        bulk_put_bytes=record.table_bytes + sum(record.index_bytes.values()),
        table=PutBytes(bulk_put_bytes=record.table_bytes),
        local_secondary_indexes=put_bytes(local=True),
        global_secondary_indexes=put_bytes(local=False),
    )
