"""Changes of a live table's global indexes: one is added or deleted at a time, any number are updated."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hashrange.api import errors
from hashrange.api.tables import ceilings, indexes, key_schemas, states, throughput
from hashrange.api.tables.wording import invalid, over_limit
from hashrange.core.limits import GLOBAL_INDEXES_MAX, ONLINE_INDEX_CHANGES_MAX
from hashrange.core.schema import Index, KeyAttribute, Table, changed

Spec = Mapping[str, Any]
KeyAttributes = tuple[KeyAttribute, ...]
_ACTIONS = ("Update", "Create", "Delete")
_THROUGHPUT = ("ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput")


class Update(msgspec.Struct, frozen=True):
    """One action on one index."""

    action: str
    name: str
    spec: Spec


def parse(request: Mapping[str, Any]) -> list[Update]:
    """The actions of a request; what can be said about them without the table is said here."""
    found: list[Update] = []
    for each in request.get("GlobalSecondaryIndexUpdates", ()):
        actions = [action for action in _ACTIONS if action in each]
        if not actions:
            raise invalid(
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            )
        if len(actions) > 1:
            raise invalid(
                "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
            )
        spec = each[actions[0]]
        _check_new_name(found, spec["IndexName"])
        found.append(Update(actions[0], spec["IndexName"], spec))
    for update in found:
        if update.action == "Update" and update.spec.get("WarmThroughput") == {}:
            raise invalid(
                "WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified "
                f"for index: {update.name}"
            )
    return found


def _check_new_name(found: list[Update], name: str) -> None:
    if any(update.name == name for update in found):
        raise invalid(
            f"Only one global secondary index update per index is allowed simultaneously. Index: {name}"
        )


class Moment(msgspec.Struct, frozen=True):
    """When a change happens and how long its passing status lasts."""

    now: float
    settles_at: float


def check(table: Table, updates: list[Update], moment: Moment) -> None:
    """Whether the table, as it is before the request, lets these actions happen now."""
    _check_online(table, updates)
    for update in updates:
        if update.action == "Update":
            states.check_index_updatable(table, _existing(table, update.name, "update"), moment.now)
        elif update.action == "Delete":
            states.check_index_deletable(table, _existing(table, update.name, "delete"), moment.now)


def apply(table: Table, updates: list[Update], defined: key_schemas.Definitions, moment: Moment) -> Table:
    """The table after these actions; its billing mode is the one it will have."""
    for update in updates:
        if update.action == "Create":
            table = _created(table, update.spec, defined, moment)
        elif update.action == "Delete":
            table = _deleted(table, update.name, moment)
        else:
            table = _updated(table, update, moment)
    return table


def _check_online(table: Table, updates: list[Update]) -> None:
    wanted = [update for update in updates if update.action != "Update"]
    if not wanted:
        return
    states.check_index_change(table)
    # Giving up an index that is being filled is not a second change: it ends the first one.
    names = {update.name for update in wanted if update.action == "Delete"}
    running = [
        index
        for index in table.global_indexes
        if index.status in ("CREATING", "DELETING") and index.name not in names
    ]
    if len(wanted) + len(running) > ONLINE_INDEX_CHANGES_MAX:
        raise over_limit(
            f"Only {ONLINE_INDEX_CHANGES_MAX} online index can be created or deleted simultaneously per table"
        )


def _created(table: Table, spec: Spec, defined: key_schemas.Definitions, moment: Moment) -> Table:
    if spec["IndexName"] in table.index_by_name:
        raise errors.validation("Attempting to create an index which already exists")
    if not defined:
        raise invalid(f"AttributeDefinitions is not specified for index: {spec['IndexName']}")
    key_schemas.check_defined(spec["KeySchema"], defined)
    index = indexes.global_index(
        spec, defined, slot=table.next_slot, on_demand=table.on_demand, region=table.region
    )
    _check_types(table, index)
    indexes.check_added_throughput(spec, on_demand=table.on_demand)
    if len(table.global_indexes) >= GLOBAL_INDEXES_MAX:
        raise over_limit(
            f"Number of global secondary indexes exceeds per-table limit of {GLOBAL_INDEXES_MAX}"
        )
    building = changed(index, status="CREATING", settles_at=moment.settles_at, backfilling=True)
    indexes.check_projected((*table.indexes, building))
    used = {each.name: each.type for each in (*table.attribute_definitions, *building.keys)}
    return changed(
        table,
        indexes=(*table.indexes, building),
        next_slot=table.next_slot + 1,
        attribute_definitions=key_schemas.stored_definitions(used),
        status="UPDATING",
        settles_at=moment.settles_at,
        updating="index",
    )


def _check_types(table: Table, index: Index) -> None:
    """An attribute that is a key already keeps its type; definitions of other attributes do not matter."""
    owners: list[tuple[KeyAttributes, KeyAttributes]] = [
        ((table.hash,), () if table.range is None else (table.range,)),
        *((each.hash, each.range) for each in table.indexes),
    ]
    wanted = {key.name: key.type for key in index.keys}
    for hash_keys, range_keys in owners:
        if any(wanted.get(key.name, key.type) != key.type for key in hash_keys + range_keys):
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


def _updated(table: Table, update: Update, moment: Moment) -> Table:
    index = table.index_by_name[update.name]
    given = [name for name in _THROUGHPUT if update.spec.get(name)]
    if table.on_demand and ("ProvisionedThroughput" in given or not given):
        raise invalid(
            f"The only Updates for index: {update.name} when TableThroughputMode is PAY_PER_REQUEST can be to "
            "OnDemandThroughput, WarmThroughput"
        )
    if not given:
        raise invalid(
            f"Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {update.name}"
        )
    return _replaced(table, _with_throughput(table, index, update.spec, moment))


def _with_throughput(table: Table, index: Index, spec: Spec, moment: Moment) -> Index:
    if capacity := spec.get("ProvisionedThroughput"):
        throughput.check_index_bounds(capacity)
        after = throughput.updated(index.throughput, capacity, moment.now, index=index.name)
        warm = ceilings.kept_warm(index.warm, after, on_demand=False)
        index = _updating(changed(index, throughput=after, warm=warm), moment)
    if limits := spec.get("OnDemandThroughput"):
        if not table.on_demand:
            ceilings.refuse_ceilings(limits, index=index.name, creating=False)
        found = ceilings.ceilings(index.on_demand, limits, index=index.name, region=table.region)
        index = _updating(changed(index, on_demand=found), moment)
    if warm_spec := spec.get("WarmThroughput"):
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
    return changed(table, indexes=tuple(index if each.name == index.name else each for each in table.indexes))
