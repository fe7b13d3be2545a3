"""StartBulkPutItems: put the items of a bucket's objects into a table."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hashrange import ids
from hashrange.api.context import Context
from hashrange.api.errors import ApiError, in_use, limit_exceeded, table_not_found
from hashrange.api.protocol import kinds
from hashrange.api.protocol.digests import digest
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, Structure, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.table_names import control_table
from hashrange.api.transfers.bulk_operations import BulkOperationDescription, described
from hashrange.api.transfers.repeated import earlier_job
from hashrange.api.transfers.structures import (
    ClientToken,
    CompressionType,
    KmsKeyId,
    S3Bucket,
    S3BucketOwner,
    S3Prefix,
    invalid,
    new_place,
)
from hashrange.core.schema import Table
from hashrange.core.table_life import gone, settled
from hashrange.storage import catalogue, job_tokens
from hashrange.storage.bulk_rows import ACTIVE_MAX, BULK_OPERATIONS, BulkInput, BulkOperation, BulkOutput
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.job_rows import JobPlace

_KIND = "bulk"
_UNITS_MIN = 1024


class InputS3Configuration(Structure, kw_only=True):
    """Where the records are, and how to read them."""

    s3_bucket: S3Bucket
    s3_bucket_owner: S3BucketOwner | None = None
    s3_key_prefix: S3Prefix | None = None
    input_format: Literal["DYNAMODB_JSON", "ION"]
    input_compression_type: CompressionType | None = None


class OutputS3Configuration(Structure, kw_only=True):
    """Which reports are wanted, and where."""

    output_type: Annotated[
        list[Literal["ERROR", "CONDITION_CHECK_FAILURE"]], Meta(min_length=1, max_length=2)
    ]
    s3_bucket: S3Bucket
    s3_bucket_owner: S3BucketOwner | None = None
    s3_key_prefix: S3Prefix | None = None
    s3_sse_algorithm: Literal["AES256", "KMS"] | None = msgspec.field(name="S3SseAlgorithm", default=None)
    s3_sse_kms_key_id: KmsKeyId | None = msgspec.field(name="S3SseKmsKeyId", default=None)


class StartBulkPutItems(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn
    input_s3_configuration: InputS3Configuration
    output_s3_configuration: OutputS3Configuration
    client_token: ClientToken | None = None
    max_write_request_units: (
        Annotated[int, Meta(ge=_UNITS_MIN, le=2**63 - 1), kinds.Whole(least=_UNITS_MIN, java="Long")] | None
    ) = None
    performance_tier: Literal["STANDARD", "ACCELERATED"] | None = None


SHAPE = Shape(StartBulkPutItems)


class StartBulkPutItemsOutput(Response, kw_only=True):
    """The answer."""

    bulk_operation_description: BulkOperationDescription


def start_bulk_put_items(context: Context, request: StartBulkPutItems) -> Plan:
    """Check the table; a job reads and writes."""
    target = request.output_s3_configuration
    if target.s3_sse_kms_key_id is not None and target.s3_sse_algorithm != "KMS":
        raise invalid("KMS Key Id is not supported for this encryption type")
    planned = control_table(context, request.table_name)
    now = context.clock.now()
    place = new_place(context, now)
    same = digest(msgspec.structs.replace(request, client_token=None))

    def step(tx: Transaction) -> Described:
        repeated = _repeated(tx, place, request.client_token, same, now)
        if repeated is not None:
            return repeated
        table = catalogue.stored_table(tx, *catalogue.address(planned))
        if table is None or gone(table, now):
            raise table_not_found(planned.name)
        _check_ready(settled(table, now))
        if len(BULK_OPERATIONS.active(tx)) >= ACTIVE_MAX:
            raise limit_exceeded(
                f"Subscriber limit exceeded: Only {ACTIVE_MAX} bulk operations can be done simultaneously"
            )
        record = _record(request, table, now)
        BULK_OPERATIONS.save(tx, place, record, active=True)
        catalogue.announce(tx)
        if request.client_token is not None:
            job_tokens.save(tx, _KIND, place, request.client_token, digest=same, now=now)
        return _answer(place, record)

    return Write(step, after=lambda: context.catalogue.refresh(*catalogue.address(planned)))


def _check_ready(table: Table) -> None:
    """The table must take writes, and no index may be on its way."""
    if table.status not in ("ACTIVE", "UPDATING"):
        raise in_use(f"Table is not ready for a bulk operation: {table.name}")
    if any(index.status in ("CREATING", "DELETING") for index in table.indexes):
        raise in_use(
            f"A bulk operation cannot start while an index is being created or deleted: {table.name}"
        )


def _repeated(
    reader: Reader, place: JobPlace, token: str | None, same: bytes, now: float
) -> Described | None:
    """The answer to a request that was answered before."""
    conflict = ApiError(
        "IdempotentParameterMismatchException",
        "Duplicate request detected with conflicting parameters",
    )
    earlier = earlier_job(
        reader, BULK_OPERATIONS, _KIND, place, token, digest=same, now=now, conflict=conflict
    )
    return None if earlier is None else _answer(*earlier)


def _answer(place: JobPlace, record: BulkOperation) -> Described:
    return Described(StartBulkPutItemsOutput(bulk_operation_description=described(place, record)))


def _record(request: StartBulkPutItems, table: Table, now: float) -> BulkOperation:
    source, target = request.input_s3_configuration, request.output_s3_configuration
    return BulkOperation(
        table=table,
        started_at=now,
        client_token=request.client_token or ids.unique_id(),
        input=BulkInput(
            bucket=source.s3_bucket,
            bucket_owner=source.s3_bucket_owner,
            prefix=source.s3_key_prefix,
            format=source.input_format,
            compression=source.input_compression_type,
        ),
        output=BulkOutput(
            types=tuple(dict.fromkeys(target.output_type)),
            bucket=target.s3_bucket,
            bucket_owner=target.s3_bucket_owner,
            prefix=target.s3_key_prefix,
            sse_algorithm=target.s3_sse_algorithm,
            sse_kms_key_id=target.s3_sse_kms_key_id,
        ),
        units_max=request.max_write_request_units,
        performance_tier=request.performance_tier,
    )
