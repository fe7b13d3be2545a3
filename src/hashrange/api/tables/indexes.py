"""Secondary indexes as a request defines them."""

from collections.abc import Sequence

from hashrange.api import errors
from hashrange.api.tables import ceilings, key_schemas, throughput
from hashrange.api.tables.key_schemas import Definitions
from hashrange.api.tables.structures import (
    GlobalSecondaryIndex,
    KeySchemaElement,
    LocalSecondaryIndex,
    Projection,
)
from hashrange.api.tables.wording import invalid, over_limit
from hashrange.core.limits import GLOBAL_INDEXES_MAX, LOCAL_INDEXES_MAX, PROJECTED_ATTRIBUTES_MAX
from hashrange.core.schema import Index
from hashrange.core.schema import Projection as ProjectionKind

GlobalSpecs = Sequence[GlobalSecondaryIndex] | None
LocalSpecs = Sequence[LocalSecondaryIndex] | None


def check_lists(global_specs: GlobalSpecs, local_specs: LocalSpecs, key: Sequence[KeySchemaElement]) -> None:
    """What can be said about the lists of indexes before looking at any one of them."""
    for name, specs in (("GlobalSecondaryIndexes", global_specs), ("LocalSecondaryIndexes", local_specs)):
        if specs is not None and not specs:
            raise invalid(f"List of {name} is empty")
    if local_specs is not None and len(key) < 2:
        raise invalid(
            "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
        )


def check_counts(global_specs: GlobalSpecs, local_specs: LocalSpecs) -> None:
    """How many indexes a table may have, and how many attributes they may copy."""
    if len(local_specs or ()) > LOCAL_INDEXES_MAX:
        raise invalid(f"Number of LocalSecondaryIndexes exceeds per-table limit of {LOCAL_INDEXES_MAX}")
    check_global_count(len(global_specs or ()))


def check_global_count(count: int) -> None:
    """The same for a new table and for one that gets another index."""
    if count > GLOBAL_INDEXES_MAX:
        # Unlike the limit on local indexes this one can be raised for an account.
        raise over_limit(
            f"Number of global secondary indexes exceeds per-table limit of {GLOBAL_INDEXES_MAX}"
        )


def check_names(specs: Sequence[GlobalSecondaryIndex | LocalSecondaryIndex]) -> None:
    """An index's name is its own within the table."""
    seen = set()
    for spec in specs:
        if spec.index_name in seen:
            raise invalid(f"Duplicate index name: {spec.index_name}")
        seen.add(spec.index_name)


def check_projected(indexes: Sequence[Index]) -> None:
    """All indexes together copy at most so many attributes; one copied twice counts twice."""
    if sum(len(index.non_key_attributes) for index in indexes) > PROJECTED_ATTRIBUTES_MAX:
        raise invalid(f"NonKeyAttributes count exceeds the per-table limit of {PROJECTED_ATTRIBUTES_MAX}")


def local_index(spec: LocalSecondaryIndex, defined: Definitions, *, slot: int, table_hash: str) -> Index:
    """A local secondary index."""
    name = spec.index_name
    hash_keys, range_keys = key_schemas.local_key(name, spec.key_schema, defined, table_hash)
    projection, names = projected(spec.projection)
    return Index(
        name=name,
        slot=slot,
        local=True,
        hash=hash_keys,
        range=range_keys,
        projection=projection,
        non_key_attributes=names,
    )


def global_index(
    spec: GlobalSecondaryIndex, defined: Definitions, *, slot: int, on_demand: bool, region: str
) -> Index:
    """A global secondary index, with throughput of its own."""
    name = spec.index_name
    hash_keys, range_keys = key_schemas.global_key(spec.key_schema, defined)
    projection, names = projected(spec.projection)
    capacity = throughput.new(spec.provisioned_throughput)
    limits = ceilings.ceilings(None, spec.on_demand_throughput, index=name, region=region, creating=True)
    warm = ceilings.initial_warm(
        spec.warm_throughput, capacity, on_demand=on_demand, index=name, region=region
    )
    return Index(
        name=name,
        slot=slot,
        local=False,
        hash=hash_keys,
        range=range_keys,
        projection=projection,
        non_key_attributes=names,
        throughput=capacity,
        on_demand=limits,
        warm=warm,
    )


def check_created_throughput(spec: GlobalSecondaryIndex, *, on_demand: bool) -> None:
    """A new table's global index has capacity exactly if the table has."""
    name, provisioned = spec.index_name, spec.provisioned_throughput is not None
    if on_demand and provisioned:
        raise invalid(
            f"ProvisionedThroughput should not be specified for index: {name} when BillingMode is "
            "PAY_PER_REQUEST"
        )
    if not on_demand and not provisioned:
        raise invalid(f"ProvisionedThroughput is not specified for index: {name}")
    if not on_demand:
        ceilings.refuse_ceilings(spec.on_demand_throughput, index=name, creating=True)


def check_added_throughput(spec: GlobalSecondaryIndex, *, on_demand: bool) -> None:
    """The same for an index added to a live table, in other words."""
    name, provisioned = spec.index_name, spec.provisioned_throughput is not None
    if on_demand and provisioned:
        raise invalid(
            f"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {name} when "
            "BillingMode is PAY_PER_REQUEST"
        )
    if not on_demand and not provisioned:
        raise invalid(f"Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {name}")
    if not on_demand:
        ceilings.refuse_ceilings(spec.on_demand_throughput, index=name, creating=False)


def projected(spec: Projection) -> tuple[ProjectionKind, tuple[str, ...]]:
    """What an index copies, beside the keys; names come back sorted."""
    kind = spec.projection_type
    names = spec.non_key_attributes
    if kind is None:
        raise invalid("Unknown ProjectionType: null")
    if kind != "INCLUDE" and names is not None:
        raise invalid(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    if kind == "INCLUDE" and names is None:
        raise invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    for at, name in enumerate(names or ()):
        if name in (names or ())[:at]:
            raise invalid(f"Duplicate element in NonKeyAttributes: {name}")
    return kind, tuple(sorted(names or ()))


def missing_index(name: str, table: str) -> errors.ApiError:
    """ResourceNotFoundException for an index."""
    return errors.not_found(f"Requested resource not found: Index {name} for table {table}")
