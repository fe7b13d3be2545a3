"""The table that a restore makes: like its source, apart from what the request overrides and what is never kept."""

from collections.abc import Sequence

from hashrange import ids
from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.keys.table_encryption import keeper, with_key
from hashrange.api.protocol.structures import NewName, Request
from hashrange.api.tables import ceilings, settings, wording
from hashrange.api.tables.indexes import projected
from hashrange.api.tables.structures import (
    BillingMode,
    GlobalSecondaryIndex,
    KeySchemaElement,
    LocalSecondaryIndex,
    OnDemandThroughput,
    Projection,
    ProvisionedThroughput,
    SSESpecification,
)
from hashrange.core import partitions
from hashrange.core.schema import Index, Restoring, Table, Throughput, UnitPair
from hashrange.core.table_life import used_definitions
from hashrange.storage.engine import Transaction

NEVER = 1e11  # when a restore is over says its job


class Overrides(Request, kw_only=True):
    """What the requests for restores have in common: the new table's name, and what is to be different."""

    target_table_name: NewName
    billing_mode_override: BillingMode | None = None
    global_secondary_index_override: list[GlobalSecondaryIndex] | None = None
    local_secondary_index_override: list[LocalSecondaryIndex] | None = None
    provisioned_throughput_override: ProvisionedThroughput | None = None
    on_demand_throughput_override: OnDemandThroughput | None = None
    sse_specification_override: SSESpecification | None = None


def invalid(rule: str) -> errors.ApiError:
    """ValidationException as these operations word it."""
    return errors.validation(f"Invalid Request: {rule}")


def check_region(context: Context, region: str, request: Overrides) -> None:
    """Keys do not leave their region: a restore into another one must say which key it has there."""
    if region != context.region and request.sse_specification_override is None:
        raise invalid("sseSpecificationOverride must be provided for cross-region restores")


def restored_table(
    context: Context, tx: Transaction, source: Table, request: Overrides, restoring: Restoring
) -> Table:
    """The record of the new table; its number is given when it is stored."""
    now = context.clock.now()
    on_demand = _on_demand(source, request)
    indexes = _indexes(source, request, on_demand=on_demand)
    capacity = _capacity(source, request, on_demand=on_demand)
    key = source.sse_key
    if request.sse_specification_override is not None:
        key = settings.encryption_key(request.sse_specification_override)
    table = Table(
        account_id=context.account_id,
        region=context.region,
        name=request.target_table_name,
        number=0,
        version=1,
        table_id=ids.unique_id(),
        created_at=now,
        hash=source.hash,
        range=source.range,
        attribute_definitions=used_definitions(source, indexes),
        indexes=indexes,
        next_slot=len(indexes) + 1,
        status="CREATING",
        settles_at=NEVER,
        on_demand=on_demand,
        on_demand_since=now if on_demand else None,
        throughput=capacity,
        warm=ceilings.initial_warm(None, capacity, on_demand=on_demand, index=None, region=context.region),
        on_demand_limits=_limits(source, request, on_demand=on_demand),
        sse_key=key,
        restoring=restoring,
    )
    return partitions.created(with_key(tx, keeper(context, key, table.name), table))


def _on_demand(source: Table, request: Overrides) -> bool:
    mode, capacity = request.billing_mode_override, request.provisioned_throughput_override
    if mode == "PAY_PER_REQUEST" and capacity is not None:
        raise invalid("Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST")
    if mode is None and source.on_demand and capacity is not None:
        raise invalid("Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED")
    if mode == "PROVISIONED" and capacity is None and source.on_demand:
        raise invalid("Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED")
    return source.on_demand if mode is None else mode == "PAY_PER_REQUEST"


def _capacity(source: Table, request: Overrides, *, on_demand: bool) -> Throughput:
    if on_demand:
        return Throughput()
    spec = request.provisioned_throughput_override
    if spec is not None:
        return Throughput(read_units=spec.read_capacity_units, write_units=spec.write_capacity_units)
    return Throughput(read_units=source.throughput.read_units, write_units=source.throughput.write_units)


