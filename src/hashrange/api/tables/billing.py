"""Switching a table between provisioned and on-demand."""

from hashrange.api.tables import ceilings, throughput
from hashrange.api.tables.index_updates import IndexAction, Moment, action_throughput
from hashrange.api.tables.structures import ProvisionedThroughput
from hashrange.api.tables.wording import invalid, over_limit
from hashrange.core.limits import ON_DEMAND_SWITCHES_PER_DAY
from hashrange.core.schema import Index, Table, Throughput, changed

_DAY_SECONDS = 86_400


def switched(
    table: Table, capacity: ProvisionedThroughput | None, actions: list[IndexAction], moment: Moment
) -> Table:
    """The table in its other mode."""
    table = changed(
        table, status="UPDATING", settles_at=moment.settles_at, updating="throughput", on_demand_limits=None
    )
    if capacity is None:
        return _to_on_demand(table, moment)
    return _to_provisioned(table, capacity, actions, moment)


def _to_on_demand(table: Table, moment: Moment) -> Table:
    recent = tuple(time for time in table.on_demand_switches if time > moment.now - _DAY_SECONDS)
    if len(recent) >= ON_DEMAND_SWITCHES_PER_DAY:
        raise over_limit(
            f"Update to PayPerRequest mode are limited to {ON_DEMAND_SWITCHES_PER_DAY} times in 1 day(s)."
        )
    empty = Throughput(
        last_increase=table.throughput.last_increase, delivered=throughput.units(table.throughput)
    )
    return changed(
        table,
        on_demand=True,
        on_demand_since=moment.settles_at,
        on_demand_switches=(*recent, moment.now),
        throughput=empty,
        warm=ceilings.kept_warm(table.warm, empty, on_demand=True),
        indexes=tuple(_index_to_on_demand(index, moment) for index in table.indexes),
    )


def _index_to_on_demand(index: Index, moment: Moment) -> Index:
    if index.local or index.status == "DELETING":
        return index
    # For an index, unlike for the table, the service counts this as a decrease.
    lowered = throughput.decreased(changed(index.throughput, read_units=0, write_units=0), moment.now)
    index = changed(
        index,
        throughput=changed(lowered, previous=None, delivered=throughput.units(index.throughput)),
        on_demand=None,
        warm=ceilings.kept_warm(index.warm, lowered, on_demand=True),
    )
    if index.status == "CREATING":
        return index
    return changed(index, status="UPDATING", settles_at=moment.settles_at)


def _to_provisioned(
    table: Table, capacity: ProvisionedThroughput, actions: list[IndexAction], moment: Moment
) -> Table:
    provisioned = {action.index_name for action in actions if action_throughput(action) is not None}
    lacking = [index.name for index in table.global_indexes if index.name not in provisioned]
    if lacking:
        raise invalid(f"ProvisionedThroughput must be specified for index: {','.join(lacking)}")
    after = changed(throughput.new(capacity), last_increase=moment.now)
    return changed(
        table,
        on_demand=False,
        throughput=after,
        warm=ceilings.kept_warm(table.warm, after, on_demand=False),
        indexes=tuple(changed(index, on_demand=None) for index in table.indexes),
    )
