"""The alarms of target-tracking policies show what the controller has seen: its thresholds, and its minutes."""

from functools import partial
from typing import NamedTuple

from hashrange.api.cloudwatch import alarms, transitions
from hashrange.api.cloudwatch.alarms import Alarm, State
from hashrange.api.scaling import policy_alarms
from hashrange.scaling.tracking import MINUTE
from hashrange.services.cloudwatch import evaluation
from hashrange.services.cloudwatch.evaluation import Evaluated
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.scaling_rows import POLICIES, Policy, target_id
from hashrange.storage.setting_rows import Place


class Sight(NamedTuple):
    """What the controller has seen: the units that are provisioned, and those consumed in the minutes up to `end`."""

    units: int
    minutes: list[float]
    end: int


class _Change(NamedTuple):
    """An alarm as it was (None: there was none), with its new configuration, and the state that it gets."""

    stored: Alarm | None
    alarm: Alarm
    state: State | None


def show(engine: Engine, place: Place, policy: Policy, sight: Sight, now: float) -> None:
    """Bring a policy's alarms up to date; nothing is written where nothing has changed."""
    changes = engine.read(partial(_changes, place=place, policy=policy, sight=sight, now=now))
    if changes:
        engine.write(partial(_save, place=place, policy=policy, changes=changes, now=now))


def _changes(reader: Reader, *, place: Place, policy: Policy, sight: Sight, now: float) -> list[_Change]:
    changes: list[_Change] = []
    for stored, alarm in policy_alarms.planned(reader, place, policy, sight.units, now):
        state = _state(alarm, sight, now) if alarm.is_shown else None
        if alarm is not stored or state is not None:
            changes.append(_Change(stored, alarm, state))
    return changes


def _state(alarm: Alarm, sight: Sight, now: float) -> State | None:
    """The state that the minutes lead to, if that is another one."""
    rule = evaluation.rule_of(alarm.configuration)
    start = sight.end - len(sight.minutes) * MINUTE
    points = [Evaluated(start + at * MINUTE, consumed) for at, consumed in enumerate(sight.minutes)]
    verdict = evaluation.verdict(rule, points)
    if verdict is None or verdict.value == alarm.state.value:
        return None
    return evaluation.state(alarm.configuration, rule, verdict, now)


def _save(tx: Transaction, *, place: Place, policy: Policy, changes: list[_Change], now: float) -> None:
    """Unless the policy is gone meanwhile, or somebody has changed an alarm."""
    current = POLICIES.find(tx, place, target_id(policy.resource_id, policy.dimension) + policy.name)
    if current is None or current.id != policy.id:
        return
    for change in changes:
        if alarms.ALARMS.find(tx, place, change.alarm.name) != change.stored:
            continue
        alarms.save(tx, place, change.alarm)
        if change.stored is None:
            transitions.note_configuration(tx, place, change.alarm, "Create", now)
        if change.state is not None:
            transitions.enter(tx, place, change.alarm, change.state)
