"""EnableAlarmActions: have actions of alarms carried out again."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.services.cloudwatch import alarms, errors
from hashrange.services.cloudwatch.alarms import Alarm
from hashrange.services.cloudwatch.structures import AlarmNames
from hashrange.storage.engine import Transaction


class EnableAlarmActions(Request, kw_only=True):
    """The request."""

    alarm_names: AlarmNames


SHAPE = Shape(EnableAlarmActions)


def enable_alarm_actions(context: Context, request: EnableAlarmActions) -> Plan:
    """Names of no alarm are passed over."""
    now = context.clock.now()

    def enable(alarm: Alarm) -> Alarm:
        return msgspec.structs.replace(alarm, actions_enabled=True, configured_at=now)

    def step(tx: Transaction) -> Described:
        alarms.change_all(tx, context, request.alarm_names, enable)
        return Described(None)

    return Write(step, conflict=errors.conflict)
