"""What Application Auto Scaling keeps: scalable targets, policies, scheduled actions, and what was done."""

from collections.abc import Iterator
from typing import Literal, get_args

import msgspec

from hashrange.scaling.tracking import Memory
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.setting_rows import Place, SettingRows

ACTIVITY_SECONDS = 42 * 86_400  # API_DescribeScalingActivities: those of the last six weeks

AlarmKind = Literal["AlarmHigh", "AlarmLow", "ProvisionedCapacityHigh", "ProvisionedCapacityLow"]


class Suspended(msgspec.Struct, frozen=True, kw_only=True):
    """What a target does not do for the time being."""

    scale_in: bool = False
    scale_out: bool = False
    scheduled: bool = False


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A table's or index's read or write capacity that may be scaled."""

    resource_id: str
    dimension: str
    id: str
    created_at: float
    least: int
    most: int
    role_arn: str
    suspended: Suspended = Suspended()
    tags: dict[str, str] = {}
    to_enforce: bool = False  # the bounds are new, and the capacity was not held against them yet


class TargetTracking(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of a policy, as it was sent."""

    target_value: float
    metric_type: str
    resource_label: str | None = None
    scale_out_cooldown: int | None = None
    scale_in_cooldown: int | None = None
    disable_scale_in: bool | None = None


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """A target-tracking policy."""

    resource_id: str
    dimension: str
    name: str
    id: str
    created_at: float
    tracking: TargetTracking
    alarm_ids: tuple[str, ...]  # one for each of `ALARMS`
    creator_id: str  # a part of the action that the alarms have
    memory: Memory = Memory()


class ScheduledAction(msgspec.Struct, frozen=True, kw_only=True):
    """New bounds at set times."""

    resource_id: str
    dimension: str
    name: str
    id: str
    created_at: float
    schedule: str
    timezone: str | None = None
    start_at: float | None = None
    end_at: float | None = None
    least: int | None = None
    most: int | None = None
    done_until: float  # moments of the schedule up to then are over


class NotScaled(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing was done, with the capacity that is the reason."""

    code: str
    most: int | None = None
    least: int | None = None
    current: int | None = None


class Activity(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was done, or could not be, or need not be."""

    resource_id: str
    dimension: str
    id: str
    description: str
    cause: str
    started_at: float
    ended_at: float  # before that it is in progress
    failure: str | None = None
    success: str
    progress: str  # what its message is until it has ended
    not_scaled: NotScaled | None = None  # why it changed nothing; then it has no messages


ALARMS: tuple[AlarmKind, ...] = get_args(AlarmKind)
TARGETS = SettingRows("scalable-target", Target)
POLICIES = SettingRows("scaling-policy", Policy)
SCHEDULED_ACTIONS = SettingRows("scheduled-action", ScheduledAction)
ACTIVITIES = SettingRows("scaling-activity", Activity)
_ACTIVITIES_CHUNK = 100


def target_id(resource_id: str, dimension: str) -> str:
    """The id of a target's row, with which those of its policies and actions begin."""
    return f"{resource_id}\0{dimension}\0"


def save_target(tx: Transaction, place: Place, target: Target) -> None:
    """Write a target."""
    TARGETS.save(tx, place, target_id(target.resource_id, target.dimension), target)


def find_target(reader: Reader, place: Place, resource_id: str, dimension: str) -> Target | None:
    """The target that is registered for this capacity."""
    return TARGETS.find(reader, place, target_id(resource_id, dimension))


def policies_of(reader: Reader, place: Place, resource_id: str, dimension: str) -> Iterator[Policy]:
    """The policies of a target."""
    for _, policy in POLICIES.of_region(reader, place, beginning=target_id(resource_id, dimension)):
        yield policy


def save_policy(tx: Transaction, place: Place, policy: Policy) -> None:
    """Write a policy."""
    POLICIES.save(tx, place, target_id(policy.resource_id, policy.dimension) + policy.name, policy)


def save_action(tx: Transaction, place: Place, action: ScheduledAction) -> None:
    """Write a scheduled action."""
    SCHEDULED_ACTIONS.save(tx, place, target_id(action.resource_id, action.dimension) + action.name, action)


def remove_action(tx: Transaction, place: Place, action: ScheduledAction) -> None:
    """Forget a scheduled action."""
    SCHEDULED_ACTIONS.remove(tx, place, target_id(action.resource_id, action.dimension) + action.name)


def remove_target(tx: Transaction, place: Place, resource_id: str, dimension: str) -> None:
    """Forget a target with its scheduled actions."""
    own = target_id(resource_id, dimension)
    TARGETS.remove(tx, place, own)
    for action_id, _ in list(SCHEDULED_ACTIONS.of_region(tx, place, beginning=own)):
        SCHEDULED_ACTIONS.remove(tx, place, action_id)


def save_activity(tx: Transaction, place: Place, activity: Activity) -> None:
    """Write an activity, and delete some that are too old to be shown."""
    moment = _sortable(activity.started_at)
    number = sum(1 for _ in ACTIVITIES.of_region(tx, place, beginning=moment))
    ACTIVITIES.save(tx, place, f"{moment}-{number:06d}", activity)
    oldest = _sortable(activity.started_at - ACTIVITY_SECONDS)
    old: list[str] = []
    for activity_id, _ in ACTIVITIES.of_region(tx, place):
        if activity_id >= oldest or len(old) == _ACTIVITIES_CHUNK:
            break
        old.append(activity_id)
    for activity_id in old:
        ACTIVITIES.remove(tx, place, activity_id)


def _sortable(moment: float) -> str:
    """A moment as the beginning of an id, so that ids sort by age."""
    return f"{max(0, round(moment * 1000)):015d}"
