"""Switching the actions of alarms on and off."""

import msgspec

from hashrange.api.cloudwatch import alarms
from hashrange.api.cloudwatch.structures import AlarmNames
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Described
from hashrange.services.cloudwatch import errors
from hashrange.storage.engine import Transaction


class Switch(Request, kw_only=True):
    """A request that names alarms."""

    alarm_names: AlarmNames


def switch(context: Context, names: list[str], *, enabled: bool) -> Plan:
    """Have actions carried out or not; names of no alarm are passed over, as the service does."""
    now = context.clock.now()
    place = alarms.place_of(context)

    def step(tx: Transaction) -> Described:
        for name in dict.fromkeys(names):
            alarm = alarms.ALARMS.find(tx, place, name)
            if alarm is not None:
                changed = msgspec.structs.replace(alarm, actions_enabled=enabled, configured_at=now)
                alarms.save(tx, place, changed)
        return Described(None)

    return Write(step, conflict=errors.conflict)
