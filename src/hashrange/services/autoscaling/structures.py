"""Structures that the operations of Application Auto Scaling share."""

from typing import Annotated, Literal

from msgspec import Meta, field

from hashrange.api.protocol import kinds
from hashrange.api.protocol.kinds import JavaPattern
from hashrange.api.protocol.structures import Response, Structure
from hashrange.core.limits import SCALING_PAGE_MAX

# Only the first is served here; the others are names that requests may have.
ServiceNamespace = Literal[
    "dynamodb",
    "ecs",
    "elasticmapreduce",
    "ec2",
    "appstream",
    "rds",
    "sagemaker",
    "custom-resource",
    "comprehend",
    "lambda",
    "cassandra",
    "kafka",
    "elasticache",
    "neptune",
    "workspaces",
]
ScalableDimension = Literal[
    "dynamodb:table:ReadCapacityUnits",
    "dynamodb:table:WriteCapacityUnits",
    "dynamodb:index:ReadCapacityUnits",
    "dynamodb:index:WriteCapacityUnits",
    "ecs:service:DesiredCount",
    "ec2:spot-fleet-request:TargetCapacity",
    "elasticmapreduce:instancegroup:InstanceCount",
    "appstream:fleet:DesiredCapacity",
    "rds:cluster:ReadReplicaCount",
    "sagemaker:variant:DesiredInstanceCount",
    "custom-resource:ResourceType:Property",
    "comprehend:document-classifier-endpoint:DesiredInferenceUnits",
    "comprehend:entity-recognizer-endpoint:DesiredInferenceUnits",
    "lambda:function:ProvisionedConcurrency",
    "cassandra:table:ReadCapacityUnits",
    "cassandra:table:WriteCapacityUnits",
    "kafka:broker-storage:VolumeSize",
    "elasticache:cache-cluster:Nodes",
    "elasticache:replication-group:NodeGroups",
    "elasticache:replication-group:Replicas",
    "neptune:cluster:ReadReplicaCount",
    "sagemaker:variant:DesiredProvisionedConcurrency",
    "sagemaker:inference-component:DesiredCopyCount",
    "workspaces:workspacespool:DesiredUserSessions",
]
PolicyType = Literal["PredictiveScaling", "StepScaling", "TargetTrackingScaling"]

_XML = (
    r"[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\r\n\t]*",
    "[\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff\r\n\t]*",
)
_ID_CHARS_MAX = 1600
_TOKEN_CHARS_MAX = 8192
_ARN = r"arn:.+:application-autoscaling:.+:[0-9]+:scalable-target/[a-zA-Z0-9-]+"

Id = Annotated[
    str,
    Meta(min_length=1, max_length=_ID_CHARS_MAX, pattern=rf"\A{_XML[1]}\Z"),
    kinds.Text(least=1, most=_ID_CHARS_MAX, pattern=JavaPattern(*_XML)),
]
Ids = Annotated[list[Id], Meta(max_length=50)]
_ACTION_NAME = (
    r"(?!((^[ ]+.*)|(.*([\u0000-\u001f]|[\u007f-\u009f]|[:/|])+.*)|(.*[ ]+$))).+",
    "(?! )[^\x00-\x1f\x7f-\x9f:/|\ud800-\udfff]+(?<! )",
)
ActionName = Annotated[
    str,
    Meta(min_length=1, max_length=256, pattern=rf"\A{_ACTION_NAME[1]}\Z"),
    kinds.Text(least=1, most=256, pattern=JavaPattern(*_ACTION_NAME)),
]
TargetArn = Annotated[
    str,
    Meta(min_length=1, max_length=1011, pattern=rf"\A{_ARN}\Z"),
    kinds.Text(least=1, most=1011, pattern=kinds.compiled(_ARN)),
]
PageSize = Annotated[int, Meta(ge=1, le=SCALING_PAGE_MAX)]
NextToken = Annotated[
    str,
    Meta(max_length=_TOKEN_CHARS_MAX, pattern=rf"\A{_XML[1]}\Z"),
    kinds.Text(most=_TOKEN_CHARS_MAX, pattern=JavaPattern(*_XML)),
]
Capacity = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Seconds = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Timestamp = Annotated[float, kinds.Timestamp()]


class SuspendedState(Structure, kw_only=True):
    """What a target does not do for the time being."""

    dynamic_scaling_in_suspended: bool | None = None
    dynamic_scaling_out_suspended: bool | None = None
    scheduled_scaling_suspended: bool | None = None


class ScalableTargetAction(Structure, kw_only=True):
    """The bounds that a scheduled action sets."""

    min_capacity: Capacity | None = None
    max_capacity: Capacity | None = None


class Alarm(Response, kw_only=True):
    """An alarm of a policy."""

    alarm_name: str
    alarm_arn: str = field(name="AlarmARN")


class Nothing(Response, kw_only=True):
    """An answer without members."""
