"""UpdateTable: change a table's capacity, indexes and settings, one concern at a time."""

from typing import Any

import msgspec

from hashrange.api import answers, errors
from hashrange.api.context import Context
from hashrange.api.kinds import Flag, ListOf, Member, Struct, Text
from hashrange.api.plan import Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import control_table
from hashrange.api.tables import (
    ceilings,
    combinations,
    index_updates,
    key_schemas,
    settings,
    shapes,
    states,
    throughput,
)
from hashrange.api.tables.billing import switched
from hashrange.api.tables.changes import change_table
from hashrange.api.tables.description import describe
from hashrange.api.tables.encryption import encrypted
from hashrange.api.tables.index_updates import Moment, Update
from hashrange.api.tables.table_classes import reclassified
from hashrange.api.tables.wording import invalid
from hashrange.core.schema import Table, changed
from hashrange.storage import catalogue, layout
from hashrange.storage.engine import Transaction

Request = dict[str, Any]


def _action(name: str, members: dict[str, Member]) -> Member:
    return Member(Struct(name, members, as_member=True))


SHAPE = Shape(
    {
        "AttributeDefinitions": shapes.ATTRIBUTE_DEFINITIONS,
        "TableName": shapes.TABLE_NAME,
        "BillingMode": shapes.BILLING_MODE,
        "TableThroughputMode": shapes.BILLING_MODE,
        "ProvisionedThroughput": shapes.PROVISIONED_THROUGHPUT,
        "GlobalSecondaryIndexUpdates": ListOf(
            Struct(
                "GlobalSecondaryIndexUpdate",
                {
                    "Update": _action(
                        "UpdateGlobalSecondaryIndexAction",
                        {"IndexName": Member(shapes.NAME, required=True)} | shapes.INDEX_THROUGHPUT,
                    ),
                    "Create": _action(
                        "CreateGlobalSecondaryIndexAction",
                        shapes.index_members(None) | shapes.INDEX_THROUGHPUT,
                    ),
                    "Delete": _action(
                        "DeleteGlobalSecondaryIndexAction", {"IndexName": Member(shapes.NAME, required=True)}
                    ),
                },
            )
        ),
        "StreamSpecification": shapes.STREAM_SPECIFICATION,
        "SSESpecification": shapes.SSE_SPECIFICATION,
        "ReplicaUpdates": ListOf(Struct("ReplicationGroupUpdate", {})),
        "TableClass": Text(),
        "DeletionProtectionEnabled": Flag(),
        "OnDemandThroughput": shapes.ON_DEMAND_THROUGHPUT,
        "WarmThroughput": shapes.WARM_THROUGHPUT,
    }
)


class _Wish(msgspec.Struct, frozen=True):
    """What a request asks for, checked as far as that goes without the table."""

    request: Request
    updates: list[Update]
    defined: key_schemas.Definitions
    moment: Moment


@operation("UpdateTable", SHAPE)
def update_table(context: Context, request: Request) -> Plan:
    """Check the request by itself, then against the table as it is stored."""
    combinations.check(request)
    _check(request)
    now = context.clock.now()
    moment = Moment(now, now + context.settings.transition_ms / 1000)
    wish = _Wish(request, index_updates.parse(request), key_schemas.definitions(request), moment)
    table = control_table(context, request["TableName"])
    others = [
        each
        for each in context.catalogue.tables()
        if (each.account_id, each.region) == (table.account_id, table.region) and each.name != table.name
    ]

    def update(current: Table) -> Table:
        states.check_changeable(current)
        after = _changed(current, wish)
        if after.throughput is not current.throughput or after.indexes is not current.indexes:
            throughput.check_quotas(after, others)
        return after

    def answer(tx: Transaction, after: Table) -> bytes:
        body = describe(tx, after, now)
        _discard_deleted(tx, after, wish.updates)
        if _is_repetition(request, after):
            # The service says so even when there is nothing to do.
            body["TableStatus"] = "UPDATING"
        return answers.body({"TableDescription": _echoed(request, body)})

    return change_table(context, table, update, answer)


