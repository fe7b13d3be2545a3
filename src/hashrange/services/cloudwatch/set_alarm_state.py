"""SetAlarmState: put an alarm into a state until it is evaluated again, to see what it does."""

from typing import Annotated

import orjson
from msgspec import Meta

from hashrange.api.cloudwatch import alarms, transitions
from hashrange.api.cloudwatch.alarms import State
from hashrange.api.cloudwatch.structures import AlarmName, StateValue
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.services.cloudwatch import errors
from hashrange.storage.engine import Transaction


class SetAlarmState(Request, kw_only=True):
    """The request."""

    alarm_name: AlarmName
    state_value: StateValue
    state_reason: Annotated[str, Meta(max_length=1023)]
    state_reason_data: Annotated[str, Meta(max_length=4000)] | None = None


SHAPE = Shape(SetAlarmState)


def set_alarm_state(context: Context, request: SetAlarmState) -> Plan:
    """The data is JSON, and shown with the reason."""
    if request.state_reason_data:
        try:
            orjson.loads(request.state_reason_data)
        except orjson.JSONDecodeError:
            raise ApiError("InvalidFormatFault", "StateReasonData was not valid JSON") from None
    now = context.clock.now()
    place = alarms.place_of(context)

    def step(tx: Transaction) -> Described:
        alarm = alarms.ALARMS.find(tx, place, request.alarm_name)
        if alarm is None:
            raise errors.no_such_alarm()
        is_same = alarm.state.value == request.state_value
        state = State(
            value=request.state_value,
            reason=request.state_reason,
            reason_data=request.state_reason_data,
            updated_at=now,
            transitioned_at=alarm.state.transitioned_at if is_same else now,
        )
        transitions.enter(tx, place, alarm, state)
        return Described(None)

    return Write(step, conflict=errors.conflict)
