"""DescribeScalingActivities: what auto scaling did in the last six weeks, the latest first."""

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
    NextToken,
    PageSize,
    ScalableDimension,
    ServiceNamespace,
)
from hashrange.storage.scaling_rows import ACTIVITIES, ACTIVITY_SECONDS, Activity, NotScaled
from hashrange.storage.setting_rows import Place


class DescribeScalingActivities(Request, kw_only=True):
    """The request."""

    service_namespace: ServiceNamespace
    resource_id: Id | None = None
    scalable_dimension: ScalableDimension | None = None
    max_results: PageSize | None = None
    next_token: NextToken | None = None
    include_not_scaled_activities: bool | None = None


SHAPE = Shape(DescribeScalingActivities)


class NotScaledReason(Response, kw_only=True):
    """Why an activity changed nothing."""

    code: str
    max_capacity: int | None = None
    min_capacity: int | None = None
    current_capacity: int | None = None


class ScalingActivity(Response, kw_only=True):
    """One activity."""

    activity_id: str
    service_namespace: str
    resource_id: str
    scalable_dimension: str
    description: str
    cause: str
    start_time: float
    end_time: float | None = None
    status_code: str
    status_message: str | None = None
    not_scaled_reasons: list[NotScaledReason] | None = None


class DescribeScalingActivitiesOutput(Response, kw_only=True):
    """The answer."""

    scaling_activities: list[ScalingActivity]
    next_token: str | None = None


def describe_scaling_activities(context: Context, request: DescribeScalingActivities) -> Plan:
    """Activities that changed nothing are told only to those who ask for them."""
    limit, now = request.max_results or SCALING_PAGE_MAX, context.clock.now()

    def fits(activity: Activity) -> bool:
        is_wanted = activity.not_scaled is None or request.include_not_scaled_activities is True
        return (
            is_wanted and pages.belongs(request, activity) and activity.started_at >= now - ACTIVITY_SECONDS
        )

    def answer(_: Place, shown: list[Activity], token: str | None) -> DescribeScalingActivitiesOutput:
        described = [_described(activity, now) for activity in shown]
        return DescribeScalingActivitiesOutput(scaling_activities=described, next_token=token)

    return pages.listed(context, ACTIVITIES, request.next_token, limit, answer, fits=fits, newest_first=True)


def _described(activity: Activity, now: float) -> ScalingActivity:
    is_over = activity.failure is not None or now >= activity.ended_at
    code, message = _outcome(activity, is_over=is_over)
    return ScalingActivity(
        activity_id=activity.id,
        service_namespace=NAMESPACE,
        resource_id=activity.resource_id,
        scalable_dimension=activity.dimension,
        description=activity.description,
        cause=activity.cause,
        start_time=timestamp(activity.started_at),
        end_time=timestamp(activity.ended_at) if is_over else None,
        status_code=code,
        status_message=message,
        not_scaled_reasons=None if activity.not_scaled is None else [_reason(activity.not_scaled)],
    )


def _reason(reason: NotScaled) -> NotScaledReason:
    return NotScaledReason(
        code=reason.code,
        max_capacity=reason.most,
        min_capacity=reason.least,
        current_capacity=reason.current,
    )


def _outcome(activity: Activity, *, is_over: bool) -> tuple[str, str | None]:
    if activity.not_scaled is not None:
        return "Failed", None
    if activity.failure is not None:
        return "Failed", activity.failure
    return ("Successful", activity.success) if is_over else ("InProgress", activity.progress)
