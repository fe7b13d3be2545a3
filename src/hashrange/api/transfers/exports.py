"""Exports as the service describes them."""

import msgspec

from hashrange.api.protocol.structures import AttributeMap, AttributeNames, Response
from hashrange.api.tables.description import timestamp
from hashrange.storage.export_rows import Export
from hashrange.storage.job_rows import JobPlace


class IncrementalExportSpecification(Response, kw_only=True):
    """Which changes, and which images of them."""

    export_from_time: float
    export_to_time: float
    export_view_type: str


class FilterSpecification(Response, kw_only=True):
    """Which items, and what of them."""

    key_condition_expression: str | None = None
    filter_expression: str | None = None
    projection_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None
    expression_attribute_values: AttributeMap | None = None


class ExportDescription(Response, kw_only=True):
    """An export."""

    export_arn: str
    export_status: str
    start_time: float
    end_time: float | None = None
    export_manifest: str | None = None
    table_arn: str
    table_id: str
    export_time: float | None = None
    client_token: str
    s3_bucket: str
    s3_bucket_owner: str | None = None
    s3_prefix: str | None = None
    s3_sse_algorithm: str = msgspec.field(name="S3SseAlgorithm")
    s3_sse_kms_key_id: str | None = msgspec.field(name="S3SseKmsKeyId", default=None)
    failure_code: str | None = None
    failure_message: str | None = None
    export_format: str
    billed_size_bytes: int | None = None
    item_count: int | None = None
    export_type: str | None = None
    incremental_export_specification: IncrementalExportSpecification | None = None
    filter_specification: FilterSpecification | None = None
    destination_type: str


def export_arn(place: JobPlace, export: Export) -> str:
    """The export's Amazon resource name."""
    return f"{export.source.arn}/export/{place.id}"


def described(place: JobPlace, export: Export) -> ExportDescription:
    """What the service tells about an export."""
    is_complete = export.status == "COMPLETED"
    window = export.window
    return ExportDescription(
        export_arn=export_arn(place, export),
        export_status=export.status,
        start_time=timestamp(export.started_at),
        end_time=None if export.ended_at is None else timestamp(export.ended_at),
        export_manifest=export.manifest,
        table_arn=export.source.arn,
        table_id=export.source.table_id,
        export_time=None if export.export_time is None else timestamp(export.export_time),
        client_token=export.client_token,
        s3_bucket=export.bucket,
        s3_bucket_owner=export.bucket_owner,
        s3_prefix=export.prefix,
        s3_sse_algorithm=export.sse_algorithm or "AES256",
        s3_sse_kms_key_id=export.sse_kms_key_id,
        failure_code=export.failure_code,
        failure_message=export.failure_message,
        export_format=export.format,
        billed_size_bytes=export.billed_size if is_complete else None,
        item_count=export.progress.items if is_complete else None,
        export_type=None if window is None else "INCREMENTAL_EXPORT",
        incremental_export_specification=None
        if window is None
        else IncrementalExportSpecification(
            export_from_time=timestamp(window.start),
            export_to_time=timestamp(window.end),
            export_view_type=window.view_type,
        ),
        filter_specification=None
        if export.filter is None
        else msgspec.convert(export.filter, FilterSpecification, from_attributes=True),
        destination_type="S3",
    )
