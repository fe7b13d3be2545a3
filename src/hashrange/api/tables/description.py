"""TableDescription: what the service tells about a table, which members are there and which are not."""

from typing import Literal

from hashrange.api.protocol.structures import Response
from hashrange.api.tables.ceilings import shown_warm
from hashrange.api.tables.throughput import decreases_today
from hashrange.core.schema import Index, KeyAttribute, Status, Table, Throughput, UnitPair, Warm
from hashrange.storage import store
from hashrange.storage.engine import Reader


class AttributeDefinition(Response, kw_only=True):
    """The type of a key attribute."""

    attribute_name: str
    attribute_type: str


class KeySchemaElement(Response, kw_only=True):
    """One attribute of a key."""

    attribute_name: str
    key_type: str


class Projection(Response, kw_only=True):
    """What an index copies."""

    projection_type: str
    non_key_attributes: list[str] | None = None


class ProvisionedThroughputDescription(Response, kw_only=True):
    """Provisioned capacity with its history."""

    number_of_decreases_today: int
    read_capacity_units: int
    write_capacity_units: int
    last_increase_date_time: float | None = None
    last_decrease_date_time: float | None = None


class OnDemandThroughput(Response, kw_only=True):
    """Ceilings on what is consumed per second."""

    max_read_request_units: int | None = None
    max_write_request_units: int | None = None


class WarmThroughputDescription(Response, kw_only=True):
    """What can be served at once."""

    read_units_per_second: int
    write_units_per_second: int
    status: str


class BillingModeSummary(Response, kw_only=True):
    """How capacity is paid for."""

    billing_mode: str
    last_update_to_pay_per_request_date_time: float | None = None


class TableThroughputModeSummary(Response, kw_only=True):
    """The same under a newer name."""

    table_throughput_mode: str
    last_update_to_pay_per_request_date_time: float | None = None


class TableClassSummary(Response, kw_only=True):
    """The table's storage class."""

    table_class: str
    last_update_date_time: float | None = None


class StreamSpecification(Response, kw_only=True):
    """The table's stream."""

    stream_enabled: bool
    stream_view_type: str


ShownStatus = Status | Literal["INACCESSIBLE_ENCRYPTION_CREDENTIALS"]


class SSEDescription(Response, kw_only=True):
    """The key that the table is encrypted with."""

    status: str
    sse_type: str
    kms_master_key_arn: str
    inaccessible_encryption_date_time: float | None = None


class LocalSecondaryIndexDescription(Response, kw_only=True):
    """A local index."""

    index_name: str
    key_schema: list[KeySchemaElement]
    projection: Projection
    index_size_bytes: int
    item_count: int
    index_arn: str


class GlobalSecondaryIndexDescription(LocalSecondaryIndexDescription, kw_only=True):
    """A global index."""

    index_status: Status | None
    provisioned_throughput: ProvisionedThroughputDescription
    backfilling: bool | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: WarmThroughputDescription | None = None


class RestoreSummary(Response, kw_only=True):
    """Where the items of a table come from that is being restored."""

    source_backup_arn: str | None = None
    source_table_arn: str
    restore_date_time: float
    restore_in_progress: bool


class TableDescription(Response, kw_only=True):
    """A table."""

    table_name: str
    table_status: ShownStatus
    table_arn: str
    table_id: str
    provisioned_throughput: ProvisionedThroughputDescription
    item_count: int
    table_size_bytes: int
    deletion_protection_enabled: bool
    table_class_summary: TableClassSummary | None = None
    billing_mode_summary: BillingModeSummary | None = None
    table_throughput_mode_summary: TableThroughputModeSummary | None = None
    stream_specification: StreamSpecification | None = None
    latest_stream_label: str | None = None
    latest_stream_arn: str | None = None
    attribute_definitions: list[AttributeDefinition] | None = None
    key_schema: list[KeySchemaElement] | None = None
    creation_date_time: float | None = None
    warm_throughput: WarmThroughputDescription | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    sse_description: SSEDescription | None = None
    restore_summary: RestoreSummary | None = None
    local_secondary_indexes: list[LocalSecondaryIndexDescription] | None = None
    global_secondary_indexes: list[GlobalSecondaryIndexDescription] | None = None


