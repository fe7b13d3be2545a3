"""Target-tracking policies: their rules, and storing and removing them with their alarms."""

import math
import uuid

import msgspec

from hashrange.api import errors
from hashrange.api.scaling import policy_alarms
from hashrange.api.scaling.resources import Resource
from hashrange.storage import scaling_rows
from hashrange.storage.engine import Transaction
from hashrange.storage.scaling_rows import ALARMS, POLICIES, Policy, TargetTracking, target_id
from hashrange.storage.setting_rows import Place

_ANY_TARGET = (8.51592e-109, 1.174271e108)
_ANY_TARGET_SHOWN = ("8.51592E-109", "1.174271E108")
_UTILISATION_TARGET = (10.0, 90.0)  # measured; the documentation says 20 to 90


def check(resource: Resource, tracking: TargetTracking) -> None:
    """Refuse a target or a metric that no policy for this capacity has."""
    value = tracking.target_value
    if not _ANY_TARGET[0] <= value <= _ANY_TARGET[1]:
        least, most = _ANY_TARGET_SHOWN
        raise errors.validation(
            f"For target tracking scaling, target value must be between '{least}' and '{most}', "
            f"but was '{_java_double(value)}'."
        )
    if tracking.metric_type != resource.metric_type:
        raise errors.validation(
            f"Predefined metric type {tracking.metric_type} is not supported for {resource.dimension}"
        )
    least_percent, most_percent = _UTILISATION_TARGET
    if not least_percent <= value <= most_percent:
        raise errors.validation(
            f"For predefined metric type {tracking.metric_type}, target value must be between '{least_percent}' "
            f"and '{most_percent}', but was '{_java_double(value)}'."
        )


def _java_double(value: float) -> str:
    """A number as Java prints it."""
    shown = repr(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else shown.replace("inf", "Infinity")
    if "e" not in shown:
        return shown
    digits, _, exponent = shown.partition("e")
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"


def put(
    tx: Transaction, place: Place, resource: Resource, name: str, tracking: TargetTracking, now: float
) -> Policy:
    """Store a policy, new or changed; a target has one for its metric."""
    before = None
    for policy in scaling_rows.policies_of(tx, place, resource.id, resource.dimension):
        if policy.name != name:
            raise errors.validation(
                "Only one TargetTrackingScaling policy for a given metric specification is allowed."
            )
        before = policy
    policy = (
        msgspec.structs.replace(before, tracking=tracking)
        if before is not None
        else Policy(
            resource_id=resource.id,
            dimension=resource.dimension,
            name=name,
            id=str(uuid.uuid4()),
            created_at=now,
            tracking=tracking,
            alarm_ids=tuple(str(uuid.uuid4()) for _ in ALARMS),
            creator_id=str(uuid.uuid4()),
        )
    )
    scaling_rows.save_policy(tx, place, policy)
    policy_alarms.keep(tx, place, policy, policy_alarms.units_of(tx, place, resource, now), now)
    return policy


def remove(tx: Transaction, place: Place, policy: Policy, now: float) -> None:
    """Forget a policy and its alarms."""
    POLICIES.remove(tx, place, target_id(policy.resource_id, policy.dimension) + policy.name)
    policy_alarms.remove(tx, place, policy, now)
