"""DisableAlarmActions: have no actions of alarms carried out."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.services.cloudwatch import alarm_actions
from hashrange.services.cloudwatch.alarm_actions import Switch


class DisableAlarmActions(Switch, kw_only=True):
    """The request."""


SHAPE = Shape(DisableAlarmActions)


def disable_alarm_actions(context: Context, request: DisableAlarmActions) -> Plan:
    """Names of no alarm are passed over."""
    return alarm_actions.switch(context, request.alarm_names, enabled=False)
