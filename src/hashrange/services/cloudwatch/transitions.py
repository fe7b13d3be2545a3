"""Changes of an alarm's state, and what its history says of them."""

from typing import Any

import msgspec
import orjson

from hashrange.services.cloudwatch import alarms
from hashrange.services.cloudwatch.alarms import Alarm, HistoryItem, State
from hashrange.storage.engine import Transaction
from hashrange.storage.setting_rows import Place

_VERSION = "1.0"


def enter(tx: Transaction, place: Place, alarm: Alarm, state: State) -> Alarm:
    """Put an alarm into a state; gives it. A state that is another one is told in the history, with its actions."""
    changed = msgspec.structs.replace(alarm, state=state)
    alarms.save(tx, place, changed)
    if state.value == alarm.state.value:
        return changed
    summary = f"Alarm updated from {alarm.state.value} to {state.value}"
    data = {"version": _VERSION, "oldState": _state(alarm.state), "newState": _state(state)}
    _note(tx, place, changed, "StateUpdate", summary, data)
    if alarm.actions_enabled:
        for action in alarm.configuration.actions(state.value):
            _note_action(tx, place, changed, action)
    return changed


def _state(state: State) -> dict[str, Any]:
    told: dict[str, Any] = {"stateValue": state.value, "stateReason": state.reason}
    if state.reason_data is not None:
        try:
            told["stateReasonData"] = orjson.loads(state.reason_data)
        except orjson.JSONDecodeError:
            told["stateReasonData"] = state.reason_data
    return told


def _note_action(tx: Transaction, place: Place, alarm: Alarm, action: str) -> None:
    """Actions are recorded here and carried out by nobody, but those of scaling policies, which act by themselves."""
    data = {
        "actionState": "Recorded",
        "stateUpdateTimestamp": round(alarm.state.updated_at * 1000),
        "notificationResource": action,
    }
    _note(tx, place, alarm, "Action", f"Recorded action {action}", data)


def note_configuration(tx: Transaction, place: Place, alarm: Alarm, what: str, time: float) -> None:
    """Tell that an alarm was made, changed or deleted."""
    data = {"version": _VERSION, "type": what, f"{what.lower()}dAlarm": _configured(place, alarm)}
    item = HistoryItem(
        alarm=alarm.name,
        time=time,
        type="ConfigurationUpdate",
        summary=f'Alarm "{alarm.name}" {what.lower()}d',
        data=orjson.dumps(data).decode(),
    )
    alarms.note(tx, place, item)


def _configured(place: Place, alarm: Alarm) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(alarms.described(place, alarm))
    return {name[0].lower() + name[1:]: value for name, value in shown.items()}


def _note(
    tx: Transaction, place: Place, alarm: Alarm, type_: Any, summary: str, data: dict[str, Any]
) -> None:
    item = HistoryItem(
        alarm=alarm.name,
        time=alarm.state.updated_at,
        type=type_,
        summary=summary,
        data=orjson.dumps(data).decode(),
    )
    alarms.note(tx, place, item)
