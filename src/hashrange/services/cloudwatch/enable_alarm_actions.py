"""EnableAlarmActions: have the actions of alarms carried out again."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.services.cloudwatch import alarm_actions
from hashrange.services.cloudwatch.alarm_actions import Switch


class EnableAlarmActions(Switch, kw_only=True):
    """The request."""


SHAPE = Shape(EnableAlarmActions)


def enable_alarm_actions(context: Context, request: EnableAlarmActions) -> Plan:
    """Names of no alarm are passed over."""
    return alarm_actions.switch(context, request.alarm_names, enabled=True)
