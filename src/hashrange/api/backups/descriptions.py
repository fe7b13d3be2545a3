"""Backups as the service describes them."""

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.structures import Response
from hashrange.api.tables.description import (
    KeySchemaElement,
    OnDemandThroughput,
    Projection,
    SSEDescription,
    StreamSpecification,
    key_schema,
    projection,
    request_ceilings,
    timestamp,
)
from hashrange.core.schema import Index, Table
from hashrange.storage import backup_rows
from hashrange.storage.backup_rows import BACKUPS, Backup
from hashrange.storage.engine import Reader
from hashrange.storage.job_rows import JobPlace


class BackupDetails(Response, kw_only=True):
    """The backup itself."""

    backup_arn: str
    backup_name: str
    backup_size_bytes: int
    backup_status: str
    backup_type: str
    backup_creation_date_time: float
    backup_expiry_date_time: float | None = None


class CapacityUnits(Response, kw_only=True):
    """Provisioned capacity without its history."""

    read_capacity_units: int
    write_capacity_units: int


class SourceTableDetails(Response, kw_only=True):
    """The table as it was."""

    table_name: str
    table_id: str
    table_arn: str
    table_size_bytes: int
    key_schema: list[KeySchemaElement]
    table_creation_date_time: float
    provisioned_throughput: CapacityUnits
    on_demand_throughput: OnDemandThroughput | None = None
    item_count: int
    billing_mode: str


class LocalSecondaryIndexInfo(Response, kw_only=True):
    """A local index as it was."""

    index_name: str
    key_schema: list[KeySchemaElement]
    projection: Projection


class GlobalSecondaryIndexInfo(LocalSecondaryIndexInfo, kw_only=True):
    """A global index as it was."""

    provisioned_throughput: CapacityUnits
    on_demand_throughput: OnDemandThroughput | None = None


class TimeToLiveInfo(Response, kw_only=True):
    """How items expired."""

    time_to_live_status: str
    attribute_name: str


class SourceTableFeatureDetails(Response, kw_only=True):
    """What the table had beside its items."""

    local_secondary_indexes: list[LocalSecondaryIndexInfo] | None = None
    global_secondary_indexes: list[GlobalSecondaryIndexInfo] | None = None
    stream_description: StreamSpecification | None = None
    time_to_live_description: TimeToLiveInfo | None = None
    sse_description: SSEDescription | None = None


class BackupDescription(Response, kw_only=True):
    """All about a backup."""

    backup_details: BackupDetails
    source_table_details: SourceTableDetails
    source_table_feature_details: SourceTableFeatureDetails


def described(place: JobPlace, backup: Backup, status: str | None = None) -> BackupDescription:
    """The description of a backup."""
    return BackupDescription(
        backup_details=details(place, backup, status),
        source_table_details=_table(backup),
        # The backup of a deleted table has none (measured).
        source_table_feature_details=SourceTableFeatureDetails()
        if backup.type == "SYSTEM"
        else _features(backup.source),
    )


def details(place: JobPlace, backup: Backup, status: str | None = None) -> BackupDetails:
    """The backup itself."""
    return BackupDetails(
        backup_arn=backup_rows.arn(place, backup.source.name),
        backup_name=backup.name,
        backup_size_bytes=backup.size,
        backup_status=status or backup.status,
        backup_type=backup.type,
        backup_creation_date_time=timestamp(backup.created_at),
        backup_expiry_date_time=None if backup.expires_at is None else timestamp(backup.expires_at),
    )


def find(reader: Reader, arn: str, place: JobPlace) -> Backup:
    """The backup, which must be there."""
    backup = BACKUPS.find(reader, place)
    if backup is None or backup.status == "DELETED":
        raise not_found(arn)
    return backup


def not_found(arn: str) -> ApiError:
    """BackupNotFoundException."""
    return ApiError("BackupNotFoundException", f"Backup not found: {arn}")


def place_of(context: Context, arn: str) -> JobPlace:
    """What an ARN stands for; the region in it does not count (measured)."""
    parts = arn.split(":", 5)
    if len(parts) < 6 or parts[0] != "arn" or "/backup/" not in parts[5]:
        raise errors.validation("Invalid Backup ARN")
    parsed = backup_rows.parse_arn(arn)
    if parsed is None:
        raise errors.validation("Invalid Request: BackupArn is not valid")
    place, _ = parsed
    if place.account_id != context.account_id:
        raise ApiError("AccessDeniedException", "Access is denied")
    return place._replace(region=context.region)


def _table(backup: Backup) -> SourceTableDetails:
    table = backup.source
    return SourceTableDetails(
        table_name=table.name,
        table_id=table.table_id,
        table_arn=table.arn,
        table_size_bytes=backup.size,
        key_schema=key_schema((table.hash,), () if table.range is None else (table.range,)),
        table_creation_date_time=timestamp(table.created_at),
        provisioned_throughput=_units(table),
        on_demand_throughput=None
        if table.on_demand_limits is None
        else request_ceilings(table.on_demand_limits),
        item_count=backup.items,
        billing_mode="PAY_PER_REQUEST" if table.on_demand else "PROVISIONED",
    )


def _units(owner: Table | Index) -> CapacityUnits:
    return CapacityUnits(
        read_capacity_units=owner.throughput.read_units, write_capacity_units=owner.throughput.write_units
    )


def _features(table: Table) -> SourceTableFeatureDetails:
    features = SourceTableFeatureDetails()
    if table.stream_view_type is not None:
        features.stream_description = StreamSpecification(
            stream_enabled=True, stream_view_type=table.stream_view_type
        )
    if table.ttl is not None:
        features.time_to_live_description = TimeToLiveInfo(
            time_to_live_status="ENABLED", attribute_name=table.ttl.attribute
        )
    if table.sse_key is not None:
        features.sse_description = SSEDescription(
            status="ENABLED", sse_type="KMS", kms_master_key_arn=table.sse_key
        )
    if table.local_indexes:
        features.local_secondary_indexes = [
            LocalSecondaryIndexInfo(
                index_name=index.name,
                key_schema=key_schema(index.hash, index.range),
                projection=projection(index),
            )
            for index in table.local_indexes
        ]
    if table.global_indexes:
        features.global_secondary_indexes = [
            GlobalSecondaryIndexInfo(
                index_name=index.name,
                key_schema=key_schema(index.hash, index.range),
                projection=projection(index),
                provisioned_throughput=_units(index),
                on_demand_throughput=None if index.on_demand is None else request_ceilings(index.on_demand),
            )
            for index in table.global_indexes
        ]
    return features
