"""Imports as the service describes them."""

import msgspec

from hashrange.api.protocol.structures import Response
from hashrange.api.tables.description import (
    AttributeDefinition,
    KeySchemaElement,
    OnDemandThroughput,
    Projection,
    timestamp,
)
from hashrange.storage.import_rows import Import
from hashrange.storage.job_rows import JobPlace


class S3BucketSource(Response, kw_only=True):
    """Where the objects are."""

    s3_bucket_owner: str
    s3_bucket: str
    s3_key_prefix: str | None = None


class CsvOptions(Response, kw_only=True):
    """How to read CSV."""

    delimiter: str | None = None
    header_list: list[str] | None = None


class InputFormatOptions(Response, kw_only=True):
    """How to read a format."""

    csv: CsvOptions | None = None


class ProvisionedThroughput(Response, kw_only=True):
    """Units per second."""

    read_capacity_units: int
    write_capacity_units: int


class SSESpecification(Response, kw_only=True):
    """The key that the table is encrypted with."""

    enabled: bool | None = None
    sse_type: str | None = None
    kms_master_key_id: str | None = None


class WarmThroughput(Response, kw_only=True):
    """What can be served at once."""

    read_units_per_second: int | None = None
    write_units_per_second: int | None = None


class GlobalSecondaryIndex(Response, kw_only=True):
    """A global index of the new table."""

    index_name: str
    key_schema: list[KeySchemaElement]
    projection: Projection
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: WarmThroughput | None = None


class TableCreationParameters(Response, kw_only=True):
    """The new table."""

    table_name: str
    attribute_definitions: list[AttributeDefinition]
    key_schema: list[KeySchemaElement]
    billing_mode: str | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    sse_specification: SSESpecification | None = None
    global_secondary_indexes: list[GlobalSecondaryIndex] | None = None


class ImportTableDescription(Response, kw_only=True):
    """An import."""

    import_arn: str
    import_status: str
    table_arn: str
    table_id: str
    client_token: str
    s3_bucket_source: S3BucketSource
    error_count: int
    cloud_watch_log_group_arn: str
    input_format: str
    input_format_options: InputFormatOptions | None = None
    input_compression_type: str
    table_creation_parameters: TableCreationParameters
    start_time: float
    end_time: float | None = None
    processed_size_bytes: int
    processed_item_count: int
    imported_item_count: int
    failure_code: str | None = None
    failure_message: str | None = None


def import_arn(place: JobPlace, record: Import) -> str:
    """The import's Amazon resource name."""
    return f"{record.table.arn}/import/{place.id}"


def log_group_arn(place: JobPlace) -> str:
    """What stands for the files of rejected items: see docs/export-import.md."""
    return f"arn:aws:logs:{place.region}:{place.account_id}:log-group:/aws-dynamodb/imports:*"


def bucket_source(record: Import) -> S3BucketSource:
    """Where the objects of an import are."""
    return S3BucketSource(
        s3_bucket_owner=record.bucket_owner or record.table.account_id,
        s3_bucket=record.bucket,
        s3_key_prefix=record.prefix,
    )


def described(place: JobPlace, record: Import) -> ImportTableDescription:
    """What the service tells about an import."""
    options = record.format_options
    return ImportTableDescription(
        import_arn=import_arn(place, record),
        import_status=record.status,
        table_arn=record.table.arn,
        table_id=record.table.table_id,
        client_token=record.client_token,
        s3_bucket_source=bucket_source(record),
        error_count=record.rejected,
        cloud_watch_log_group_arn=log_group_arn(place),
        input_format=record.options.input_format,
        input_format_options=None
        if options is None
        else msgspec.json.decode(options, type=InputFormatOptions),
        input_compression_type=record.options.compression,
        table_creation_parameters=msgspec.json.decode(record.parameters, type=TableCreationParameters),
        start_time=timestamp(record.started_at),
        end_time=None if record.ended_at is None else timestamp(record.ended_at),
        processed_size_bytes=record.position.processed,
        processed_item_count=record.imported + record.rejected,
        imported_item_count=record.imported,
        failure_code=record.failure_code,
        failure_message=record.failure_message,
    )
