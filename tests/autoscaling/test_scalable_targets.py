"""RegisterScalableTarget, DescribeScalableTargets, DeregisterScalableTarget and the tags of targets."""

import re
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from hashrange.services.autoscaling import pages

READ, WRITE = "dynamodb:table:ReadCapacityUnits", "dynamodb:table:WriteCapacityUnits"
INDEX_READ = "dynamodb:index:ReadCapacityUnits"


def target(resource: str, dimension: str = READ) -> dict[str, str]:
    return {"ServiceNamespace": "dynamodb", "ResourceId": resource, "ScalableDimension": dimension}


def refused(call: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as failure:
        call(**request)
    error = failure.value.response["Error"]
    return error["Code"], error["Message"]


def described(scaling: Any, *resources: str, **more: Any) -> list[dict[str, Any]]:
    answer = scaling.describe_scalable_targets(
        ServiceNamespace="dynamodb", ResourceIds=list(resources), **more
    )
    return list(answer["ScalableTargets"])


def test_what_was_registered_is_described(scaling: Any, table: str) -> None:
    resource = f"table/{table}"
    answer = scaling.register_scalable_target(**target(resource), MinCapacity=5, MaxCapacity=50)
    arn = answer["ScalableTargetARN"]
    assert re.fullmatch(
        r"arn:aws:application-autoscaling:us-east-1:000000000000:scalable-target/[0-9a-f]{32}", arn
    )
    (shown,) = described(scaling, resource, ScalableDimension=READ)
    created = shown.pop("CreationTime")
    assert shown == {
        **target(resource),
        "MinCapacity": 5,
        "MaxCapacity": 50,
        "RoleARN": "arn:aws:iam::000000000000:role/aws-service-role/"
        "dynamodb.application-autoscaling.amazonaws.com/AWSServiceRoleForApplicationAutoScaling_DynamoDBTable",
        "SuspendedState": {
            "DynamicScalingInSuspended": False,
            "DynamicScalingOutSuspended": False,
            "ScheduledScalingSuspended": False,
        },
        "ScalableTargetARN": arn,
    }
    again = scaling.register_scalable_target(
        **target(resource), MaxCapacity=60, SuspendedState={"DynamicScalingInSuspended": True}
    )
    assert again["ScalableTargetARN"] == arn
    (shown,) = described(scaling, resource, ScalableDimension=READ)
    assert (shown["MinCapacity"], shown["MaxCapacity"], shown["CreationTime"]) == (5, 60, created)
    assert shown["SuspendedState"]["DynamicScalingInSuspended"] is True
    scaling.deregister_scalable_target(**target(resource))
    assert described(scaling, resource, ScalableDimension=READ) == []


def test_an_index_is_a_target_of_its_own(scaling: Any, table: str) -> None:
    resource = f"table/{table}/index/glo"
    scaling.register_scalable_target(**target(resource, INDEX_READ), MinCapacity=5, MaxCapacity=50)
    (shown,) = described(scaling, resource)
    assert shown["ScalableDimension"] == INDEX_READ
    scaling.deregister_scalable_target(**target(resource, INDEX_READ))


def test_what_there_is_not_cannot_be_registered(scaling: Any, table: str) -> None:
    bounds = {"MinCapacity": 1, "MaxCapacity": 2}
    register = scaling.register_scalable_target
    assert refused(register, **target("table/nowhere"), **bounds) == (
        "ValidationException",
        "DynamoDB table does not exist: table/nowhere",
    )
    for name in ("nix", "loc"):
        resource = f"table/{table}/index/{name}"
        assert refused(register, **target(resource, INDEX_READ), **bounds) == (
            "ValidationException",
            f"DynamoDB index does not exist: {resource}",
        )


@pytest.mark.parametrize(
    ("namespace", "resource", "dimension"),
    [
        ("dynamodb", "dynamo/tab", READ),
        ("dynamodb", "table/tab/index/glo", READ),
        ("dynamodb", "table/tab", INDEX_READ),
        ("dynamodb", "table/t", READ),
        ("dynamodb", "table/tab", "ecs:service:DesiredCount"),
        ("ecs", "table/tab", READ),
        ("dynamodb", "table/tab/", READ),
        ("dynamodb", "tab\u00e9", READ),
    ],
)
def test_unsupported_resources(scaling: Any, namespace: str, resource: str, dimension: str) -> None:
    request = {"ServiceNamespace": namespace, "ResourceId": resource, "ScalableDimension": dimension}
    assert refused(scaling.register_scalable_target, **request, MinCapacity=1, MaxCapacity=2) == (
        "ValidationException",
        "Unsupported service namespace, resource type or scalable dimension",
    )


def test_bounds(scaling: Any, table: str) -> None:
    register, resource = scaling.register_scalable_target, f"table/{table}"
    assert refused(register, **target(resource, WRITE), MinCapacity=3, MaxCapacity=2) == (
        "ValidationException",
        "Maximum capacity cannot be less than minimum capacity",
    )
    assert refused(register, **target(resource, WRITE), MinCapacity=3)[0] == "ValidationException"
    assert (
        refused(register, **target(resource, WRITE), MinCapacity=0, MaxCapacity=2)[0] == "ValidationException"
    )
    assert described(scaling, resource, ScalableDimension=WRITE) == []


def test_constraints_are_reported_as_by_the_service(scaling: Any) -> None:
    code, message = refused(
        scaling.register_scalable_target,
        ServiceNamespace="nosql",
        ResourceId="",
        ScalableDimension=READ,
        MinCapacity=1,
        MaxCapacity=1,
    )
    assert code == "ValidationException"
    assert message.startswith(
        "2 validation errors detected: Value 'nosql' at 'serviceNamespace' failed to satisfy constraint: Member must "
        "satisfy enum value set: ["
    )
    assert message.endswith(
        "Value '' at 'resourceId' failed to satisfy constraint: Member must have length greater than or equal to 1"
    )
    assert refused(scaling.describe_scalable_targets) == (
        "ValidationException",
        (
            "1 validation error detected: Value null at 'serviceNamespace' failed to satisfy constraint: Member must "
            "not be null"
        ),
    )


def test_an_error_has_a_bare_type_and_a_capital_message(raw: Any) -> None:
    headers = {
        "Content-Type": "application/x-amz-json-1.1",
        "X-Amz-Target": "AnyScaleFrontendService.DeregisterScalableTarget",
    }
    status, _, body = raw("", target("table/nowhere"), headers=headers)
    assert status == 400
    assert body == {
        "__type": "ObjectNotFoundException",
        "Message": "No scalable target found for service namespace: dynamodb, resource ID: table/nowhere, "
        f"scalable dimension: {READ}",
    }


def test_pages(region_scaling: Any, make_client: Any) -> None:
    region = region_scaling.meta.region_name
    dynamodb = make_client(region=region)
    for number in range(4):
        dynamodb.create_table(
            TableName=f"tab{number}",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        )
        region_scaling.register_scalable_target(**target(f"table/tab{number}"), MinCapacity=1, MaxCapacity=1)
    pages = region_scaling.get_paginator("describe_scalable_targets").paginate(
        ServiceNamespace="dynamodb", PaginationConfig={"PageSize": 3}
    )
    names = [[shown["ResourceId"] for shown in page["ScalableTargets"]] for page in pages]
    assert names == [["table/tab0", "table/tab1", "table/tab2"], ["table/tab3"]]
    for token in ("%%", "zzz\u00e9", "AAA"):
        code, _ = refused(
            region_scaling.describe_scalable_targets, ServiceNamespace="dynamodb", NextToken=token
        )
        assert code == "InvalidNextTokenException"
    for size in (0, 51):
        code, _ = refused(
            region_scaling.describe_scalable_targets, ServiceNamespace="dynamodb", MaxResults=size
        )
        assert code == "ValidationException"
    other = region_scaling.describe_scalable_targets(ServiceNamespace="ecs")
    assert other["ScalableTargets"] == []


def test_tags(scaling: Any, table: str) -> None:
    resource = f"table/{table}"
    arn = scaling.register_scalable_target(
        **target(resource, WRITE), MinCapacity=1, MaxCapacity=5, Tags={"team": "blue"}
    )["ScalableTargetARN"]
    scaling.tag_resource(ResourceARN=arn, Tags={"cost": "1", "team": "red"})
    assert scaling.list_tags_for_resource(ResourceARN=arn)["Tags"] == {"team": "red", "cost": "1"}
    scaling.untag_resource(ResourceARN=arn, TagKeys=["team", "none"])
    assert scaling.list_tags_for_resource(ResourceARN=arn)["Tags"] == {"cost": "1"}
    many = {f"key{number}": "" for number in range(50)}
    assert refused(scaling.tag_resource, ResourceARN=arn, Tags=many)[0] == "TooManyTagsException"
    scaling.tag_resource(ResourceARN=arn, Tags=dict(list(many.items())[:49]))
    unknown = arn[:-4] + "0000"
    assert refused(scaling.list_tags_for_resource, ResourceARN=unknown)[0] == "ResourceNotFoundException"
    assert refused(scaling.list_tags_for_resource, ResourceARN="arn:x")[0] == "ValidationException"
    scaling.deregister_scalable_target(**target(resource, WRITE))


def test_deregistering_takes_policies_and_actions_along(scaling: Any, table: str) -> None:
    resource = f"table/{table}"
    scaling.register_scalable_target(**target(resource, WRITE), MinCapacity=1, MaxCapacity=5)
    scaling.put_scheduled_action(
        **target(resource, WRITE),
        ScheduledActionName=uuid4().hex,
        Schedule="rate(1 day)",
        ScalableTargetAction={"MinCapacity": 2},
    )
    scaling.deregister_scalable_target(**target(resource, WRITE))
    actions = scaling.describe_scheduled_actions(ServiceNamespace="dynamodb", ResourceId=resource)
    assert actions["ScheduledActions"] == []
    assert (
        refused(scaling.deregister_scalable_target, **target(resource, WRITE))[0] == "ObjectNotFoundException"
    )


def test_a_page_of_few_among_many_may_be_short() -> None:
    rows = ((f"{number:05d}", number) for number in range(2500))
    found, token = pages.page(rows, lambda number: number in (3, 2400), 10)
    assert (found, pages.start_of(token)) == ([3], "00999")
    rest = ((f"{number:05d}", number) for number in range(2000, 2500))
    assert pages.page(rest, lambda number: number == 2400, 10) == ([2400], None)