def _check(request: Request) -> None:
    capacity = request.get("ProvisionedThroughput")
    on_demand = throughput.wants_on_demand(request)
    if on_demand is False and capacity is None:
        raise invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
    if on_demand:
        throughput.refuse_on_demand(capacity)
    if capacity is not None:
        throughput.check_bounds(capacity)
    if "StreamSpecification" in request:
        settings.check_stream_change(request["StreamSpecification"])
    settings.check_table_class(request.get("TableClass"))
    if "ReplicaUpdates" in request:
        raise errors.validation("Replicas are not supported by this server.")


def _check_states(table: Table, wish: _Wish) -> None:
    """Whether the table is free for what the request asks; what the request itself sets off is no obstacle."""
    request, now = wish.request, wish.moment.now
    wanted = throughput.wants_on_demand(request)
    if "ProvisionedThroughput" in request or wanted not in (None, table.on_demand):
        throughput.check_mode_of(table, request)
        states.check_throughput(table, now)
    elif request.get("OnDemandThroughput"):
        states.check_ceilings(table, now)
    index_updates.check(table, wish.updates, wish.moment)
    if "StreamSpecification" in request:
        states.check_stream(table, now)
    if "TableClass" in request:
        states.check_class(table)


def _changed(table: Table, wish: _Wish) -> Table:
    request, moment = wish.request, wish.moment
    _check_states(table, wish)
    table = _with_capacity(table, wish)
    table = index_updates.apply(table, wish.updates, wish.defined, moment)
    if "StreamSpecification" in request:
        table = _with_stream(table, request["StreamSpecification"], moment)
    if "SSESpecification" in request:
        table = encrypted(table, request["SSESpecification"], moment)
    if "TableClass" in request:
        table = reclassified(table, request["TableClass"], moment)
    if "DeletionProtectionEnabled" in request:
        table = changed(table, deletion_protection=request["DeletionProtectionEnabled"])
    if limits := request.get("OnDemandThroughput"):
        if not table.on_demand:
            ceilings.refuse_ceilings(limits, index=None, creating=False)
        found = ceilings.ceilings(table.on_demand_limits, limits, index=None, region=table.region)
        table = changed(table, on_demand_limits=found)
    if warm := request.get("WarmThroughput"):
        raised = ceilings.raised_warm(
            table.warm, warm, moment.now, settles_at=moment.settles_at, index=None, region=table.region
        )
        table = changed(table, warm=raised)
    return table


def _with_capacity(table: Table, wish: _Wish) -> Table:
    request, moment = wish.request, wish.moment
    capacity = request.get("ProvisionedThroughput")
    if throughput.wants_on_demand(request) not in (None, table.on_demand):
        return switched(table, capacity, wish.updates, moment)
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


def _with_stream(table: Table, spec: dict[str, Any], moment: Moment) -> Table:
    if spec["StreamEnabled"] and table.stream_view_type is not None:
        raise errors.validation(f"Table already has an enabled stream: TableName: {table.name}")
    if not spec["StreamEnabled"] and table.stream_view_type is None:
        raise errors.validation(f"Table has no stream to disable: TableName: {table.name}")
    label = settings.stream_label(moment.now) if spec["StreamEnabled"] else table.stream_label
    return changed(
        table,
        stream_view_type=spec.get("StreamViewType"),
        stream_label=label,
        status="UPDATING",
        settles_at=moment.settles_at,
        updating="stream",
    )


def _discard_deleted(tx: Transaction, table: Table, updates: list[Update]) -> None:
    """From now on nothing is written to a deleted index, so its rows can go."""
    for update in updates:
        if update.action == "Delete":
            slot = table.index_by_name[update.name].slot
            tx.delete(layout.backfill_key(table.number, slot))
            catalogue.reset_counters(tx, table.number, slot)
            catalogue.discard(tx, layout.rows_prefix(table.number, slot))


def _is_repetition(request: Request, table: Table) -> bool:
    repeated_mode = throughput.wants_on_demand(request) is True and table.on_demand
    return repeated_mode or "TableClass" in request


def _echoed(request: Request, body: dict[str, Any]) -> dict[str, Any]:
    """A ceiling taken away is shown once more, as the -1 that took it away."""
    for name, units in (request.get("OnDemandThroughput") or {}).items():
        if units == -1:
            body.setdefault("OnDemandThroughput", {})[name] = units
    return body