def describe(reader: Reader, table: Table, now: float, *, created: bool = False) -> TableDescription:
    """The description of a settled table, or of one just changed; a new one's leaves some members out."""
    body = TableDescription(
        table_name=table.name,
        table_status=_status(table),
        table_arn=table.arn,
        table_id=table.table_id,
        provisioned_throughput=_throughput(table.throughput, table.status, now),
        item_count=store.row_count(reader, table),
        table_size_bytes=store.size_bytes(reader, table),
        deletion_protection_enabled=table.deletion_protection,
        table_class_summary=_table_class(table),
    )
    _add_billing(body, table)
    _add_stream(body, table)
    if table.status == "DELETING":
        return body
    body.attribute_definitions = [
        AttributeDefinition(attribute_name=key.name, attribute_type=key.type)
        for key in table.attribute_definitions
    ]
    body.key_schema = key_schema((table.hash,), () if table.range is None else (table.range,))
    body.creation_date_time = timestamp(table.created_at)
    if not created or (table.warm is not None and table.warm.settles_at > now):
        body.warm_throughput = _warm(table.warm, now)
    if table.on_demand_limits is not None:
        body.on_demand_throughput = request_ceilings(table.on_demand_limits)
    body.sse_description = _encryption(table, now)
    if table.restoring is not None:
        body.restore_summary = RestoreSummary(
            source_backup_arn=table.restoring.backup_arn,
            source_table_arn=table.restoring.source_arn,
            restore_date_time=timestamp(table.restoring.restore_at),
            restore_in_progress=True,
        )
    if table.local_indexes:
        body.local_secondary_indexes = [_local(reader, table, index) for index in table.local_indexes]
    if table.global_indexes:
        body.global_secondary_indexes = [
            _global(reader, table, index, now, created=created) for index in table.global_indexes
        ]
    return body


def _status(table: Table) -> ShownStatus:
    """What passes by itself is shown first."""
    if table.inaccessible is not None and table.status == "ACTIVE":
        return "INACCESSIBLE_ENCRYPTION_CREDENTIALS"
    return table.status


def timestamp(moment: float) -> float:
    """A moment as the service gives it: seconds, to the millisecond."""
    return round(moment, 3)


def _table_class(table: Table) -> TableClassSummary | None:
    shown = table.table_class_before if table.updating == "class" else table.table_class
    if shown is None:
        return None
    summary = TableClassSummary(table_class=shown)
    if table.table_class_changes and table.updating != "class":
        summary.last_update_date_time = timestamp(table.table_class_changes[-1])
    return summary


def _add_billing(body: TableDescription, table: Table) -> None:
    """A table that was never on-demand has no summary at all; a newer member repeats the older one."""
    if not table.on_demand and table.on_demand_since is None:
        return
    mode = "PAY_PER_REQUEST" if table.on_demand else "PROVISIONED"
    since = None
    switching = table.on_demand and (table.status == "CREATING" or table.updating == "throughput")
    if table.on_demand_since is not None and not switching:
        since = timestamp(table.on_demand_since)
    body.billing_mode_summary = BillingModeSummary(
        billing_mode=mode, last_update_to_pay_per_request_date_time=since
    )
    body.table_throughput_mode_summary = TableThroughputModeSummary(
        table_throughput_mode=mode, last_update_to_pay_per_request_date_time=since
    )


def _add_stream(body: TableDescription, table: Table) -> None:
    if table.stream_view_type is not None:
        body.stream_specification = StreamSpecification(
            stream_enabled=True, stream_view_type=table.stream_view_type
        )
    if table.stream_label is not None:
        # The latest stream stays known after it has been switched off.
        body.latest_stream_label = table.stream_label
        body.latest_stream_arn = f"{table.arn}/stream/{table.stream_label}"


