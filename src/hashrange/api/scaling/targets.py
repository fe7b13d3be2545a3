"""Scalable targets: registering one, changing it, and taking it away."""

import uuid

import msgspec

from hashrange.api import errors
from hashrange.api.errors import ApiError
from hashrange.api.scaling import policies
from hashrange.api.scaling.resources import Resource, identified, object_not_found
from hashrange.core.limits import SCALABLE_TARGETS_MAX
from hashrange.storage import scaling_rows
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.scaling_rows import TARGETS, Suspended, Target
from hashrange.storage.setting_rows import Place

_ROLE = (
    "aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"
    "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
)
_ID_CHARS = 32


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """What a request says of a target; None: leave it as it is."""

    least: int | None = None
    most: int | None = None
    suspended: Suspended | None = None
    tags: dict[str, str] | None = None


def target_arn(place: Place, target: Target) -> str:
    """A target's Amazon resource name."""
    return f"arn:aws:application-autoscaling:{place.region}:{place.account_id}:scalable-target/{target.id}"


def register(
    tx: Transaction, place: Place, resource: Resource, registration: Registration, now: float
) -> Target:
    """Register a target, or change the one that is registered; a job then holds the capacity against its bounds."""
    before = scaling_rows.find_target(tx, place, resource.id, resource.dimension)
    target = (
        _new(tx, place, resource, registration, now) if before is None else _updated(before, registration)
    )
    check_bounds(target.least, target.most)
    if before is None or (before.least, before.most) != (target.least, target.most):
        target = msgspec.structs.replace(target, to_enforce=True)
    scaling_rows.save_target(tx, place, target)
    return target


def _new(reader: Reader, place: Place, resource: Resource, registration: Registration, now: float) -> Target:
    if registration.least is None or registration.most is None:
        raise errors.validation(
            "Both MinCapacity and MaxCapacity must be specified when a scalable target is registered"
        )
    if sum(1 for _ in TARGETS.of_region(reader, place)) >= SCALABLE_TARGETS_MAX:
        raise errors.limit_exceeded(
            f"The number of scalable targets exceeds the limit of {SCALABLE_TARGETS_MAX} for {resource.dimension}"
        )
    return Target(
        resource_id=resource.id,
        dimension=resource.dimension,
        id=f"0ec4{uuid.uuid4().hex}"[:_ID_CHARS],
        created_at=now,
        least=registration.least,
        most=registration.most,
        role_arn=role_arn(place),
        suspended=registration.suspended or Suspended(),
        tags=registration.tags or {},
    )


def _updated(before: Target, registration: Registration) -> Target:
    if registration.tags:
        raise errors.validation(
            "Tags can only be specified when a scalable target is registered for the first time"
        )
    return msgspec.structs.replace(
        before,
        least=before.least if registration.least is None else registration.least,
        most=before.most if registration.most is None else registration.most,
        suspended=registration.suspended or before.suspended,
    )


def role_arn(place: Place) -> str:
    """The service's own role, which it uses whatever role a request names."""
    return f"arn:aws:iam::{place.account_id}:role/{_ROLE}"


def check_bounds(least: int, most: int) -> None:
    """Refuse bounds that no capacity could be within."""
    if most < least:
        raise errors.validation("Maximum capacity cannot be less than minimum capacity")
    if least < 1:
        raise errors.validation("Minimum capacity cannot be less than 1")


def deregister(tx: Transaction, place: Place, resource: Resource, now: float) -> None:
    """Take away a target that there must be."""
    if scaling_rows.find_target(tx, place, resource.id, resource.dimension) is None:
        raise object_not_found(f"No scalable target found for {identified(resource.id, resource.dimension)}")
    remove(tx, place, resource, now)


def remove(tx: Transaction, place: Place, resource: Resource, now: float) -> None:
    """Take a target away, with its policies, their alarms, and its scheduled actions."""
    for policy in list(scaling_rows.policies_of(tx, place, resource.id, resource.dimension)):
        policies.remove(tx, place, policy, now)
    scaling_rows.remove_target(tx, place, resource.id, resource.dimension)


def registered(reader: Reader, place: Place, resource: Resource) -> Target:
    """The target that a policy or a scheduled action is for."""
    target = scaling_rows.find_target(reader, place, resource.id, resource.dimension)
    if target is None:
        raise object_not_found(
            f"No scalable target registered for {identified(resource.id, resource.dimension)}"
        )
    return target


def by_arn(reader: Reader, place: Place, arn: str) -> Target:
    """The target with this ARN."""
    for _, target in TARGETS.of_region(reader, place):
        if target_arn(place, target) == arn:
            return target
    raise ApiError(
        "ResourceNotFoundException", f"No resource found with ARN: {arn}", fields={"ResourceName": arn}
    )
