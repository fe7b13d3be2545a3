"""PutScalingPolicy: follow a target of utilisation."""

from typing import Literal

from msgspec import field

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, Structure
from hashrange.api.scaling import policies, policy_alarms, resources, targets
from hashrange.api.scaling.settings import PolicyName
from hashrange.services.autoscaling.changes import change
from hashrange.services.autoscaling.policy_descriptions import alarms
from hashrange.services.autoscaling.structures import (
    Alarm,
    Id,
    PolicyType,
    ScalableDimension,
    Seconds,
    ServiceNamespace,
)
from hashrange.storage.engine import Transaction
from hashrange.storage.scaling_rows import TargetTracking

MetricType = Literal[
    "DynamoDBReadCapacityUtilization",
    "DynamoDBWriteCapacityUtilization",
    "ALBRequestCountPerTarget",
    "RDSReaderAverageCPUUtilization",
    "RDSReaderAverageDatabaseConnections",
    "EC2SpotFleetRequestAverageCPUUtilization",
    "EC2SpotFleetRequestAverageNetworkIn",
    "EC2SpotFleetRequestAverageNetworkOut",
    "SageMakerVariantInvocationsPerInstance",
    "ECSServiceAverageCPUUtilization",
    "ECSServiceAverageMemoryUtilization",
    "AppStreamAverageCapacityUtilization",
    "ComprehendInferenceUtilization",
    "LambdaProvisionedConcurrencyUtilization",
    "CassandraReadCapacityUtilization",
    "CassandraWriteCapacityUtilization",
    "KafkaBrokerStorageUtilization",
    "ElastiCacheEngineCPUUtilization",
    "ElastiCacheDatabaseMemoryUsagePercentage",
    "ElastiCachePrimaryEngineCPUUtilization",
    "ElastiCacheReplicaEngineCPUUtilization",
    "ElastiCacheDatabaseMemoryUsageCountedForEvictPercentage",
    "NeptuneReaderAverageCPUUtilization",
    "SageMakerVariantProvisionedConcurrencyUtilization",
    "ElastiCacheDatabaseCapacityUsageCountedForEvictPercentage",
    "SageMakerInferenceComponentInvocationsPerCopy",
    "WorkSpacesAverageUserSessionsCapacityUtilization",
    "SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution",
    "SageMakerVariantConcurrentRequestsPerModelHighResolution",
]


class PredefinedMetricSpecification(Structure, kw_only=True):
    """A metric by its name."""

    predefined_metric_type: MetricType
    resource_label: str | None = None


class CustomizedMetricSpecification(Structure, kw_only=True):
    """A metric of one's own, which is refused: its members do not matter."""


class TargetTrackingScalingPolicyConfiguration(Structure, kw_only=True):
    """What a policy follows, and how."""

    target_value: float
    predefined_metric_specification: PredefinedMetricSpecification | None = None
    customized_metric_specification: CustomizedMetricSpecification | None = None
    scale_out_cooldown: Seconds | None = None
    scale_in_cooldown: Seconds | None = None
    disable_scale_in: bool | None = None


class PutScalingPolicy(Request, kw_only=True):
    """The request."""

    policy_name: PolicyName
    service_namespace: ServiceNamespace
    resource_id: Id
    scalable_dimension: ScalableDimension
    policy_type: PolicyType | None = None
    target_tracking_scaling_policy_configuration: TargetTrackingScalingPolicyConfiguration | None = None


SHAPE = Shape(PutScalingPolicy)


class PutScalingPolicyOutput(Response, kw_only=True):
    """The answer."""

    policy_arn: str = field(name="PolicyARN")
    alarms: list[Alarm]


def put_scaling_policy(context: Context, request: PutScalingPolicy) -> Plan:
    """DynamoDB's capacity is scaled by target tracking alone."""
    resource = resources.parse(request.service_namespace, request.resource_id, request.scalable_dimension)
    tracking = _tracking(request)
    policies.check(resource, tracking)
    place, now = resources.place_of(context), context.clock.now()

    def edit(tx: Transaction) -> PutScalingPolicyOutput:
        targets.registered(tx, place, resource)
        policy = policies.put(tx, place, resource, request.policy_name, tracking, now)
        return PutScalingPolicyOutput(
            policy_arn=policy_alarms.policy_arn(place, policy), alarms=alarms(place, policy)
        )

    return change(context, resource, edit)


def _tracking(request: PutScalingPolicy) -> TargetTracking:
    configuration = request.target_tracking_scaling_policy_configuration
    if request.policy_type in ("StepScaling", "PredictiveScaling"):
        raise errors.validation(
            f"Policy type {request.policy_type} is not supported for service namespace dynamodb"
        )
    if configuration is None:
        raise errors.validation(
            "TargetTrackingScalingPolicyConfiguration must be specified for policy type TargetTrackingScaling"
        )
    metric = configuration.predefined_metric_specification
    if configuration.customized_metric_specification is not None or metric is None:
        raise errors.validation("Exactly one predefined metric must be specified")
    return TargetTracking(
        target_value=configuration.target_value,
        metric_type=metric.predefined_metric_type,
        resource_label=metric.resource_label,
        scale_out_cooldown=configuration.scale_out_cooldown,
        scale_in_cooldown=configuration.scale_in_cooldown,
        disable_scale_in=configuration.disable_scale_in,
    )
