"""UpdateTimeToLive: choose the attribute that holds an item's expiry time, or none."""

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, Structure, TableNameOrArn
from hashrange.api.table_names import control_table
from hashrange.api.tables.changes import change_table
from hashrange.api.tables.structures import AttributeName
from hashrange.api.tables.wording import busy
from hashrange.core.limits import TIME_TO_LIVE_INTERVAL_SECONDS
from hashrange.core.schema import Table, changed


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
        _check(current, specification.attribute_name, enable=specification.enabled)
        last = current.ttl_changed_at
        if last is not None and now < last + TIME_TO_LIVE_INTERVAL_SECONDS:
            raise errors.validation("Time to live has been modified multiple times within a fixed interval")
        attribute = specification.attribute_name if specification.enabled else None
        return changed(current, ttl_attribute=attribute, ttl_changed_at=now)

    echo = TimeToLiveSetting(enabled=specification.enabled, attribute_name=specification.attribute_name)
    output = UpdateTimeToLiveOutput(time_to_live_specification=echo)
    return change_table(context, table, switched, lambda *_: output)


def _check(table: Table, attribute: str, *, enable: bool) -> None:
    if table.ttl_attribute is None:
        if not enable:
            raise errors.validation("TimeToLive is already disabled")
    elif table.ttl_attribute != attribute:
        raise errors.validation(
            "TimeToLive is active on a different AttributeName: current AttributeName is "
            f"{table.ttl_attribute}"
        )
    elif enable:
        raise errors.validation("TimeToLive is already enabled")
