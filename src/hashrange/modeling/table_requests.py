"""Table requests: what creates a model's tables, and switches on what CreateTable cannot."""

from __future__ import annotations

from typing import Literal

import msgspec

from hashrange.modeling.model import Index, KeyAttribute, Model, Scaling, Table
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.requests import ApiRequest
from hashrange.modeling.sizes import table_keys


class _Element(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", omit_defaults=True):
    """What the members of requests have in common."""


class AttributeDefinition(_Element, frozen=True, kw_only=True):
    attribute_name: str
    attribute_type: Literal["S", "N", "B"]


class KeySchemaElement(_Element, frozen=True, kw_only=True):
    attribute_name: str
    key_type: Literal["HASH", "RANGE"]


class Projection(_Element, frozen=True, kw_only=True):
    projection_type: Literal["ALL", "KEYS_ONLY", "INCLUDE"]
    non_key_attributes: list[str] = []


class ProvisionedThroughput(_Element, frozen=True, kw_only=True):
    read_capacity_units: int
    write_capacity_units: int


class SecondaryIndex(_Element, frozen=True, kw_only=True):
    index_name: str
    key_schema: list[KeySchemaElement]
    projection: Projection
    provisioned_throughput: ProvisionedThroughput | None = None


class StreamSpecification(_Element, frozen=True, kw_only=True):
    stream_enabled: bool
    stream_view_type: str


class CreateTable(ApiRequest, frozen=True, kw_only=True):
    operation = "CreateTable"
    table_name: str
    attribute_definitions: list[AttributeDefinition]
    key_schema: list[KeySchemaElement]
    local_secondary_indexes: tuple[SecondaryIndex, ...] = ()
    global_secondary_indexes: tuple[SecondaryIndex, ...] = ()
    billing_mode: Literal["PAY_PER_REQUEST", "PROVISIONED"]
    provisioned_throughput: ProvisionedThroughput | None = None
    stream_specification: StreamSpecification | None = None
    table_class: str | None = None


class TimeToLiveSpecification(_Element, frozen=True, kw_only=True):
    enabled: bool
    attribute_name: str


class UpdateTimeToLive(ApiRequest, frozen=True, kw_only=True):
    operation = "UpdateTimeToLive"
    table_name: str
    time_to_live_specification: TimeToLiveSpecification


class PointInTimeRecoverySpecification(_Element, frozen=True, kw_only=True):
    point_in_time_recovery_enabled: bool


class UpdateContinuousBackups(ApiRequest, frozen=True, kw_only=True):
    operation = "UpdateContinuousBackups"
    table_name: str
    point_in_time_recovery_specification: PointInTimeRecoverySpecification


def create_table(table: Table, model: Model) -> CreateTable:
    """The request that makes a table. Auto scaling begins at its minimum."""
    units = _units(table.read_scaling, table.write_scaling) if table.billing == "PROVISIONED" else None
    local = tuple(_index(table, index, None) for index in table.indexes if index.local)
    others = tuple(_index(table, index, units) for index in table.indexes if not index.local)
    return CreateTable(
        table_name=table.name,
        attribute_definitions=[
            AttributeDefinition(attribute_name=key.name, attribute_type=key.type)
            for key in sorted(table_keys(table).values(), key=lambda key: key.name)
        ],
        key_schema=_key_schema(AccessPath(table)),
        local_secondary_indexes=local,
        global_secondary_indexes=others,
        billing_mode=table.billing,
        provisioned_throughput=units,
        stream_specification=None
        if table.stream is None
        else StreamSpecification(stream_enabled=True, stream_view_type=table.stream),
        table_class=None if table.table_class == "STANDARD" else table.table_class,
    )


def update_time_to_live(table: Table) -> UpdateTimeToLive | None:
    """The request that has items expire; None if they do not."""
    if table.ttl_attribute is None:
        return None
    specification = TimeToLiveSpecification(enabled=True, attribute_name=table.ttl_attribute)
    return UpdateTimeToLive(table_name=table.name, time_to_live_specification=specification)


def update_continuous_backups(table: Table) -> UpdateContinuousBackups | None:
    """The request that switches point-in-time recovery on; None if it stays off."""
    if not table.point_in_time_recovery:
        return None
    return UpdateContinuousBackups(
        table_name=table.name,
        point_in_time_recovery_specification=PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
    )


def requests_for(table: Table, model: Model) -> tuple[ApiRequest, ...]:
    """All requests that make a table what the model says, in their order; replicas are not made."""
    later = (update_time_to_live(table), update_continuous_backups(table))
    return (create_table(table, model), *(request for request in later if request is not None))


def _units(reads: Scaling, writes: Scaling) -> ProvisionedThroughput:
    return ProvisionedThroughput(
        read_capacity_units=max(reads.minimum, 1), write_capacity_units=max(writes.minimum, 1)
    )


def _key_schema(path: AccessPath) -> list[KeySchemaElement]:
    def elements(keys: tuple[KeyAttribute, ...], kind: Literal["HASH", "RANGE"]) -> list[KeySchemaElement]:
        return [KeySchemaElement(attribute_name=key.name, key_type=kind) for key in keys]

    return elements(path.partition, "HASH") + elements(path.sort, "RANGE")


def _index(table: Table, index: Index, units: ProvisionedThroughput | None) -> SecondaryIndex:
    return SecondaryIndex(
        index_name=index.name,
        key_schema=_key_schema(AccessPath(table, index)),
        projection=Projection(
            projection_type=index.projection,
            non_key_attributes=list(index.included) if index.projection == "INCLUDE" else [],
        ),
        provisioned_throughput=units,
    )
