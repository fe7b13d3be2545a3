"""The table of the operations of Application Auto Scaling, as api/registry.py has it for DynamoDB."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from hashrange.api.protocol.operation import Operation, Service
from hashrange.api.registry import Resources
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


def _nothing(_: Any) -> Iterable[str]:
    return ()


def _arn(request: Any) -> Iterable[str]:
    return (request.resource_arn,)


_ROWS: tuple[tuple[str, ModuleType, Resources], ...] = (
    ("DeleteScalingPolicy", delete_scaling_policy, _nothing),
    ("DeleteScheduledAction", delete_scheduled_action, _nothing),
    ("DeregisterScalableTarget", deregister_scalable_target, _nothing),
    ("DescribeScalableTargets", describe_scalable_targets, _nothing),
    ("DescribeScalingActivities", describe_scaling_activities, _nothing),
    ("DescribeScalingPolicies", describe_scaling_policies, _nothing),
    ("DescribeScheduledActions", describe_scheduled_actions, _nothing),
    ("ListTagsForResource", list_tags_for_resource, _arn),
    ("PutScalingPolicy", put_scaling_policy, _nothing),
    ("PutScheduledAction", put_scheduled_action, _nothing),
    ("RegisterScalableTarget", register_scalable_target, _nothing),
    ("TagResource", tag_resource, _arn),
    ("UntagResource", untag_resource, _arn),
)


def _operation(name: str, module: ModuleType, resources: Resources) -> Operation[Any]:
    handler = getattr(module, module.__name__.rpartition(".")[2])
    action = f"application-autoscaling:{name}"
    return Operation(name, module.SHAPE, handler, kind="control", resources=resources, action=action)


AUTO_SCALING = Service(
    "application-autoscaling",
    "AnyScaleFrontendService.",
    "",
    {row[0]: _operation(*row) for row in _ROWS},
)
