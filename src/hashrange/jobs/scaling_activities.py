"""Activities of auto scaling: what caused them, and why a policy changes nothing though its alarm is in ALARM."""

from functools import partial
from itertools import islice

from hashrange import ids
from hashrange.api.scaling import policy_alarms
from hashrange.core.limits import SCALABLE_TARGETS_MAX
from hashrange.scaling.tracking import Alarm, Bounds, Held
from hashrange.storage import scaling_rows
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.scaling_rows import Activity, NotScaled, Policy
from hashrange.storage.setting_rows import Place

_LATEST_ACTIVITIES = 500  # among which the last one of a target is looked for


class NotScaledActivities:
    """Notes each reason once, however many minutes it lasts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._noted: dict[
            str, str
        ] = {}  # policy's id -> the code of the reason that lasts; empty if there is none

    def note(self, place: Place, policy: Policy, activity: Activity | None) -> None:
        """Record why a policy does nothing; None: nothing holds it."""
        if len(self._noted) > SCALABLE_TARGETS_MAX:
            self._noted.clear()  # there are some of policies that were deleted
        code = "" if activity is None or activity.not_scaled is None else activity.not_scaled.code
        before = self._noted.get(policy.id)
        self._noted[policy.id] = code
        if activity is None or code == before:
            return
        if before is None and self._engine.read(partial(_is_stored, place=place, activity=activity)):
            return  # it lasts since before this server looked at it
        self._engine.write(partial(scaling_rows.save_activity, place=place, activity=activity))


def cause_of(policy: Policy, alarm: Alarm) -> str:
    """The cause of what a policy does."""
    name = policy_alarms.alarm_name(policy, alarm)
    return f"monitor alarm {name} in state ALARM triggered policy {policy.name}"


def _reason(held: Held, bounds: Bounds, capacity: int) -> NotScaled:
    """The reason, with the capacity that it is about."""
    match held.code:
        case "AlreadyAtMaxCapacity":
            return NotScaled(code=held.code, most=bounds.most)
        case "AlreadyAtMinCapacity":
            return NotScaled(code=held.code, least=bounds.least)
        case "AlreadyAtDesiredCapacity":
            return NotScaled(code=held.code, current=capacity)


def held_activity(policy: Policy, held: Held, bounds: Bounds, capacity: int, now: float) -> Activity:
    """What DescribeScalingActivities tells if it is asked for what was not scaled."""
    return Activity(
        resource_id=policy.resource_id,
        dimension=policy.dimension,
        id=ids.unique_id(),
        description="Attempting to scale due to alarm triggered",
        cause=cause_of(policy, held.alarm),
        started_at=now,
        ended_at=now,
        success="",
        progress="",
        not_scaled=_reason(held, bounds, capacity),
    )


def _is_stored(reader: Reader, *, place: Place, activity: Activity) -> bool:
    latest = latest_activity(reader, place, activity)
    return latest is not None and latest.not_scaled == activity.not_scaled


def latest_activity(reader: Reader, place: Place, activity: Activity) -> Activity | None:
    """The latest activity of the same target."""
    latest_ones = scaling_rows.ACTIVITIES.of_region(reader, place, reverse=True)
    for _, latest in islice(latest_ones, _LATEST_ACTIVITIES):
        if (latest.resource_id, latest.dimension) == (activity.resource_id, activity.dimension):
            return latest
    return None