def _limits(source: Table, request: Overrides, *, on_demand: bool) -> UnitPair | None:
    spec = request.on_demand_throughput_override
    if spec:
        if not on_demand:
            raise invalid(
                "Cannot override MaxReadRequestUnits for OnDemandThroughput unless BillingModeOverride is "
                "PAY_PER_REQUEST"
            )
        for name, units in (
            ("MaxReadRequestUnits", spec.max_read_request_units),
            ("MaxWriteRequestUnits", spec.max_write_request_units),
        ):
            if units is not None and units < 1:
                raise invalid(f"Requested {name} for OnDemandThroughput is outside of valid range")
        return UnitPair(
            read_units=spec.max_read_request_units or -1, write_units=spec.max_write_request_units or -1
        )
    return source.on_demand_limits if on_demand else None


def _indexes(source: Table, request: Overrides, *, on_demand: bool) -> tuple[Index, ...]:
    kept = [index for index in source.indexes if index.status != "DELETING"]
    chosen: list[Index] = []
    for local, specs in (
        (False, request.global_secondary_index_override),
        (True, request.local_secondary_index_override),
    ):
        own = [index for index in kept if index.local is local]
        chosen += own if specs is None else _matching_each(specs, own)
    names = [index.name for index in chosen]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise wording.invalid(f"Duplicate index name: {name}")
    return tuple(
        _fresh(index, request, slot, on_demand=on_demand, source_on_demand=source.on_demand)
        for slot, index in enumerate(chosen, 1)
    )


def _matching_each(
    specs: Sequence[GlobalSecondaryIndex] | Sequence[LocalSecondaryIndex], own: Sequence[Index]
) -> list[Index]:
    """The source's indexes that the entries describe, each of them once."""
    left, chosen = list(own), []
    for spec in specs:
        found = _matching(spec, left)
        left = [index for index in left if index.slot != found.slot]
        chosen.append(found)
    return chosen


def _matching(spec: GlobalSecondaryIndex | LocalSecondaryIndex, own: Sequence[Index]) -> Index:
    """The source's index that an entry describes: keys and projection must be the same, the name may differ."""
    for index in own:
        if _same_keys(spec.key_schema, index) and _same_projection(spec.projection, index):
            return _renamed(index, spec)
    raise invalid(
        f"Index {spec.index_name} does not match a secondary index that existed in the source table and cannot be "
        "created during the restore operation"
    )


def _renamed(index: Index, spec: GlobalSecondaryIndex | LocalSecondaryIndex) -> Index:
    throughput = getattr(spec, "provisioned_throughput", None)
    limits = getattr(spec, "on_demand_throughput", None)
    return Index(
        name=spec.index_name,
        slot=index.slot,
        local=index.local,
        hash=index.hash,
        range=index.range,
        projection=index.projection,
        non_key_attributes=index.non_key_attributes,
        throughput=Throughput()
        if throughput is None
        else Throughput(
            read_units=throughput.read_capacity_units, write_units=throughput.write_capacity_units
        ),
        on_demand=None
        if not limits
        else UnitPair(
            read_units=limits.max_read_request_units or -1, write_units=limits.max_write_request_units or -1
        ),
    )


def _same_keys(elements: Sequence[KeySchemaElement], index: Index) -> bool:
    hash_keys = [element.attribute_name for element in elements if element.key_type == "HASH"]
    range_keys = [element.attribute_name for element in elements if element.key_type == "RANGE"]
    return hash_keys == [key.name for key in index.hash] and range_keys == [key.name for key in index.range]


def _same_projection(spec: Projection, index: Index) -> bool:
    return projected(spec) == (index.projection, tuple(sorted(index.non_key_attributes)))


def _fresh(index: Index, request: Overrides, slot: int, *, on_demand: bool, source_on_demand: bool) -> Index:
    """An index of the new table, whose rows are written with its items."""
    throughput = Throughput()
    if not on_demand and not index.local:
        throughput = Throughput(
            read_units=index.throughput.read_units, write_units=index.throughput.write_units
        )
        if not throughput.read_units:
            raise invalid(f"Must specify provisioned throughput for index {index.name}")
    warm = None
    if not index.local:
        warm = ceilings.initial_warm(None, throughput, on_demand=on_demand, index=index.name, region="")
    return Index(
        name=index.name,
        slot=slot,
        local=index.local,
        hash=index.hash,
        range=index.range,
        projection=index.projection,
        non_key_attributes=index.non_key_attributes,
        status="ACTIVE" if index.local else "CREATING",
        settles_at=0.0 if index.local else NEVER,
        throughput=throughput,
        on_demand=index.on_demand if on_demand else None,
        warm=warm,
    )
