"""Changes of a live table's global indexes: one is added or deleted at a time, any number are updated."""

from collections.abc import Sequence
from typing import assert_never

import msgspec

from hashrange.api import errors
from hashrange.api.tables import ceilings, indexes, key_schemas, states, throughput
from hashrange.api.tables.slots import free_slot
from hashrange.api.tables.structures import (
    CreateGlobalSecondaryIndexAction,
    DeleteGlobalSecondaryIndexAction,
    GlobalSecondaryIndexUpdate,
    ProvisionedThroughput,
    UpdateGlobalSecondaryIndexAction,
)
from hashrange.api.tables.wording import invalid, over_limit
from hashrange.core.limits import ONLINE_INDEX_CHANGES_MAX
from hashrange.core.schema import Index, KeyAttribute, Table, changed

KeyAttributes = tuple[KeyAttribute, ...]
IndexAction = (
    UpdateGlobalSecondaryIndexAction | CreateGlobalSecondaryIndexAction | DeleteGlobalSecondaryIndexAction
)


def parse(updates: Sequence[GlobalSecondaryIndexUpdate] | None) -> list[IndexAction]:
    """The actions of a request; what can be said about them without the table is said here."""
    actions: list[IndexAction] = []
    for element in updates or ():
        action = _only_action(element)
        if any(earlier.index_name == action.index_name for earlier in actions):
            raise invalid(
                "Only one global secondary index update per index is allowed simultaneously. "
                f"Index: {action.index_name}"
            )
        actions.append(action)
    for action in actions:
        if (
            isinstance(action, UpdateGlobalSecondaryIndexAction)
            and action.warm_throughput is not None
            and not action.warm_throughput
        ):
            raise invalid(
                "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified "
                f"for index: {action.index_name}"
            )
    return actions


def _only_action(element: GlobalSecondaryIndexUpdate) -> IndexAction:
    present = [action for action in (element.update, element.create, element.delete) if action is not None]
    if not present:
        raise invalid(
            "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
            "GlobalSecondaryIndexUpdate.Delete must not be null"
        )
    if len(present) > 1:
        raise invalid(
            "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
        )
    return present[0]


def action_throughput(action: IndexAction) -> ProvisionedThroughput | None:
    """The capacity that an action asks for."""
    return None if isinstance(action, DeleteGlobalSecondaryIndexAction) else action.provisioned_throughput


class Moment(msgspec.Struct, frozen=True):
    """When a change happens and how long its passing status lasts."""

    now: float
    settles_at: float


def check(table: Table, actions: list[IndexAction], moment: Moment) -> None:
    """Whether the table, as it is before the request, lets these actions happen now."""
    _check_online(table, actions)
    for action in actions:
        if isinstance(action, UpdateGlobalSecondaryIndexAction):
            states.check_index_updatable(table, _existing(table, action.index_name, "update"), moment.now)
        elif isinstance(action, DeleteGlobalSecondaryIndexAction):
            states.check_index_deletable(table, _existing(table, action.index_name, "delete"), moment.now)


def apply(
    table: Table, actions: list[IndexAction], defined: key_schemas.Definitions, moment: Moment
) -> Table:
    """The table after these actions; its billing mode is the one it will have."""
    for action in actions:
        match action:
            case CreateGlobalSecondaryIndexAction():
                table = _created(table, action, defined, moment)
            case DeleteGlobalSecondaryIndexAction():
                table = _deleted(table, action.index_name, moment)
            case UpdateGlobalSecondaryIndexAction():
                table = _updated(table, action, moment)
            case _:
                assert_never(action)
    return table


def _check_online(table: Table, actions: list[IndexAction]) -> None:
    online = [action for action in actions if not isinstance(action, UpdateGlobalSecondaryIndexAction)]
    if not online:
        return
    states.check_index_change(table)
    # Giving up an index that is being filled is not a second change: it ends the first one.
    deleted = {action.index_name for action in online if isinstance(action, DeleteGlobalSecondaryIndexAction)}
    running = [
        index
        for index in table.global_indexes
        if index.status in ("CREATING", "DELETING") and index.name not in deleted
    ]
    if len(online) + len(running) > ONLINE_INDEX_CHANGES_MAX:
        raise over_limit(
            f"Only {ONLINE_INDEX_CHANGES_MAX} online index can be created or deleted simultaneously per table"
        )


