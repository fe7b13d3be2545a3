"""DeleteAlarms: forget alarms; their history stays."""

from hashrange.api.cloudwatch import alarms, transitions
from hashrange.api.cloudwatch.structures import AlarmNames
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.services.cloudwatch import errors
from hashrange.storage.engine import Transaction


class DeleteAlarms(Request, kw_only=True):
    """The request."""

    alarm_names: AlarmNames


SHAPE = Shape(DeleteAlarms)


def delete_alarms(context: Context, request: DeleteAlarms) -> Plan:
    """All of them, or none: one name of no alarm, where there are several, fails the request."""
    place = alarms.place_of(context)
    now = context.clock.now()

    def step(tx: Transaction) -> Described:
        names = list(dict.fromkeys(request.alarm_names))
        stored = [alarms.ALARMS.find(tx, place, name) for name in names]
        if len(names) > 1 and None in stored:
            raise errors.no_such_alarm()
        for alarm in stored:
            if alarm is not None:
                alarms.ALARMS.remove(tx, place, alarm.name)
                transitions.note_configuration(tx, place, alarm, "Delete", now)
        return Described(None)

    return Write(step, conflict=errors.conflict)
