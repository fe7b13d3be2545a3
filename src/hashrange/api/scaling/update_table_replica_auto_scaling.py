"""UpdateTableReplicaAutoScaling: change how the capacity of a table and of its indexes is scaled."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import IndexName, Request, Response, Structure, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.scaling import settings
from hashrange.api.scaling.resources import Access, Resource, place_of
from hashrange.api.scaling.settings import AutoScalingSettingsUpdate, TableAutoScalingDescription
from hashrange.api.scaling.tables import scaled_table
from hashrange.core.schema import Table
from hashrange.storage import catalogue
from hashrange.storage.engine import Transaction


class GlobalSecondaryIndexAutoScalingUpdate(Structure, kw_only=True):
    """The write capacity of an index, of all replicas."""

    index_name: IndexName | None = None
    provisioned_write_capacity_auto_scaling_update: AutoScalingSettingsUpdate | None = None


class ReplicaGlobalSecondaryIndexAutoScalingUpdate(Structure, kw_only=True):
    """The read capacity of an index of one replica."""

    index_name: IndexName | None = None
    provisioned_read_capacity_auto_scaling_update: AutoScalingSettingsUpdate | None = None


class ReplicaAutoScalingUpdate(Structure, kw_only=True):
    """The read capacity of one replica and of its indexes."""

    region_name: str
    replica_global_secondary_index_updates: list[ReplicaGlobalSecondaryIndexAutoScalingUpdate] | None = None
    replica_provisioned_read_capacity_auto_scaling_update: AutoScalingSettingsUpdate | None = None


class UpdateTableReplicaAutoScaling(Request, kw_only=True):
    """The request."""

    global_secondary_index_updates: (
        Annotated[list[GlobalSecondaryIndexAutoScalingUpdate], Meta(min_length=1)] | None
    ) = None
    table_name: TableNameOrArn
    provisioned_write_capacity_auto_scaling_update: AutoScalingSettingsUpdate | None = None
    replica_updates: Annotated[list[ReplicaAutoScalingUpdate], Meta(min_length=1)] | None = None


SHAPE = Shape(UpdateTableReplicaAutoScaling)


class UpdateTableReplicaAutoScalingOutput(Response, kw_only=True):
    """The answer."""

    table_auto_scaling_description: TableAutoScalingDescription


Update = tuple[Resource, AutoScalingSettingsUpdate]


def update_table_replica_auto_scaling(context: Context, request: UpdateTableReplicaAutoScaling) -> Plan:
    """All settings are changed, or none."""
    table, now = scaled_table(context, request.table_name), context.clock.now()
    updates = list(_updates(table, request))
    place = place_of(context)

    def step(tx: Transaction) -> Described:
        for resource, update in updates:
            settings.apply(tx, place, resource, update, now)
        catalogue.announce(tx)
        shown = settings.described_table_scaling(tx, place, table, now)
        return Described(UpdateTableReplicaAutoScalingOutput(table_auto_scaling_description=shown))

    return Write(step, after=lambda: context.catalogue.refresh(*catalogue.address(table)))


def _updates(table: Table, request: UpdateTableReplicaAutoScaling) -> Iterator[Update]:
    yield from _one(table, None, "Write", request.provisioned_write_capacity_auto_scaling_update)
    for index in request.global_secondary_index_updates or ():
        yield from _one(
            table, index.index_name or "", "Write", index.provisioned_write_capacity_auto_scaling_update
        )
    for replica in request.replica_updates or ():
        if replica.region_name != table.region:
            raise errors.validation(
                f"Failed to update settings for global table with name: \u2018{table.name}\u2019: "
                f"there is no replica in region {replica.region_name}"
            )
        yield from _one(table, None, "Read", replica.replica_provisioned_read_capacity_auto_scaling_update)
        for own in replica.replica_global_secondary_index_updates or ():
            yield from _one(
                table, own.index_name or "", "Read", own.provisioned_read_capacity_auto_scaling_update
            )


def _one(
    table: Table, index_name: str | None, access: Access, update: AutoScalingSettingsUpdate | None
) -> Iterator[Update]:
    if update is None:
        return
    if index_name is not None:
        index = table.index_by_name.get(index_name)
        if index is None or index.local:
            raise errors.not_found(f"Requested resource not found: Index: {index_name} not found")
    yield Resource(table.name, index_name, access), update
