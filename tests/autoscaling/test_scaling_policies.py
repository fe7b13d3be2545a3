"""PutScalingPolicy, DescribeScalingPolicies, DeleteScalingPolicy."""

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

READ, WRITE = "dynamodb:table:ReadCapacityUnits", "dynamodb:table:WriteCapacityUnits"
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"


@pytest.fixture
def target(scaling: Any, table: str) -> Iterator[dict[str, str]]:
    target = {"ServiceNamespace": "dynamodb", "ResourceId": f"table/{table}", "ScalableDimension": READ}
    scaling.register_scalable_target(**target, MinCapacity=5, MaxCapacity=50)
    yield target
    scaling.deregister_scalable_target(**target)


def tracking(value: float = 70.0, metric: str = "DynamoDBReadCapacityUtilization", **more: Any) -> Any:
    return {"TargetValue": value, "PredefinedMetricSpecification": {"PredefinedMetricType": metric}, **more}


def put(scaling: Any, target: dict[str, str], configuration: Any, name: str = "policy", **more: Any) -> Any:
    return scaling.put_scaling_policy(
        **target,
        PolicyName=name,
        **{
            "PolicyType": "TargetTrackingScaling",
            "TargetTrackingScalingPolicyConfiguration": configuration,
            **more,
        },
    )


def refused(call: Any, *sent: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as failure:
        call(*sent, **request)
    error = failure.value.response["Error"]
    return error["Code"], error["Message"]


def policies(scaling: Any, target: dict[str, str], **more: Any) -> list[dict[str, Any]]:
    answer = scaling.describe_scaling_policies(
        ServiceNamespace="dynamodb", ResourceId=target["ResourceId"], **more
    )
    return list(answer["ScalingPolicies"])


@pytest.mark.parametrize(
    "configuration",
    [
        tracking(),
        tracking(50.5, ScaleInCooldown=60, ScaleOutCooldown=0, DisableScaleIn=True),
        tracking(10.0, DisableScaleIn=False),
        tracking(90.0),
    ],
)
def test_what_was_put_is_described(scaling: Any, target: dict[str, str], configuration: Any) -> None:
    answer = put(scaling, target, configuration, "DynamoDBReadCapacityUtilization:table/x")
    (shown,) = policies(scaling, target)
    assert shown["TargetTrackingScalingPolicyConfiguration"] == configuration
    assert (shown["PolicyARN"], shown["Alarms"]) == (answer["PolicyARN"], answer["Alarms"])
    assert shown["PolicyType"] == "TargetTrackingScaling"
    resource = target["ResourceId"]
    assert re.fullmatch(
        f"arn:aws:autoscaling:us-east-1:000000000000:scalingPolicy:{UUID}:resource/dynamodb/{resource}"
        ":policyName/DynamoDBReadCapacityUtilization:table/x",
        answer["PolicyARN"],
    )
    names = ("AlarmHigh", "AlarmLow", "ProvisionedCapacityHigh", "ProvisionedCapacityLow")
    for alarm, name in zip(answer["Alarms"], names, strict=True):
        assert re.fullmatch(f"TargetTracking-{resource}-{name}-{UUID}", alarm["AlarmName"])
        assert alarm["AlarmARN"] == f"arn:aws:cloudwatch:us-east-1:000000000000:alarm:{alarm['AlarmName']}"


def test_a_policy_is_changed_by_its_name(scaling: Any, target: dict[str, str]) -> None:
    first = put(scaling, target, tracking())
    second = put(scaling, target, tracking(40.0, ScaleInCooldown=5))
    assert first["PolicyARN"] == second["PolicyARN"]
    (shown,) = policies(scaling, target, PolicyNames=["policy"])
    assert shown["TargetTrackingScalingPolicyConfiguration"] == tracking(40.0, ScaleInCooldown=5)
    assert policies(scaling, target, PolicyNames=["other"]) == []
    assert refused(put, scaling, target, tracking(), "other") == (
        "ValidationException",
        "Only one TargetTrackingScaling policy for a given metric specification is allowed.",
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (90.1, "target value must be between '10.0' and '90.0', but was '90.1'."),
        (9.99, "target value must be between '10.0' and '90.0', but was '9.99'."),
        (1e20, "target value must be between '10.0' and '90.0', but was '1.0E20'."),
    ],
)
def test_targets_out_of_range(scaling: Any, target: dict[str, str], value: float, message: str) -> None:
    assert refused(put, scaling, target, tracking(value)) == (
        "ValidationException",
        f"For predefined metric type DynamoDBReadCapacityUtilization, {message}",
    )


