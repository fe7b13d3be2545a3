"""CreateTable: a new table with its keys, indexes and settings."""

from typing import Any

from hashrange import ids
from hashrange.api import answers, errors
from hashrange.api.context import Context
from hashrange.api.kinds import Flag, ListOf, Member, Struct, Text, Violation
from hashrange.api.plan import Plan, Write
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.tables import ceilings, indexes, key_schemas, settings, shapes, states, tags, throughput
from hashrange.api.tables.description import describe
from hashrange.core.schema import Index, Table, changed
from hashrange.core.table_life import gone, settled
from hashrange.storage import catalogue
from hashrange.storage.engine import Transaction

Request = dict[str, Any]


class _CreateShape(Shape):
    """The service asks for this one member in a sentence of its own."""

    def _violations(self, clean: Request) -> list[Violation]:
        if "TableName" not in clean:
            raise errors.validation(
                "The parameter 'TableName' is required but was not present in the request"
            )
        return super()._violations(clean)


SHAPE = _CreateShape(
    {
        "AttributeDefinitions": Member(shapes.ATTRIBUTE_DEFINITIONS, required=True),
        "TableName": Member(shapes.NAME, required=True),
        "BillingMode": shapes.BILLING_MODE,
        "TableThroughputMode": shapes.BILLING_MODE,
        "ProvisionedThroughput": shapes.PROVISIONED_THROUGHPUT,
        "KeySchema": Member(shapes.key_schema(2), required=True),
        "GlobalSecondaryIndexes": ListOf(
            Struct("GlobalSecondaryIndex", shapes.index_members(None) | shapes.INDEX_THROUGHPUT)
        ),
        "LocalSecondaryIndexes": ListOf(Struct("LocalSecondaryIndex", shapes.index_members(2))),
        "StreamSpecification": shapes.STREAM_SPECIFICATION,
        "SSESpecification": shapes.SSE_SPECIFICATION,
        "TableClass": Text(),
        "DeletionProtectionEnabled": Flag(),
        "OnDemandThroughput": shapes.ON_DEMAND_THROUGHPUT,
        "WarmThroughput": shapes.WARM_THROUGHPUT,
        "Tags": shapes.TAGS,
    }
)


@operation("CreateTable", SHAPE)
def create_table(context: Context, request: Request) -> Plan:
    """Check the definition, then enter the table into the catalogue."""
    now = context.clock.now()
    wanted = _table(context, request, now)

    def step(tx: Transaction) -> bytes:
        _make_room(tx, wanted, now)
        table = changed(wanted, number=catalogue.next_number(tx))
        catalogue.save(tx, table)
        return answers.body({"TableDescription": describe(tx, table, now, created=True)})

    throughput.check_quotas(wanted, _others(context, wanted))
    return Write(step, after=lambda: context.catalogue.refresh(*catalogue.address(wanted)))


def _make_room(tx: Transaction, wanted: Table, now: float) -> None:
    stored = catalogue.stored_table(tx, *catalogue.address(wanted))
    if stored is None:
        return
    if gone(stored, now):
        catalogue.remove(tx, stored)
        return
    if settled(stored, now).status == "CREATING":
        states.check_changeable(stored)
    raise errors.in_use(f"Table already exists: {stored.name}")


def _others(context: Context, wanted: Table) -> list[Table]:
    here = (wanted.account_id, wanted.region)
    return [table for table in context.catalogue.tables() if (table.account_id, table.region) == here]


def _table(context: Context, request: Request, now: float) -> Table:
    """The record of the new table, in the order in which the service checks its parts."""
    on_demand = bool(throughput.wants_on_demand(request))
    throughput.check_with_mode(request.get("ProvisionedThroughput"), on_demand=on_demand)
    defined = key_schemas.definitions(request)
    hash_keys, range_keys = key_schemas.table_key(request["KeySchema"], defined)
    found = _indexes(context, request, defined, on_demand=on_demand)
    stream = settings.created_stream(request.get("StreamSpecification"))
    key = settings.encryption_key(request.get("SSESpecification"), context.region, context.account_id)
    settings.check_table_class(request.get("TableClass"))
    settles_at = now + context.settings.transition_ms / 1000
    capacity = throughput.new(request.get("ProvisionedThroughput"))
    table = Table(
        account_id=context.account_id,
        region=context.region,
        name=request["TableName"],
        number=0,
        version=1,
        table_id=ids.unique_id(),
        created_at=now,
        hash=hash_keys[0],
        range=range_keys[0] if range_keys else None,
        attribute_definitions=key_schemas.stored_definitions(defined),
        indexes=tuple(changed(each, status="CREATING", settles_at=settles_at) for each in found),
        next_slot=len(found) + 1,
        status="CREATING",
        settles_at=settles_at,
        on_demand=on_demand,
        on_demand_since=now if on_demand else None,
        throughput=capacity,
        table_class=request.get("TableClass"),
        deletion_protection=request.get("DeletionProtectionEnabled", False),
        sse_key=key,
        stream_view_type=stream,
        stream_label=None if stream is None else settings.stream_label(now),
        tags=tags.new_tags(request.get("Tags", ())),
    )
    return _with_ceilings(table, request)


def _with_ceilings(table: Table, request: Request) -> Table:
    limits, warm = request.get("OnDemandThroughput"), request.get("WarmThroughput")
    if not table.on_demand:
        ceilings.refuse_ceilings(limits, index=None, creating=True)
    found = ceilings.initial_warm(
        warm, table.throughput, on_demand=table.on_demand, index=None, region=table.region
    )
    return changed(
        table,
        on_demand_limits=ceilings.ceilings(None, limits, index=None, region=table.region, creating=True),
        warm=changed(found, settles_at=table.settles_at) if warm else found,
    )


def _indexes(
    context: Context, request: Request, defined: key_schemas.Definitions, *, on_demand: bool
) -> list[Index]:
    local_specs = request.get("LocalSecondaryIndexes", [])
    global_specs = request.get("GlobalSecondaryIndexes", [])
    indexes.check_lists(request)
    for spec in global_specs + local_specs:
        key_schemas.check_defined(spec["KeySchema"], defined)
    schemas = [spec["KeySchema"] for spec in global_specs + local_specs]
    key_schemas.check_all_used(request["KeySchema"], schemas, defined)
    found = []
    for slot, spec in enumerate(global_specs, 1):
        index = indexes.global_index(spec, defined, slot=slot, on_demand=on_demand, region=context.region)
        indexes.check_created_throughput(spec, on_demand=on_demand)
        found.append(index)
    table_hash = request["KeySchema"][0]["AttributeName"]
    for slot, spec in enumerate(local_specs, len(found) + 1):
        found.append(indexes.local_index(spec, defined, slot=slot, table_hash=table_hash))
    indexes.check_names(global_specs + local_specs)
    indexes.check_counts(request)
    indexes.check_projected(found)
    return found
