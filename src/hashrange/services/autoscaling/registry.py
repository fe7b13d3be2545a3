"""The table of the operations of Application Auto Scaling, as api/registry.py has it for DynamoDB."""

from types import ModuleType

from hashrange.api.protocol.operation import Service
from hashrange.api.registry import Resources, control_operations, no_resource, resource_arn
from hashrange.services.autoscaling import (
    delete_scaling_policy,
    delete_scheduled_action,
    deregister_scalable_target,
    describe_scalable_targets,
    describe_scaling_activities,
    describe_scaling_policies,
    describe_scheduled_actions,
    list_tags_for_resource,
    put_scaling_policy,
    put_scheduled_action,
    register_scalable_target,
    tag_resource,
    untag_resource,
)

_ROWS: tuple[tuple[str, ModuleType, Resources], ...] = (
    ("DeleteScalingPolicy", delete_scaling_policy, no_resource),
    ("DeleteScheduledAction", delete_scheduled_action, no_resource),
    ("DeregisterScalableTarget", deregister_scalable_target, no_resource),
    ("DescribeScalableTargets", describe_scalable_targets, no_resource),
    ("DescribeScalingActivities", describe_scaling_activities, no_resource),
    ("DescribeScalingPolicies", describe_scaling_policies, no_resource),
    ("DescribeScheduledActions", describe_scheduled_actions, no_resource),
    ("ListTagsForResource", list_tags_for_resource, resource_arn),
    ("PutScalingPolicy", put_scaling_policy, no_resource),
    ("PutScheduledAction", put_scheduled_action, no_resource),
    ("RegisterScalableTarget", register_scalable_target, no_resource),
    ("TagResource", tag_resource, resource_arn),
    ("UntagResource", untag_resource, resource_arn),
)


AUTO_SCALING = Service(
    "application-autoscaling",
    "AnyScaleFrontendService.",
    "",
    control_operations("application-autoscaling", _ROWS),
    "application-autoscaling",
)