def _encryption(table: Table, now: float) -> SSEDescription | None:
    updating = now < table.sse_settles_at
    key = table.sse_key_before or table.sse_key if updating else table.sse_key
    if key is None:
        return None
    status = "UPDATING" if updating else "ENABLED"
    lost = table.inaccessible
    return SSEDescription(
        status=status,
        sse_type="KMS",
        kms_master_key_arn=key,
        inaccessible_encryption_date_time=None if lost is None else timestamp(lost.since),
    )


def _local(reader: Reader, table: Table, index: Index) -> LocalSecondaryIndexDescription:
    return LocalSecondaryIndexDescription(
        index_name=index.name,
        key_schema=key_schema(index.hash, index.range),
        projection=projection(index),
        index_size_bytes=store.size_bytes(reader, table, index),
        item_count=store.row_count(reader, table, index),
        index_arn=f"{table.arn}/index/{index.name}",
    )


def _global(
    reader: Reader, table: Table, index: Index, now: float, *, created: bool
) -> GlobalSecondaryIndexDescription:
    body = GlobalSecondaryIndexDescription(
        index_name=index.name,
        key_schema=key_schema(index.hash, index.range),
        projection=projection(index),
        index_size_bytes=store.size_bytes(reader, table, index),
        item_count=store.row_count(reader, table, index),
        index_arn=f"{table.arn}/index/{index.name}",
        index_status=index.status,
        provisioned_throughput=_throughput(index.throughput, index.status, now),
    )
    if index.backfilling and index.status == "CREATING":
        # False while the index is being set up, true while its rows are being written.
        body.backfilling = now >= index.settles_at
    if index.on_demand is not None:
        body.on_demand_throughput = request_ceilings(index.on_demand)
    if not created:
        body.warm_throughput = _warm(index.warm, now)
    return body


def key_schema(
    hash_keys: tuple[KeyAttribute, ...], range_keys: tuple[KeyAttribute, ...]
) -> list[KeySchemaElement]:
    """A key, hash attributes first."""
    elements = [KeySchemaElement(attribute_name=key.name, key_type="HASH") for key in hash_keys]
    return elements + [KeySchemaElement(attribute_name=key.name, key_type="RANGE") for key in range_keys]


def projection(index: Index) -> Projection:
    """What an index copies."""
    names = list(index.non_key_attributes) if index.projection == "INCLUDE" else None
    return Projection(projection_type=index.projection, non_key_attributes=names)


def _throughput(throughput: Throughput, status: Status, now: float) -> ProvisionedThroughputDescription:
    """Capacity as it is, or as it was while a change of it is under way."""
    shown: Throughput | UnitPair = throughput
    decreases = len(decreases_today(throughput, now))
    if status == "UPDATING" and throughput.previous is not None:
        shown = throughput.previous
        lower = throughput.read_units < shown.read_units or throughput.write_units < shown.write_units
        decreases -= lower and decreases > 0
    last_increase, last_decrease = throughput.last_increase, throughput.last_decrease
    return ProvisionedThroughputDescription(
        number_of_decreases_today=decreases,
        read_capacity_units=shown.read_units,
        write_capacity_units=shown.write_units,
        last_increase_date_time=None if last_increase is None else timestamp(last_increase),
        last_decrease_date_time=None if last_decrease is None else timestamp(last_decrease),
    )


def request_ceilings(limits: UnitPair) -> OnDemandThroughput:
    """The ceilings that there are."""
    return OnDemandThroughput(
        max_read_request_units=limits.read_units if limits.read_units > 0 else None,
        max_write_request_units=limits.write_units if limits.write_units > 0 else None,
    )


def _warm(warm: Warm | None, now: float) -> WarmThroughputDescription:
    shown = shown_warm(warm, now)
    return WarmThroughputDescription(
        read_units_per_second=shown.read_units,
        write_units_per_second=shown.write_units,
        status="UPDATING" if warm is not None and now < warm.settles_at else "ACTIVE",
    )
