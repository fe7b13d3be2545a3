"""Scale capacity: carry out scheduled actions, hold capacities against new bounds, and follow policies' targets."""

import time
from collections.abc import Callable
from functools import partial

import msgspec

from hashrange import ids, logs
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.protocol.plan import Write
from hashrange.api.scaling import policy_alarms, resources
from hashrange.api.scaling.resources import NAMESPACE, Resource
from hashrange.api.tables import throughput
from hashrange.api.tables.structures import (
    GlobalSecondaryIndexUpdate,
    ProvisionedThroughput,
    UpdateGlobalSecondaryIndexAction,
)
from hashrange.api.tables.update_table import UpdateTable, update_table
from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.core.schema import Table, Throughput
from hashrange.core.table_life import gone, settled
from hashrange.jobs import tracking_alarms
from hashrange.jobs.clock_jumps import WRITTEN_SECONDS, ClockJumps
from hashrange.jobs.job import IDLE_SECONDS
from hashrange.jobs.scaling_activities import (
    NotScaledActivities,
    cause_of,
    held_activity,
    latest_activity,
)
from hashrange.jobs.tracking_alarms import Sight
from hashrange.scaling import schedules, tracking
from hashrange.scaling.tracking import Bounds, Decision, Tracking
from hashrange.storage import catalogue, scaling_rows
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.scaling_rows import (
    POLICIES,
    SCHEDULED_ACTIONS,
    TARGETS,
    Activity,
    Policy,
    ScheduledAction,
    Target,
)
from hashrange.storage.setting_rows import Place

log = logs.Log("jobs.scaling")

_BUSY_SECONDS = 1.0
_EVALUATED_SECONDS = 3600  # for so long it is known up to which minute a policy was evaluated
_ADJUSTED_SECONDS = 600.0  # a clock that is set back by less than that shall not repeat anything

# Gives the units consumed in each minute from a moment on, up to another: read, place, resource, start, end.
Consumption = Callable[[Reader, Place, Resource, int, int], list[float]]


class Scaled(msgspec.Struct, frozen=True):
    """A target with all that belongs to it."""

    place: Place
    target: Target
    policies: tuple[Policy, ...]
    actions: tuple[ScheduledAction, ...]

    @property
    def resource(self) -> Resource:
        """The capacity that it is about."""
        return resources.parse(NAMESPACE, self.target.resource_id, self.target.dimension)


