"""UpdateTimeToLive: choose the attribute that holds an item's expiry time, or none."""

from typing import Any

from hashrange.api import answers, errors
from hashrange.api.context import Context
from hashrange.api.kinds import Flag, Member, Struct, Text
from hashrange.api.plan import Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import control_table
from hashrange.api.tables import shapes
from hashrange.api.tables.changes import change_table
from hashrange.api.tables.wording import busy
from hashrange.core.limits import KEY_ATTRIBUTE_NAME_CHARS_MAX, TIME_TO_LIVE_INTERVAL_SECONDS
from hashrange.core.schema import Table, changed

SHAPE = Shape(
    {
        "TableName": shapes.TABLE_NAME,
        "TimeToLiveSpecification": Member(
            Struct(
                "TimeToLiveSpecification",
                {
                    "AttributeName": Member(Text(least=1, most=KEY_ATTRIBUTE_NAME_CHARS_MAX), required=True),
                    "Enabled": Member(Flag(), required=True),
                },
                as_member=True,
            ),
            required=True,
        ),
    }
)


@operation("UpdateTimeToLive", SHAPE)
def update_time_to_live(context: Context, request: dict[str, Any]) -> Plan:
    """Switch expiry on or off; only so often, and only if that changes something."""
    table = control_table(context, request["TableName"])
    specification = request["TimeToLiveSpecification"]
    now = context.clock.now()

    def switched(current: Table) -> Table:
        if current.status in ("CREATING", "DELETING"):
            # Unlike the other operations this one puts the name in the middle.
            raise busy(f"Table {current.name} is being {current.status.lower().replace('ing', 'ed')}")
        _check(current, specification["AttributeName"], enable=specification["Enabled"])
        last = current.ttl_changed_at
        if last is not None and now < last + TIME_TO_LIVE_INTERVAL_SECONDS:
            raise errors.validation("Time to live has been modified multiple times within a fixed interval")
        attribute = specification["AttributeName"] if specification["Enabled"] else None
        return changed(current, ttl_attribute=attribute, ttl_changed_at=now)

    body = answers.body(
        {"TimeToLiveSpecification": {name: specification[name] for name in ("Enabled", "AttributeName")}}
    )
    return change_table(context, table, switched, lambda *_: body)


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
