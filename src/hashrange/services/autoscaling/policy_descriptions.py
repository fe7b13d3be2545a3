"""Policies as answers show them."""

from msgspec import field

from hashrange.api.cloudwatch import alarms as cloudwatch_alarms
from hashrange.api.protocol.structures import Response
from hashrange.api.scaling import policy_alarms
from hashrange.api.scaling.resources import NAMESPACE
from hashrange.api.tables.description import timestamp
from hashrange.services.autoscaling.structures import Alarm
from hashrange.storage.scaling_rows import ALARMS, Policy, TargetTracking
from hashrange.storage.setting_rows import Place


class PredefinedMetric(Response, kw_only=True):
    """A metric by its name."""

    predefined_metric_type: str
    resource_label: str | None = None


class TargetTrackingDescription(Response, kw_only=True):
    """What a policy follows: what was put is what is shown."""

    target_value: float
    predefined_metric_specification: PredefinedMetric
    scale_out_cooldown: int | None = None
    scale_in_cooldown: int | None = None
    disable_scale_in: bool | None = None


class ScalingPolicy(Response, kw_only=True):
    """One policy."""

    policy_arn: str = field(name="PolicyARN")
    policy_name: str
    service_namespace: str
    resource_id: str
    scalable_dimension: str
    policy_type: str
    target_tracking_scaling_policy_configuration: TargetTrackingDescription
    alarms: list[Alarm]
    creation_time: float


def described(place: Place, policy: Policy) -> ScalingPolicy:
    """All of a policy."""
    return ScalingPolicy(
        policy_arn=policy_alarms.policy_arn(place, policy),
        policy_name=policy.name,
        service_namespace=NAMESPACE,
        resource_id=policy.resource_id,
        scalable_dimension=policy.dimension,
        policy_type="TargetTrackingScaling",
        target_tracking_scaling_policy_configuration=_tracking(policy.tracking),
        alarms=alarms(place, policy),
        creation_time=timestamp(policy.created_at),
    )


def _tracking(tracking: TargetTracking) -> TargetTrackingDescription:
    metric = PredefinedMetric(
        predefined_metric_type=tracking.metric_type, resource_label=tracking.resource_label
    )
    return TargetTrackingDescription(
        target_value=tracking.target_value,
        predefined_metric_specification=metric,
        scale_out_cooldown=tracking.scale_out_cooldown,
        scale_in_cooldown=tracking.scale_in_cooldown,
        disable_scale_in=tracking.disable_scale_in,
    )


def alarms(place: Place, policy: Policy) -> list[Alarm]:
    """The alarms that a policy goes by."""
    names = [policy_alarms.alarm_name(policy, kind) for kind in ALARMS]
    return [Alarm(alarm_name=name, alarm_arn=cloudwatch_alarms.arn(place, name)) for name in names]