class ScaleCapacity:
    """Goes over all targets once a minute, as soon as the minute's consumption is known, one in every step."""

    name = "scale-capacity"

    def __init__(
        self,
        engine: Engine,
        tables: Catalogue,
        settings: Settings,
        consumption: Consumption,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._tables = tables
        self._settings = settings
        self._consumption = consumption
        self._waiting: list[tuple[Place, str]] = []  # ids of the targets of this round
        self._is_busy = False  # a table was, in this round
        self._jumps = ClockJumps(monotonic)
        self._not_scaled = NotScaledActivities(engine)
        self._evaluated: dict[str, int] = {}  # policy's id -> the minute up to which it was evaluated

    def step(self, now: float) -> float:
        """Look after one target; when all are done, wait for the next moment at which something may be due."""
        self._jumps.look(now)
        if not self._waiting:
            self._waiting = self._engine.read(_targets)
            hour_ago = now - _EVALUATED_SECONDS
            self._evaluated = {own: minute for own, minute in self._evaluated.items() if minute > hour_ago}
            if not self._waiting:
                return IDLE_SECONDS
            self._is_busy = False
        place, target_id = self._waiting.pop()
        scaled = self._engine.read(partial(_scaled, place=place, target_id=target_id))
        if scaled is not None and not self._look_after(scaled, now):
            self._is_busy = True
        if self._waiting:
            return 0.0
        is_soon = self._is_busy or self._jumps.is_recent
        return min(_until_next(now), _BUSY_SECONDS if is_soon else IDLE_SECONDS)

    def _look_after(self, scaled: Scaled, now: float) -> bool:
        """Give false if something is to be tried again soon."""
        target = self._run_schedules(scaled, now)
        table = self._tables.find(*scaled.place, scaled.resource.table_name)
        if table is None or gone(table, now):
            return True
        table = settled(table, now)
        capacity = scaled.resource.throughput(table)
        if capacity is None:
            return True  # on-demand, or the index is gone; the target stays registered
        if target.to_enforce:
            return self._enforce(scaled, target, table, capacity, now)
        # A target has one policy, for it has one metric.
        return all(self._follow(scaled, target, policy, table, capacity, now) for policy in scaled.policies)

    def _run_schedules(self, scaled: Scaled, now: float) -> Target:
        """Set the bounds of the actions that are due, in the order of their moments."""
        target = scaled.target
        due = [(moment, action) for action in scaled.actions if (moment := _due(action, now)) is not None]
        for moment, action in sorted(due, key=lambda pair: pair[0]):
            step = partial(_run_action, scaled=scaled, action=action, moment=moment, now=now)
            target = self._engine.write(step) or target
        return target

    def _enforce(
        self, scaled: Scaled, target: Target, table: Table, capacity: Throughput, now: float
    ) -> bool:
        """Bring a capacity that is outside new bounds to the nearer one; once, for later changes are the user's own."""
        before = scaled.resource.units(capacity)
        after = Bounds(target.least, target.most).clamped(before)
        bound = "minimum" if after > before else "maximum"

        def enforced(tx: Transaction) -> None:
            stored = scaling_rows.find_target(tx, scaled.place, target.resource_id, target.dimension)
            if stored is not None and (stored.least, stored.most) == (target.least, target.most):
                done = msgspec.structs.replace(stored, to_enforce=False)
                scaling_rows.save_target(tx, scaled.place, done)

        if after == before:
            self._engine.write(enforced)
            return True
        change = _Change(after, f"{bound} capacity was set to {after}", enforced, once=True)
        return self._set(scaled, table, capacity, change, now)

    def _follow(
        self, scaled: Scaled, target: Target, policy: Policy, table: Table, capacity: Throughput, now: float
    ) -> bool:
        """Do what a policy wants, once for every minute that has passed."""
        minute = int((now - WRITTEN_SECONDS) // tracking.MINUTE) * tracking.MINUTE
        if self._evaluated.get(policy.id) == minute:
            return True
        before = scaled.resource.units(capacity)
        minutes = self._minutes(scaled, table, minute)
        followed = _tracking(target, policy)
        bounds = Bounds(target.least, target.most)
        decision = tracking.decide(followed, bounds, before, minutes, policy.memory, now)
        if decision is not None or not self._jumps.is_recent:
            tracking_alarms.show(self._engine, scaled.place, policy, Sight(before, minutes, minute), now)
        if decision is None or (decision.capacity < before and not _may_decrease(capacity, now)):
            if not self._jumps.is_recent:
                self._evaluated[policy.id] = minute
                held = tracking.held(followed, bounds, before, minutes)
                activity = None if held is None else held_activity(policy, held, bounds, before, now)
                self._not_scaled.note(scaled.place, policy, activity)
            return True
        cause = cause_of(policy, decision.alarm)
        remember = partial(_remember, scaled=scaled, policy=policy, decision=decision, now=now)
        if not self._set(scaled, table, capacity, _Change(decision.capacity, cause, remember), now):
            return False
        self._evaluated[policy.id] = minute
        return True

    def _minutes(self, scaled: Scaled, table: Table, end: int) -> list[float]:
        """What was consumed in the last minutes; of a table that was made meanwhile, in those since then."""
        start = max(
            end - tracking.LOW_MINUTES * tracking.MINUTE,
            int(-(-table.created_at // tracking.MINUTE)) * tracking.MINUTE,
        )
        if start >= end:
            return []
        return self._engine.read(
            lambda reader: self._consumption(reader, scaled.place, scaled.resource, start, end)
        )

    def _set(self, scaled: Scaled, table: Table, capacity: Throughput, change: "_Change", now: float) -> bool:
        """Have UpdateTable change the capacity, and record that; false if the table is busy with something else."""
        resource, place = scaled.resource, scaled.place
        activity = _activity(scaled, change, now, ended_at=now + self._settings.transition_ms / 1000)
        try:
            plan = update_table(self._context(place, now), _update(resource, capacity, change.units))
            if not isinstance(plan, Write):
                raise TypeError(plan)
            self._engine.write(partial(_carry_out, plan, scaled, table, capacity, change, activity))
        except _Overtaken:
            return False
        except ApiError as error:
            if error.code == "ResourceInUseException":
                return False
            self._record_failure(scaled, activity, error, change)
            return True
        self._tables.refresh(*place, table.name)
        log.info(
            "capacity.set",
            table=table.name,
            index=resource.index_name,
            access=resource.access,
            units=change.units,
            cause=change.cause,
        )
        return True

    def _record_failure(self, scaled: Scaled, activity: Activity, error: ApiError, change: "_Change") -> None:
        """A refusal of UpdateTable is not tried again before the next minute, nor recorded twice in a row."""
        what = activity.description.removeprefix("Setting ")
        told = f"(Service: AmazonDynamoDBv2; Status Code: {error.status}; Error Code: {error.code})"
        reason = f"Failed to set {what} Reason: {error.message} {told}"
        failed = msgspec.structs.replace(activity, failure=reason, ended_at=activity.started_at)

        def step(tx: Transaction) -> None:
            if change.once:
                change.note(tx)
            latest = latest_activity(tx, scaled.place, failed)
            if latest is None or latest.failure != failed.failure:
                scaling_rows.save_activity(tx, scaled.place, failed)

        self._engine.write(step)
        log.warning("capacity.refused", table=scaled.resource.table_name, reason=error.message)

    def _context(self, place: Place, now: float) -> Context:
        return Context(
            catalogue=self._tables,
            clock=_Moment(now),
            settings=self._settings,
            region=place.region,
            account_id=place.account_id,
            access_key="",
            prepared=PreparedRequests(),
            backups=_NoBackups(),
        )


class _Change(msgspec.Struct, frozen=True):
    """A capacity to be set. `note` writes down that it was; also that it was refused, if it is tried `once`."""

    units: int
    cause: str
    note: Callable[[Transaction], None]
    once: bool = False


class _Overtaken(Exception):
    """Somebody has changed the capacity meanwhile, which is then looked at again."""


def _carry_out(
    plan: Write,
    scaled: Scaled,
    table: Table,
    capacity: Throughput,
    change: _Change,
    activity: Activity,
    tx: Transaction,
) -> None:
    """UpdateTable's own step, with the activity in the same transaction."""
    stored = catalogue.stored_table(tx, *catalogue.address(table))
    if stored is None:
        raise _Overtaken
    current = scaled.resource.throughput(settled(stored, activity.started_at))
    if current is None or (current.read_units, current.write_units) != (
        capacity.read_units,
        capacity.write_units,
    ):
        raise _Overtaken
    plan.step(tx)
    change.note(tx)
    scaling_rows.save_activity(tx, scaled.place, activity)


class _NoBackups:
    """UpdateTable does not look at backups."""

    def fault(self, _place: object, /) -> str | None:
        return None


class _Moment(Clock):
    """The time of a step."""

    def __init__(self, now: float) -> None:
        self._now = now

    def now(self) -> float:
        return self._now


def _targets(reader: Reader) -> list[tuple[Place, str]]:
    return [(place, target_id) for place, target_id, _ in TARGETS.everywhere(reader)]


def _scaled(reader: Reader, *, place: Place, target_id: str) -> Scaled | None:
    target = TARGETS.find(reader, place, target_id)
    if target is None:
        return None
    own = [policy for _, policy in POLICIES.of_region(reader, place, beginning=target_id)]
    actions = [action for _, action in SCHEDULED_ACTIONS.of_region(reader, place, beginning=target_id)]
    return Scaled(place, target, tuple(own), tuple(actions))


def _until_next(now: float) -> float:
    """Schedules are due at the beginning of a minute, policies when its consumption is known."""
    passed = now % tracking.MINUTE
    return (WRITTEN_SECONDS if passed < WRITTEN_SECONDS else tracking.MINUTE) - passed


def _due(action: ScheduledAction, now: float) -> float | None:
    """The latest moment of an action's schedule that was not carried out yet.

    One that was carried out in the time to come belongs to a clock that has been set back since: then what was due
    in the last minute is.
    """
    after = action.done_until
    if after > now + _ADJUSTED_SECONDS:
        after = now - tracking.MINUTE
    until = now if action.end_at is None else min(now, action.end_at)
    anchor = action.created_at
    if action.start_at is not None:
        anchor = action.start_at
        after = max(after, action.start_at - 1)
    if until <= after:
        return None
    zone = schedules.time_zone(action.timezone)
    return schedules.parse(action.schedule).latest(after, until, zone, anchor)


def _run_action(
    tx: Transaction, *, scaled: Scaled, action: ScheduledAction, moment: float, now: float
) -> Target | None:
    """Set an action's bounds; the other bound gives way. Gives the target as it is then."""
    own = scaling_rows.target_id(action.resource_id, action.dimension)
    stored = SCHEDULED_ACTIONS.find(tx, scaled.place, own + action.name)
    target = scaling_rows.find_target(tx, scaled.place, action.resource_id, action.dimension)
    if stored is None or target is None or stored.id != action.id or stored.done_until != action.done_until:
        return target
    scaling_rows.save_action(tx, scaled.place, msgspec.structs.replace(stored, done_until=moment))
    if target.suspended.scheduled:
        return target
    least = target.least if stored.least is None else stored.least
    most = target.most if stored.most is None else stored.most
    if stored.least is None:
        least = min(least, most)
    most = max(least, most)
    target = msgspec.structs.replace(target, least=least, most=most, to_enforce=True)
    scaling_rows.save_target(tx, scaled.place, target)
    what = _bounds_words(stored)
    activity = Activity(
        resource_id=target.resource_id,
        dimension=target.dimension,
        id=ids.unique_id(),
        description=f"Setting {what}",
        cause=f"scheduled action name {action.name} was triggered",
        started_at=now,
        ended_at=now,
        success=f"Successfully set {what}",
        progress="",
    )
    scaling_rows.save_activity(tx, scaled.place, activity)
    return target


def _bounds_words(action: ScheduledAction) -> str:
    words = [
        f"{name} capacity to {units}"
        for name, units in (("min", action.least), ("max", action.most))
        if units is not None
    ]
    return " and ".join(words)


def _tracking(target: Target, policy: Policy) -> Tracking:
    sent = policy.tracking
    return Tracking(
        target_percent=sent.target_value,
        scale_out_cooldown=sent.scale_out_cooldown or 0,
        scale_in_cooldown=sent.scale_in_cooldown or 0,
        may_scale_out=not target.suspended.scale_out,
        may_scale_in=not (target.suspended.scale_in or sent.disable_scale_in),
    )


def _may_decrease(capacity: Throughput, now: float) -> bool:
    """Whether the day's decreases are not used up; a policy waits for the next one without a word."""
    try:
        throughput.check_decrease(capacity, now)
    except ApiError:
        return False
    return True


def _remember(tx: Transaction, *, scaled: Scaled, policy: Policy, decision: Decision, now: float) -> None:
    own = scaling_rows.target_id(policy.resource_id, policy.dimension)
    stored = POLICIES.find(tx, scaled.place, own + policy.name)
    if stored is not None and stored.id == policy.id:
        memory = tracking.remembered(stored.memory, decision, now)
        scaling_rows.save_policy(tx, scaled.place, msgspec.structs.replace(stored, memory=memory))
        policy_alarms.keep(tx, scaled.place, stored, decision.capacity, now)


def _update(resource: Resource, capacity: Throughput, units: int) -> UpdateTable:
    """The request that changes one of the two capacities and leaves the other as it is."""
    spec = ProvisionedThroughput(
        read_capacity_units=units if resource.access == "Read" else capacity.read_units,
        write_capacity_units=units if resource.access == "Write" else capacity.write_units,
    )
    if resource.index_name is None:
        return UpdateTable(table_name=resource.table_name, provisioned_throughput=spec)
    action = UpdateGlobalSecondaryIndexAction(index_name=resource.index_name, provisioned_throughput=spec)
    updates = [GlobalSecondaryIndexUpdate(update=action)]
    return UpdateTable(table_name=resource.table_name, global_secondary_index_updates=updates)


def _activity(scaled: Scaled, change: _Change, now: float, *, ended_at: float) -> Activity:
    what = f"{scaled.resource.access.lower()} capacity units to {change.units}"
    return Activity(
        resource_id=scaled.target.resource_id,
        dimension=scaled.target.dimension,
        id=ids.unique_id(),
        description=f"Setting {what}.",
        cause=change.cause,
        started_at=now,
        ended_at=ended_at,
        success=f"Successfully set {what}. Change successfully fulfilled by dynamodb.",
        progress=f"Successfully set {what}. Waiting for change to be fulfilled by dynamodb.",
    )
