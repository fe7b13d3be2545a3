"""New tables: what CreateTable and ImportTable may say of one, and the record that comes of it."""

from hashrange import ids
from hashrange.api.context import Context
from hashrange.api.protocol.structures import NewName, Request
from hashrange.api.tables import ceilings, indexes, key_schemas, settings, tags, throughput
from hashrange.api.tables.structures import (
    AttributeDefinition,
    BillingMode,
    GlobalSecondaryIndex,
    LocalSecondaryIndex,
    OnDemandThroughput,
    PairKeySchema,
    ProvisionedThroughput,
    SSESpecification,
    StreamSpecification,
    Tag,
    WarmThroughput,
)
from hashrange.core import partitions
from hashrange.core.schema import Index, Table, changed


class TableDefinition(Request, kw_only=True):
    """All that CreateTable takes."""

    attribute_definitions: list[AttributeDefinition]
    table_name: NewName
    billing_mode: BillingMode | None = None
    table_throughput_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    key_schema: PairKeySchema
    global_secondary_indexes: list[GlobalSecondaryIndex] | None = None
    local_secondary_indexes: list[LocalSecondaryIndex] | None = None
    stream_specification: StreamSpecification | None = None
    sse_specification: SSESpecification | None = None
    table_class: str | None = None
    deletion_protection_enabled: bool | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: WarmThroughput | None = None
    tags: list[Tag] | None = None


def new_table(context: Context, request: TableDefinition, now: float) -> Table:
    """The record of the new table, within the account's quotas; its number is given when it is stored.

    Its key is named as in the request until then: see api/keys/table_encryption.py.
    """
    new = _table(context, request, now)
    throughput.check_quotas(new, _others(context, new))
    return new


def _others(context: Context, new: Table) -> list[Table]:
    here = (new.account_id, new.region)
    return [table for table in context.catalogue.tables() if (table.account_id, table.region) == here]


def _table(context: Context, request: TableDefinition, now: float) -> Table:
    """The record of the new table, in the order in which the service checks its parts."""
    on_demand = bool(throughput.wants_on_demand(request))
    throughput.check_with_mode(request.provisioned_throughput, on_demand=on_demand)
    defined = key_schemas.definitions(request.attribute_definitions)
    hash_keys, range_keys = key_schemas.table_key(request.key_schema, defined)
    new_indexes = _indexes(context, request, defined, on_demand=on_demand)
    stream = settings.created_stream(request.stream_specification)
    key = settings.encryption_key(request.sse_specification)
    settings.check_table_class(request.table_class)
    settles_at = now + context.settings.transition_ms / 1000
    capacity = throughput.new(request.provisioned_throughput)
    table = Table(
        account_id=context.account_id,
        region=context.region,
        name=request.table_name,
        number=0,
        version=1,
        table_id=ids.unique_id(),
        created_at=now,
        hash=hash_keys[0],
        range=range_keys[0] if range_keys else None,
        attribute_definitions=key_schemas.stored_definitions(defined),
        indexes=tuple(changed(index, status="CREATING", settles_at=settles_at) for index in new_indexes),
        next_slot=len(new_indexes) + 1,
        status="CREATING",
        settles_at=settles_at,
        on_demand=on_demand,
        on_demand_since=now if on_demand else None,
        throughput=capacity,
        table_class=request.table_class,
        deletion_protection=request.deletion_protection_enabled is True,
        sse_key=key,
        stream_view_type=stream,
        tags=tags.new_tags(request.tags or ()),
    )
    return partitions.created(_with_ceilings(table, request))


def _with_ceilings(table: Table, request: TableDefinition) -> Table:
    limits, warm = request.on_demand_throughput, request.warm_throughput
    if not table.on_demand:
        ceilings.refuse_ceilings(limits, index=None, creating=True)
    initial = ceilings.initial_warm(
        warm, table.throughput, on_demand=table.on_demand, index=None, region=table.region
    )
    return changed(
        table,
        on_demand_limits=ceilings.ceilings(None, limits, index=None, region=table.region, creating=True),
        warm=changed(initial, settles_at=table.settles_at) if warm else initial,
    )


def _indexes(
    context: Context, request: TableDefinition, defined: key_schemas.Definitions, *, on_demand: bool
) -> list[Index]:
    local_specs = request.local_secondary_indexes or []
    global_specs = request.global_secondary_indexes or []
    indexes.check_lists(request.global_secondary_indexes, request.local_secondary_indexes, request.key_schema)
    specs: list[GlobalSecondaryIndex | LocalSecondaryIndex] = [*global_specs, *local_specs]
    for spec in specs:
        key_schemas.check_defined(spec.key_schema, defined)
    schemas = [spec.key_schema for spec in specs]
    key_schemas.check_all_used(request.key_schema, schemas, defined)
    defined_indexes: list[Index] = []
    for slot, global_spec in enumerate(global_specs, 1):
        index = indexes.global_index(
            global_spec, defined, slot=slot, on_demand=on_demand, region=context.region
        )
        indexes.check_created_throughput(global_spec, on_demand=on_demand)
        defined_indexes.append(index)
    table_hash = request.key_schema[0].attribute_name
    for slot, local_spec in enumerate(local_specs, len(defined_indexes) + 1):
        defined_indexes.append(indexes.local_index(local_spec, defined, slot=slot, table_hash=table_hash))
    indexes.check_names(specs)
    indexes.check_counts(global_specs, local_specs)
    indexes.check_projected(defined_indexes)
    return defined_indexes
