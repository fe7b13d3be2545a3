"""UpdateTable: change a table's capacity, indexes and settings, one concern at a time."""

from collections.abc import Callable
from functools import partial

import msgspec

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.keys.table_encryption import ChosenKey, chosen_key, keeper
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, Structure, TableNameOrArn
from hashrange.api.table_names import control_table
from hashrange.api.tables import (
    ceilings,
    combinations,
    index_updates,
    key_schemas,
    settings,
    states,
    throughput,
)
from hashrange.api.tables.billing import switched
from hashrange.api.tables.changes import change_table_in
from hashrange.api.tables.description import OnDemandThroughput as CeilingsDescription
from hashrange.api.tables.description import TableDescription, describe
from hashrange.api.tables.encryption import encrypted
from hashrange.api.tables.index_updates import IndexAction, Moment
from hashrange.api.tables.structures import (
    AttributeDefinition,
    BillingMode,
    DeleteGlobalSecondaryIndexAction,
    GlobalSecondaryIndexUpdate,
    OnDemandThroughput,
    ProvisionedThroughput,
    SSESpecification,
    StreamSpecification,
    WarmThroughput,
)
from hashrange.api.tables.table_classes import reclassified
from hashrange.api.tables.wording import invalid
from hashrange.core import partitions
from hashrange.core.schema import Table, changed
from hashrange.storage import catalogue, stream_rows
from hashrange.storage.engine import Transaction


class ReplicationGroupUpdate(Structure, kw_only=True):
    """A change of the table's replicas, of which there are none yet."""


class UpdateTable(Request, kw_only=True):
    """The request."""

    attribute_definitions: list[AttributeDefinition] | None = None
    table_name: TableNameOrArn
    billing_mode: BillingMode | None = None
    table_throughput_mode: BillingMode | None = None
    provisioned_throughput: ProvisionedThroughput | None = None
    global_secondary_index_updates: list[GlobalSecondaryIndexUpdate] | None = None
    stream_specification: StreamSpecification | None = None
    sse_specification: SSESpecification | None = None
    replica_updates: list[ReplicationGroupUpdate] | None = None
    table_class: str | None = None
    deletion_protection_enabled: bool | None = None
    on_demand_throughput: OnDemandThroughput | None = None
    warm_throughput: WarmThroughput | None = None


SHAPE = Shape(UpdateTable)


class UpdateTableOutput(Response, kw_only=True):
    """The answer."""

    table_description: TableDescription


class _Wish(msgspec.Struct, frozen=True):
    """What a request asks for, checked as far as that goes without the table."""

    request: UpdateTable
    actions: list[IndexAction]
    defined: key_schemas.Definitions
    moment: Moment


def update_table(context: Context, request: UpdateTable) -> Plan:
    """Check the request by itself, then against the table as it is stored."""
    combinations.check(request)
    _check(request)
    now = context.clock.now()
    moment = Moment(now, now + context.settings.transition_ms / 1000)
    actions = index_updates.parse(request.global_secondary_index_updates)
    wish = _Wish(request, actions, key_schemas.definitions(request.attribute_definitions), moment)
    table = control_table(context, request.table_name)
    others = [
        other
        for other in context.catalogue.tables()
        if (other.account_id, other.region) == (table.account_id, table.region) and other.name != table.name
    ]

    key_name = settings.encryption_key(request.sse_specification)
    finder = keeper(context, key_name, table.name, table.account_id)

    def update(tx: Transaction, current: Table) -> Table:
        states.check_changeable(current)
        after = _changed(current, wish, partial(chosen_key, tx, finder))
        if after.throughput is not current.throughput or after.indexes is not current.indexes:
            throughput.check_quotas(after, others)
        return partitions.grown(after)

    def described(tx: Transaction, after: Table) -> UpdateTableOutput:
        body = describe(tx, after, now)
        _discard_deleted(tx, after, actions)
        if _is_repetition(request, after):
            # The service says so even when there is nothing to do.
            body.table_status = "UPDATING"
        _echo_ceilings(request, body)
        return UpdateTableOutput(table_description=body)

    return change_table_in(context, table, update, described)


def _check(request: UpdateTable) -> None:
    capacity = request.provisioned_throughput
    on_demand = throughput.wants_on_demand(request)
    if on_demand is False and capacity is None:
        raise invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
    if on_demand and capacity is not None:
        raise invalid("ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST")
    if capacity is not None:
        throughput.check_bounds(capacity)
    if request.stream_specification is not None:
        settings.check_stream_change(request.stream_specification)
    settings.check_table_class(request.table_class)
    if request.replica_updates is not None:
        raise errors.validation("Replicas are not supported by this server.")