def _created(
    table: Table,
    spec: CreateGlobalSecondaryIndexAction,
    defined: key_schemas.Definitions,
    moment: Moment,
) -> Table:
    if spec.index_name in table.index_by_name:
        raise errors.validation("Attempting to create an index which already exists")
    if not defined:
        raise invalid(f"AttributeDefinitions is not specified for index: {spec.index_name}")
    key_schemas.check_defined(spec.key_schema, defined)
    slot = free_slot(table)
    index = indexes.global_index(spec, defined, slot=slot, on_demand=table.on_demand, region=table.region)
    _check_types(table, index)
    indexes.check_added_throughput(spec, on_demand=table.on_demand)
    indexes.check_global_count(len(table.global_indexes) + 1)
    building = changed(index, status="CREATING", settles_at=moment.settles_at, backfilling=True)
    indexes.check_projected((*table.indexes, building))
    used = {key.name: key.type for key in (*table.attribute_definitions, *building.keys)}
    return changed(
        table,
        indexes=(*table.indexes, building),
        next_slot=slot + 1,
        attribute_definitions=key_schemas.stored_definitions(used),
        status="UPDATING",
        settles_at=moment.settles_at,
        updating="index",
    )


def _check_types(table: Table, index: Index) -> None:
    """An attribute that is a key already keeps its type; definitions of other attributes do not matter."""
    owners: list[tuple[KeyAttributes, KeyAttributes]] = [
        ((table.hash,), () if table.range is None else (table.range,)),
        *((other.hash, other.range) for other in table.indexes),
    ]
    types = {key.name: key.type for key in index.keys}
    for hash_keys, range_keys in owners:
        if any(types.get(key.name, key.type) != key.type for key in hash_keys + range_keys):
            raise invalid(
                "Attributes cannot be redefined. Please check that your attribute has the same type as "
                f"previously defined. Existing schema: {_schema(hash_keys, range_keys)} "
                f"New schema: {_schema(index.hash, index.range)}"
            )


def _schema(hash_keys: KeyAttributes, range_keys: KeyAttributes) -> str:
    shown = [f"SchemaElement: key{{{key.name}:{key.type}:HASH}}" for key in hash_keys]
    shown += [f"SchemaElement: key{{{key.name}:{key.type}:RANGE}}" for key in range_keys]
    return f"Schema:[{', '.join(shown)}]"


def _deleted(table: Table, name: str, moment: Moment) -> Table:
    index = table.index_by_name[name]
    going = changed(index, status="DELETING", settles_at=moment.settles_at, backfilling=False)
    return changed(_replaced(table, going), status="UPDATING", settles_at=moment.settles_at, updating="index")


def _updated(table: Table, action: UpdateGlobalSecondaryIndexAction, moment: Moment) -> Table:
    index = table.index_by_name[action.index_name]
    settings = (action.provisioned_throughput, action.on_demand_throughput, action.warm_throughput)
    if table.on_demand and (action.provisioned_throughput or not any(settings)):
        raise invalid(
            f"The only Updates for index: {index.name} when TableThroughputMode is PAY_PER_REQUEST can be to "
            "OnDemandThroughput, WarmThroughput"
        )
    if not any(settings):
        raise invalid(
            f"Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {index.name}"
        )
    return _replaced(table, _with_throughput(table, index, action, moment))


def _with_throughput(
    table: Table, index: Index, spec: UpdateGlobalSecondaryIndexAction, moment: Moment
) -> Index:
    if capacity := spec.provisioned_throughput:
        throughput.check_index_bounds(capacity)
        after = throughput.updated(index.throughput, capacity, moment.now, index=index.name)
        warm = ceilings.kept_warm(index.warm, after, on_demand=False)
        index = _updating(changed(index, throughput=after, warm=warm), moment)
    if limits := spec.on_demand_throughput:
        if not table.on_demand:
            ceilings.refuse_ceilings(limits, index=index.name, creating=False)
        after_limits = ceilings.ceilings(index.on_demand, limits, index=index.name, region=table.region)
        index = _updating(changed(index, on_demand=after_limits), moment)
    if warm_spec := spec.warm_throughput:
        raised = ceilings.raised_warm(
            index.warm,
            warm_spec,
            moment.now,
            settles_at=moment.settles_at,
            index=index.name,
            region=table.region,
        )
        index = changed(index, warm=raised)
    return index


def _updating(index: Index, moment: Moment) -> Index:
    # An index that is still being filled stays CREATING.
    if index.status == "CREATING":
        return index
    return changed(index, status="UPDATING", settles_at=moment.settles_at)


def _existing(table: Table, name: str, verb: str) -> Index:
    index = table.index_by_name.get(name)
    if index is None:
        raise indexes.missing_index(name, table.name)
    if index.local:
        raise errors.validation(f"Cannot {verb} an index that is not a GlobalSecondaryIndex: {name}")
    return index


def _replaced(table: Table, index: Index) -> Table:
    return changed(
        table, indexes=tuple(index if other.name == index.name else other for other in table.indexes)
    )
