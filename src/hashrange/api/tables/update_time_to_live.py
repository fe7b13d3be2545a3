"""UpdateTimeToLive: choose the attribute that holds an item's expiry time, or none."""

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, Structure, TableNameOrArn
from hashrange.api.table_names import control_table
from hashrange.api.tables.changes import change_table
from hashrange.api.tables.slots import free_slot
from hashrange.api.tables.structures import AttributeName
from hashrange.api.tables.wording import busy
from hashrange.core.schema import Table, TimeToLive, changed
from hashrange.storage import catalogue
from hashrange.storage.engine import Transaction


class TimeToLiveSpecification(Structure, kw_only=True):
    """Whether items expire, and by which attribute."""

    attribute_name: AttributeName
    enabled: bool


class UpdateTimeToLive(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn
    time_to_live_specification: TimeToLiveSpecification


SHAPE = Shape(UpdateTimeToLive)


class TimeToLiveSetting(Response, kw_only=True):
    """The specification, given back."""

    enabled: bool
    attribute_name: str


class UpdateTimeToLiveOutput(Response, kw_only=True):
    """The answer."""

    time_to_live_specification: TimeToLiveSetting


def update_time_to_live(context: Context, request: UpdateTimeToLive) -> Plan:
    """Switch expiry on or off; only so often, and only if that changes something."""
    table = control_table(context, request.table_name)
    specification = request.time_to_live_specification
    now = context.clock.now()

    def switched(current: Table) -> Table:
        if current.status in ("CREATING", "DELETING"):
            # Unlike the other operations this one puts the name in the middle.
            raise busy(f"Table {current.name} is being {current.status.lower().replace('ing', 'ed')}")
        errors.refuse_inaccessible(current)
        _check(current, specification.attribute_name, enable=specification.enabled)
        last = current.ttl_changed_at
        if last is not None and now < last + context.settings.ttl_cooldown:
            raise errors.validation("Time to live has been modified multiple times within a fixed interval")
        return _switched(changed(current, ttl_changed_at=now), specification)

    echo = TimeToLiveSetting(enabled=specification.enabled, attribute_name=specification.attribute_name)
    output = UpdateTimeToLiveOutput(time_to_live_specification=echo)
    return change_table(context, table, switched, lambda *_: output, discard=_discard)


def _switched(table: Table, specification: TimeToLiveSpecification) -> Table:
    if not specification.enabled:
        return changed(table, ttl=None)
    slot = free_slot(table)
    ttl = TimeToLive(attribute=specification.attribute_name, slot=slot, backfilling=True)
    return changed(table, ttl=ttl, next_slot=slot + 1)


def _discard(tx: Transaction, before: Table, after: Table) -> None:
    """From now on nothing is written to the expiry rows of a setting that is off, so they can go."""
    if before.ttl is not None and after.ttl is None:
        catalogue.discard_expiry(tx, before.number, before.ttl.slot)


def _check(table: Table, attribute: str, *, enable: bool) -> None:
    if table.ttl is None:
        if not enable:
            raise errors.validation("TimeToLive is already disabled")
    elif table.ttl.attribute != attribute:
        raise errors.validation(
            "TimeToLive is active on a different AttributeName: current AttributeName is "
            f"{table.ttl.attribute}"
        )
    elif enable:
        raise errors.validation("TimeToLive is already enabled")