@pytest.mark.parametrize("value", [0, -1.0])
def test_targets_that_are_none(scaling: Any, target: dict[str, str], value: float) -> None:
    assert refused(put, scaling, target, tracking(value)) == (
        "ValidationException",
        (
            "For target tracking scaling, target value must be between '8.51592E-109' and '1.174271E108', "
            f"but was '{float(value)}'."
        ),
    )


def test_a_target_of_another_type(scaling: Any, target: dict[str, str]) -> None:
    for value, shown in ((math.nan, "NaN"), (math.inf, "Infinity")):
        code, message = refused(put, scaling, target, tracking(value))
        assert (code, message.rpartition("but was ")[2]) == ("ValidationException", f"'{shown}'.")
    specification = tracking()["PredefinedMetricSpecification"]
    code, message = refused(put, scaling, target, {"PredefinedMetricSpecification": specification})
    assert code == "ValidationException"
    assert "'targetTrackingScalingPolicyConfiguration.targetValue' failed to satisfy" in message


def test_other_policies_are_refused(scaling: Any, target: dict[str, str]) -> None:
    assert refused(put, scaling, target, tracking(), PolicyType="Stepping") == (
        "ValidationException",
        (
            "1 validation error detected: Value 'Stepping' at 'policyType' failed to satisfy constraint: Member must "
            "satisfy enum value set: [PredictiveScaling, StepScaling, TargetTrackingScaling]"
        ),
    )
    for kind in ("StepScaling", "PredictiveScaling"):
        assert refused(put, scaling, target, tracking(), PolicyType=kind)[0] == "ValidationException"
    wrong = tracking(metric="DynamoDBWriteCapacityUtilization")
    assert refused(put, scaling, target, wrong)[0] == "ValidationException"
    own = {"TargetValue": 70.0, "CustomizedMetricSpecification": {"MetricName": "x", "Namespace": "y"}}
    assert refused(put, scaling, target, own)[0] == "ValidationException"
    bare = {**target, "PolicyName": "bare", "PolicyType": "TargetTrackingScaling"}
    assert refused(scaling.put_scaling_policy, **bare)[0] == "ValidationException"
    for name in ("", "a\u00e9", "a\x00", "x" * 257):
        assert refused(put, scaling, target, tracking(), name)[0] == "ValidationException"
    assert policies(scaling, target) == []


def test_a_policy_needs_a_target(scaling: Any, table: str) -> None:
    unknown = {"ServiceNamespace": "dynamodb", "ResourceId": f"table/{table}", "ScalableDimension": WRITE}
    configuration = tracking(metric="DynamoDBWriteCapacityUtilization")
    assert refused(put, scaling, unknown, configuration) == (
        "ObjectNotFoundException",
        (
            f"No scalable target registered for service namespace: dynamodb, resource ID: table/{table}, "
            f"scalable dimension: {WRITE}"
        ),
    )


def test_deleting(scaling: Any, target: dict[str, str]) -> None:
    put(scaling, target, tracking())
    scaling.delete_scaling_policy(**target, PolicyName="policy")
    assert policies(scaling, target) == []
    assert refused(scaling.delete_scaling_policy, **target, PolicyName="policy") == (
        "ObjectNotFoundException",
        (
            f"No scaling policy found for service namespace: dynamodb, resource ID: {target['ResourceId']}, "
            f"scalable dimension: {READ}, policy name: policy"
        ),
    )
