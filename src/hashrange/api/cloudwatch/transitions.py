"""Changes of an alarm's state, and what its history says of them."""

from typing import Literal

import msgspec
import orjson

from hashrange.api.cloudwatch import alarms
from hashrange.api.cloudwatch.alarms import Alarm, HistoryItem, HistoryItemType, State
from hashrange.storage.engine import Transaction
from hashrange.storage.setting_rows import Place

_VERSION = "1.0"

Change = Literal["Create", "Update", "Delete"]


class _ToldState(msgspec.Struct, rename="camel", omit_defaults=True):
    """A state as histories have it."""

    state_value: str
    state_reason: str
    state_reason_data: msgspec.Raw | None = None


class _StateUpdate(msgspec.Struct, rename="camel"):
    version: str
    old_state: _ToldState
    new_state: _ToldState


class _Action(msgspec.Struct, rename="camel"):
    action_state: str
    state_update_timestamp: int
    notification_resource: str


def enter(tx: Transaction, place: Place, alarm: Alarm, state: State) -> Alarm:
    """Put an alarm into a state; gives it. A state that is another one is told in the history, with its actions."""
    changed = msgspec.structs.replace(alarm, state=state)
    alarms.save(tx, place, changed)
    if state.value == alarm.state.value:
        return changed
    summary = f"Alarm updated from {alarm.state.value} to {state.value}"
    update = _StateUpdate(_VERSION, _told(alarm.state), _told(state))
    _note(tx, place, changed, "StateUpdate", summary, update)
    if alarm.actions_enabled:
        for action in alarm.configuration.actions(state.value):
            _note_action(tx, place, changed, action)
    return changed


def _told(state: State) -> _ToldState:
    data = state.reason_data
    if data is None:
        return _ToldState(state.value, state.reason)
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        data = orjson.dumps(data).decode()
    return _ToldState(state.value, state.reason, msgspec.Raw(data.encode()))


def _note_action(tx: Transaction, place: Place, alarm: Alarm, action: str) -> None:
    """The alarms of a scaling policy have it act; any other action is recorded here, and carried out by nobody."""
    is_executed = alarm.policy_id is not None
    moment = round(alarm.state.updated_at * 1000)
    told = _Action("Succeeded" if is_executed else "Recorded", moment, action)
    summary = f"Successfully executed action {action}" if is_executed else f"Recorded action {action}"
    _note(tx, place, alarm, "Action", summary, told)


def note_configuration(tx: Transaction, place: Place, alarm: Alarm, what: Change, time: float) -> None:
    """Tell that an alarm was made, changed or deleted."""
    shown: dict[str, object] = msgspec.to_builtins(alarms.described(place, alarm))
    members = {name[0].lower() + name[1:]: value for name, value in shown.items()}
    data = {"version": _VERSION, "type": what, f"{what.lower()}dAlarm": members}
    item = HistoryItem(
        alarm=alarm.name,
        time=time,
        type="ConfigurationUpdate",
        summary=f'Alarm "{alarm.name}" {what.lower()}d',
        data=orjson.dumps(data).decode(),
    )
    alarms.note(tx, place, item)


def _note(
    tx: Transaction,
    place: Place,
    alarm: Alarm,
    item_type: HistoryItemType,
    summary: str,
    data: _StateUpdate | _Action,
) -> None:
    item = HistoryItem(
        alarm=alarm.name,
        time=alarm.state.updated_at,
        type=item_type,
        summary=summary,
        data=msgspec.json.encode(data).decode(),
    )
    alarms.note(tx, place, item)
