"""The four CloudWatch alarms of a target-tracking policy: they come, change and go with it."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from hashrange.api.cloudwatch import alarms, transitions
from hashrange.api.cloudwatch.alarms import Alarm, Configuration, State
from hashrange.api.cloudwatch.structures import Dimension, Statistic
from hashrange.api.scaling import resources
from hashrange.api.scaling.resources import NAMESPACE, Resource
from hashrange.core.table_life import settled
from hashrange.scaling import tracking
from hashrange.storage import catalogue, scaling_rows
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.scaling_rows import ALARMS, AlarmKind, Policy
from hashrange.storage.setting_rows import Place

# The others watch what is provisioned, and are evaluated as any alarm is.
_SHOWN = ("AlarmHigh", "AlarmLow")
_METRICS = "AWS/DynamoDB"
_PROVISIONED_PERIODS = 3
_PROVISIONED_PERIOD = 300


class _Watch(NamedTuple):
    """What an alarm compares with what."""

    metric: str
    statistic: Statistic
    period: int
    periods: int
    threshold: float


def policy_arn(place: Place, policy: Policy) -> str:
    """A policy's Amazon resource name."""
    return (
        f"arn:aws:autoscaling:{place.region}:{place.account_id}:scalingPolicy:{policy.id}"
        f":resource/{NAMESPACE}/{policy.resource_id}:policyName/{policy.name}"
    )


def alarm_name(policy: Policy, kind: AlarmKind) -> str:
    """The name of one of a policy's alarms."""
    return f"TargetTracking-{policy.resource_id}-{kind}-{policy.alarm_ids[ALARMS.index(kind)]}"


def configured(place: Place, policy: Policy, kind: AlarmKind, units: int) -> Configuration:
    """What one of the alarms is set to while so many units are provisioned."""
    resource = resources.parse(NAMESPACE, policy.resource_id, policy.dimension)
    watch = _watch(resource.access, policy.tracking.target_value, kind, units)
    action = f"{policy_arn(place, policy)}:createdBy/{policy.creator_id}"
    return Configuration(
        alarm_description=f"DO NOT EDIT OR DELETE. For TargetTrackingScaling policy {action}.",
        ok_actions=[],
        alarm_actions=[action],
        insufficient_data_actions=[],
        metric_name=watch.metric,
        namespace=_METRICS,
        statistic=watch.statistic,
        dimensions=_dimensions(resource),
        period=watch.period,
        evaluation_periods=watch.periods,
        threshold=watch.threshold,
        comparison_operator="GreaterThanThreshold" if kind.endswith("High") else "LessThanThreshold",
    )


def _watch(access: str, target_percent: float, kind: AlarmKind, units: int) -> _Watch:
    consumed, provisioned = f"Consumed{access}CapacityUnits", f"Provisioned{access}CapacityUnits"
    match kind:
        case "AlarmHigh":
            threshold = tracking.high_threshold(units, target_percent)
            return _Watch(consumed, "Sum", tracking.MINUTE, tracking.HIGH_MINUTES, threshold)
        case "AlarmLow":
            threshold = tracking.low_threshold(units, target_percent)
            return _Watch(consumed, "Sum", tracking.MINUTE, tracking.LOW_MINUTES, threshold)
        case _:
            return _Watch(provisioned, "Average", _PROVISIONED_PERIOD, _PROVISIONED_PERIODS, float(units))


def _dimensions(resource: Resource) -> list[Dimension]:
    dimensions = [Dimension(name="TableName", value=resource.table_name)]
    if resource.index_name is not None:
        dimensions.append(Dimension(name="GlobalSecondaryIndexName", value=resource.index_name))
    return dimensions


def planned(
    reader: Reader, place: Place, policy: Policy, units: int, now: float
) -> Iterator[tuple[Alarm | None, Alarm]]:
    """Every alarm as it is stored and as it should be while so many units are provisioned; states stay."""
    for kind in ALARMS:
        fresh = Alarm(
            name=alarm_name(policy, kind),
            configuration=configured(place, policy, kind, units),
            configured_at=now,
            state=State(updated_at=now, transitioned_at=now),
            policy_id=policy.id,
            is_shown=kind in _SHOWN,
        )
        stored = alarms.ALARMS.find(reader, place, fresh.name)
        if stored is None:
            yield None, fresh
        elif (stored.configuration, stored.policy_id) == (fresh.configuration, policy.id):
            yield stored, stored
        else:
            kept = {"state": stored.state, "tags": stored.tags, "actions_enabled": stored.actions_enabled}
            yield stored, msgspec.structs.replace(fresh, **kept)


def keep(tx: Transaction, place: Place, policy: Policy, units: int, now: float) -> None:
    """Make or change the alarms, where they are not as they should be.

    New thresholds are not told in the alarms' history: a policy that follows a day's curve would fill it with them.
    """
    for stored, alarm in list(planned(tx, place, policy, units, now)):
        if alarm is not stored:
            alarms.save(tx, place, alarm)
        if stored is None:
            transitions.note_configuration(tx, place, alarm, "Create", now)


def remove(tx: Transaction, place: Place, policy: Policy, now: float) -> None:
    """Delete the alarms of a policy that goes."""
    for kind in ALARMS:
        alarm = alarms.ALARMS.find(tx, place, alarm_name(policy, kind))
        if alarm is not None:
            alarms.ALARMS.remove(tx, place, alarm.name)
            transitions.note_configuration(tx, place, alarm, "Delete", now)


def units_of(reader: Reader, place: Place, resource: Resource, now: float) -> int:
    """What is provisioned; where nothing is, the target's least is what there would be."""
    table = catalogue.stored_table(reader, *place, resource.table_name)
    throughput = None if table is None else resource.throughput(settled(table, now))
    if throughput is not None:
        return resource.units(throughput)
    target = scaling_rows.find_target(reader, place, resource.id, resource.dimension)
    return 1 if target is None else target.least
