"""PutScheduledAction: give a scalable target other bounds at set times."""

import uuid

import msgspec

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.api.scaling import resources, targets
from hashrange.api.scaling.resources import Resource
from hashrange.core.limits import SCHEDULED_ACTIONS_MAX
from hashrange.scaling import schedules
from hashrange.scaling.schedules import ScheduleError
from hashrange.services.autoscaling.changes import change
from hashrange.services.autoscaling.structures import (
    ActionName,
    Id,
    Nothing,
    ScalableDimension,
    ScalableTargetAction,
    ServiceNamespace,
    Timestamp,
)
from hashrange.storage import scaling_rows
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.scaling_rows import SCHEDULED_ACTIONS, ScheduledAction, target_id
from hashrange.storage.setting_rows import Place


class PutScheduledAction(Request, kw_only=True):
    """The request."""

    service_namespace: ServiceNamespace
    schedule: Id | None = None
    timezone: Id | None = None
    scheduled_action_name: ActionName
    resource_id: Id
    scalable_dimension: ScalableDimension
    start_time: Timestamp | None = None
    end_time: Timestamp | None = None
    scalable_target_action: ScalableTargetAction | None = None


SHAPE = Shape(PutScheduledAction)
PutScheduledActionOutput = Nothing


def put_scheduled_action(context: Context, request: PutScheduledAction) -> Plan:
    """Members that a change leaves out stay as they were, but for the times of start and end, which are removed."""
    resource = resources.parse(request.service_namespace, request.resource_id, request.scalable_dimension)
    _check_schedule(request)
    place, now = resources.place_of(context), context.clock.now()
    own = target_id(resource.id, resource.dimension)

    def edit(tx: Transaction) -> Nothing:
        targets.registered(tx, place, resource)
        before = SCHEDULED_ACTIONS.find(tx, place, own + request.scheduled_action_name)
        if before is None:
            before = _new(tx, place, resource, request, now)
        action = _updated(before, request, now)
        _check(action)
        scaling_rows.save_action(tx, place, action)
        return Nothing()

    return change(context, resource, edit)


def _check_schedule(request: PutScheduledAction) -> None:
    try:
        if request.schedule is not None:
            schedules.parse(request.schedule)
    except ScheduleError:
        raise errors.validation(f"Invalid schedule expression: {request.schedule}") from None
    try:
        schedules.time_zone(request.timezone)
    except ScheduleError:
        raise errors.validation(f"Invalid timezone: {request.timezone}") from None


def _new(
    reader: Reader, place: Place, resource: Resource, request: PutScheduledAction, now: float
) -> ScheduledAction:
    if request.schedule is None:
        raise errors.validation("Schedule must be specified when a scheduled action is created")
    if request.scalable_target_action is None:
        raise errors.validation("ScalableTargetAction must be specified when a scheduled action is created")
    own = target_id(resource.id, resource.dimension)
    if sum(1 for _ in SCHEDULED_ACTIONS.of_region(reader, place, beginning=own)) >= SCHEDULED_ACTIONS_MAX:
        raise errors.limit_exceeded(
            f"The number of scheduled actions exceeds the limit of {SCHEDULED_ACTIONS_MAX} for a scalable target"
        )
    return ScheduledAction(
        resource_id=resource.id,
        dimension=resource.dimension,
        name=request.scheduled_action_name,
        id=str(uuid.uuid4()),
        created_at=now,
        schedule=request.schedule,
        done_until=now,
    )


def _updated(before: ScheduledAction, request: PutScheduledAction, now: float) -> ScheduledAction:
    bounds = request.scalable_target_action
    return msgspec.structs.replace(
        before,
        schedule=before.schedule if request.schedule is None else request.schedule,
        timezone=before.timezone if request.timezone is None else request.timezone,
        # API_PutScheduledAction: "If you don't specify start and end times, the old values are deleted."
        start_at=request.start_time,
        end_at=request.end_time,
        least=before.least if bounds is None else bounds.min_capacity,
        most=before.most if bounds is None else bounds.max_capacity,
        done_until=now,
    )


def _check(action: ScheduledAction) -> None:
    if action.least is None and action.most is None:
        raise errors.validation("At least one of MinCapacity and MaxCapacity must be specified")
    targets.check_bounds(
        1 if action.least is None else action.least, 2**31 if action.most is None else action.most
    )
    if action.start_at is not None and action.end_at is not None and action.end_at <= action.start_at:
        raise errors.validation("End time must be after start time")
