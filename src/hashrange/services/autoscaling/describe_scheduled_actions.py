"""DescribeScheduledActions: the scheduled actions of the region, by pages."""

from msgspec import field

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.scaling.resources import NAMESPACE
from hashrange.api.tables.description import timestamp
from hashrange.core.limits import SCALING_PAGE_MAX
from hashrange.services.autoscaling import pages
from hashrange.services.autoscaling.structures import (
    Id,
    Ids,
    NextToken,
    PageSize,
    ScalableDimension,
    ServiceNamespace,
)
from hashrange.storage.scaling_rows import SCHEDULED_ACTIONS, ScheduledAction
from hashrange.storage.setting_rows import Place


class DescribeScheduledActions(Request, kw_only=True):
    """The request."""

    scheduled_action_names: Ids | None = None
    service_namespace: ServiceNamespace
    resource_id: Id | None = None
    scalable_dimension: ScalableDimension | None = None
    max_results: PageSize | None = None
    next_token: NextToken | None = None


SHAPE = Shape(DescribeScheduledActions)


class BoundsDescription(Response, kw_only=True):
    """The bounds that an action sets."""

    min_capacity: int | None = None
    max_capacity: int | None = None


class ScheduledActionDescription(Response, kw_only=True):
    """One action."""

    scheduled_action_name: str
    scheduled_action_arn: str = field(name="ScheduledActionARN")
    service_namespace: str
    schedule: str
    timezone: str | None = None
    resource_id: str
    scalable_dimension: str
    start_time: float | None = None
    end_time: float | None = None
    scalable_target_action: BoundsDescription
    creation_time: float


class DescribeScheduledActionsOutput(Response, kw_only=True):
    """The answer."""

    scheduled_actions: list[ScheduledActionDescription]
    next_token: str | None = None


def describe_scheduled_actions(context: Context, request: DescribeScheduledActions) -> Plan:
    """What was put is what is shown."""
    limit = request.max_results or SCALING_PAGE_MAX
    names = frozenset(request.scheduled_action_names or ())

    def fits(action: ScheduledAction) -> bool:
        return pages.belongs(request, action) and (not names or action.name in names)

    def answer(
        place: Place, shown: list[ScheduledAction], token: str | None
    ) -> DescribeScheduledActionsOutput:
        described = [_described(place, action) for action in shown]
        return DescribeScheduledActionsOutput(scheduled_actions=described, next_token=token)

    return pages.listed(context, SCHEDULED_ACTIONS, request.next_token, limit, answer, fits=fits)


def _described(place: Place, action: ScheduledAction) -> ScheduledActionDescription:
    arn = (
        f"arn:aws:autoscaling:{place.region}:{place.account_id}:scheduledAction:{action.id}"
        f":resource/{NAMESPACE}/{action.resource_id}:scheduledActionName/{action.name}"
    )
    return ScheduledActionDescription(
        scheduled_action_name=action.name,
        scheduled_action_arn=arn,
        service_namespace=NAMESPACE,
        schedule=action.schedule,
        timezone=action.timezone,
        resource_id=action.resource_id,
        scalable_dimension=action.dimension,
        start_time=action.start_at,
        end_time=action.end_at,
        scalable_target_action=BoundsDescription(min_capacity=action.least, max_capacity=action.most),
        creation_time=timestamp(action.created_at),
    )