def _check_states(table: Table, wish: _Wish) -> None:
    """Whether the table is free for what the request asks; what the request itself sets off is no obstacle."""
    request, now = wish.request, wish.moment.now
    wanted = throughput.wants_on_demand(request)
    if request.provisioned_throughput is not None or wanted not in (None, table.on_demand):
        throughput.check_mode_of(table, request)
        states.check_throughput(table, now)
    elif request.on_demand_throughput:
        states.check_ceilings(table, now)
    index_updates.check(table, wish.actions, wish.moment)
    if request.stream_specification is not None:
        states.check_stream(table, now)
    if request.table_class is not None:
        states.check_class(table)


def _changed(table: Table, wish: _Wish, resolve: Callable[[str], ChosenKey]) -> Table:
    request, moment = wish.request, wish.moment
    _check_states(table, wish)
    table = _with_capacity(table, wish)
    table = index_updates.apply(table, wish.actions, wish.defined, moment)
    if request.stream_specification is not None:
        table = _with_stream(table, request.stream_specification, moment)
    if request.sse_specification is not None:
        table = encrypted(table, request.sse_specification, moment, resolve)
    if request.table_class is not None:
        table = reclassified(table, request.table_class, moment)
    if request.deletion_protection_enabled is not None:
        table = changed(table, deletion_protection=request.deletion_protection_enabled)
    if limits := request.on_demand_throughput:
        if not table.on_demand:
            ceilings.refuse_ceilings(limits, index=None, creating=False)
        after = ceilings.ceilings(table.on_demand_limits, limits, index=None, region=table.region)
        table = changed(table, on_demand_limits=after)
    if warm := request.warm_throughput:
        raised = ceilings.raised_warm(
            table.warm, warm, moment.now, settles_at=moment.settles_at, index=None, region=table.region
        )
        table = changed(table, warm=raised)
    return table


def _with_capacity(table: Table, wish: _Wish) -> Table:
    request, moment = wish.request, wish.moment
    capacity = request.provisioned_throughput
    if throughput.wants_on_demand(request) not in (None, table.on_demand):
        return switched(table, capacity, wish.actions, moment)
    if capacity is None:
        return table
    after = throughput.updated(table.throughput, capacity, moment.now)
    return changed(
        table,
        throughput=after,
        warm=ceilings.kept_warm(table.warm, after, on_demand=False),
        status="UPDATING",
        settles_at=moment.settles_at,
        updating="throughput",
    )


def _with_stream(table: Table, spec: StreamSpecification, moment: Moment) -> Table:
    if spec.stream_enabled and table.stream_view_type is not None:
        raise errors.validation(f"Table already has an enabled stream: TableName: {table.name}")
    if not spec.stream_enabled and table.stream_view_type is None:
        raise errors.validation(f"Table has no stream to disable: TableName: {table.name}")
    label = (
        stream_rows.label_at(moment.now, table.stream_label) if spec.stream_enabled else table.stream_label
    )
    return changed(
        table,
        stream_view_type=spec.stream_view_type,
        stream_label=label,
        status="UPDATING",
        settles_at=moment.settles_at,
        updating="stream",
    )


def _discard_deleted(tx: Transaction, table: Table, actions: list[IndexAction]) -> None:
    """From now on nothing is written to a deleted index, so its rows can go."""
    for action in actions:
        if isinstance(action, DeleteGlobalSecondaryIndexAction):
            catalogue.discard_index(tx, table, table.index_by_name[action.index_name])


def _is_repetition(request: UpdateTable, table: Table) -> bool:
    repeated_mode = throughput.wants_on_demand(request) is True and table.on_demand
    return repeated_mode or request.table_class is not None


def _echo_ceilings(request: UpdateTable, body: TableDescription) -> None:
    """A ceiling taken away is shown once more, as the -1 that took it away."""
    limits = request.on_demand_throughput
    if limits is None or -1 not in (limits.max_read_request_units, limits.max_write_request_units):
        return
    body.on_demand_throughput = shown = body.on_demand_throughput or CeilingsDescription()
    if limits.max_read_request_units == -1:
        shown.max_read_request_units = -1
    if limits.max_write_request_units == -1:
        shown.max_write_request_units = -1
