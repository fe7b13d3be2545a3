"""PutScheduledAction, DescribeScheduledActions, DeleteScheduledAction."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

READ = "dynamodb:table:ReadCapacityUnits"
BOUNDS = {"MinCapacity": 5, "MaxCapacity": 10}


@pytest.fixture
def target(scaling: Any, table: str) -> Iterator[dict[str, str]]:
    target = {"ServiceNamespace": "dynamodb", "ResourceId": f"table/{table}", "ScalableDimension": READ}
    scaling.register_scalable_target(**target, MinCapacity=5, MaxCapacity=50)
    yield target
    scaling.deregister_scalable_target(**target)


def refused(call: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as failure:
        call(**request)
    error = failure.value.response["Error"]
    return error["Code"], error["Message"]


def shown(scaling: Any, target: dict[str, str], **more: Any) -> list[dict[str, Any]]:
    answer = scaling.describe_scheduled_actions(
        ServiceNamespace="dynamodb", ResourceId=target["ResourceId"], **more
    )
    return list(answer["ScheduledActions"])


@pytest.mark.parametrize(
    "action",
    [
        {"Schedule": "cron(0 18 * * ? *)", "ScalableTargetAction": BOUNDS},
        {
            "Schedule": "at(2030-01-01T00:00:00)",
            "Timezone": "America/New_York",
            "ScalableTargetAction": {"MaxCapacity": 7},
        },
        {
            "Schedule": "rate(5 minutes)",
            "StartTime": datetime(2030, 1, 1, tzinfo=UTC),
            "EndTime": datetime(2031, 1, 1, 12, 30, tzinfo=UTC),
            "ScalableTargetAction": {"MinCapacity": 7},
        },
    ],
)
def test_what_was_put_is_described(scaling: Any, target: dict[str, str], action: Any) -> None:
    assert "Alarms" not in scaling.put_scheduled_action(**target, ScheduledActionName="night", **action)
    (described,) = shown(scaling, target)
    described.pop("CreationTime")
    arn = described.pop("ScheduledActionARN")
    assert described == {**target, "ScheduledActionName": "night", **action}
    assert re.fullmatch(
        "arn:aws:autoscaling:us-east-1:000000000000:scheduledAction:[0-9a-f-]{36}:resource/dynamodb/"
        f"{target['ResourceId']}:scheduledActionName/night",
        arn,
    )


def test_a_change_leaves_the_rest_as_it_was(scaling: Any, target: dict[str, str]) -> None:
    put = scaling.put_scheduled_action
    put(**target, ScheduledActionName="night", Schedule="rate(1 hour)", ScalableTargetAction=BOUNDS)
    put(**target, ScheduledActionName="night", Schedule="rate(2 hours)")
    put(**target, ScheduledActionName="night", ScalableTargetAction={"MinCapacity": 9})
    (described,) = shown(scaling, target, ScheduledActionNames=["night"])
    assert (described["Schedule"], described["ScalableTargetAction"]) == ("rate(2 hours)", {"MinCapacity": 9})
    assert shown(scaling, target, ScheduledActionNames=["day"]) == []


def test_a_change_without_start_and_end_removes_them(scaling: Any, target: dict[str, str]) -> None:
    put = scaling.put_scheduled_action
    night = {"ScheduledActionName": "night", "Schedule": "rate(1 hour)"}
    times = {"StartTime": datetime(2030, 1, 1, tzinfo=UTC), "EndTime": datetime(2031, 1, 1, tzinfo=UTC)}
    put(**target, **night, ScalableTargetAction=BOUNDS, **times)
    put(**target, **night, StartTime=datetime(2032, 1, 1, tzinfo=UTC))
    (described,) = shown(scaling, target)
    assert described["StartTime"] == datetime(2032, 1, 1, tzinfo=UTC)
    assert "EndTime" not in described
    put(**target, **night)
    (described,) = shown(scaling, target)
    assert described.keys().isdisjoint({"StartTime", "EndTime"})
    assert described["ScalableTargetAction"] == BOUNDS


@pytest.mark.parametrize(
    "wrong",
    [
        {"Schedule": "cron(0 18 * * *)"},
        {"Schedule": "rate(1 hours)"},
        {"Schedule": "at(tomorrow)"},
        {"Schedule": None},
        {"Timezone": "Mars/Olympus"},
        {"Timezone": "../../etc/passwd"},
        {"ScalableTargetAction": None},
        {"ScalableTargetAction": {}},
        {"ScalableTargetAction": {"MinCapacity": 5, "MaxCapacity": 4}},
        {"ScalableTargetAction": {"MinCapacity": 0}},
        {"StartTime": 2_000_000_000, "EndTime": 1_999_999_999},
        {"ScheduledActionName": "a:b"},
        {"ScheduledActionName": "a/b"},
        {"ScheduledActionName": "a|b"},
        {"ScheduledActionName": " a"},
        {"ScheduledActionName": "a "},
        {"ScheduledActionName": "a\nb"},
        {"ScheduledActionName": "x" * 257},
    ],
)
def test_what_is_wrong_is_refused(scaling: Any, target: dict[str, str], wrong: Any) -> None:
    good = {"ScheduledActionName": "night", "Schedule": "rate(1 hour)", "ScalableTargetAction": BOUNDS}
    sent = {name: value for name, value in {**good, **wrong}.items() if value is not None}
    assert refused(scaling.put_scheduled_action, **target, **sent)[0] == "ValidationException"
    assert shown(scaling, target) == []


def test_a_name_may_have_blanks_inside_and_any_letters(scaling: Any, target: dict[str, str]) -> None:
    for name in ("a b", "\u00e9\u00e8", "x" * 256):
        scaling.put_scheduled_action(
            **target, ScheduledActionName=name, Schedule="rate(1 hour)", ScalableTargetAction=BOUNDS
        )
    assert len(shown(scaling, target)) == 3


def test_an_action_needs_a_target(scaling: Any) -> None:
    unknown = {"ServiceNamespace": "dynamodb", "ResourceId": "table/nowhere", "ScalableDimension": READ}
    code, message = refused(
        scaling.put_scheduled_action,
        **unknown,
        ScheduledActionName="night",
        Schedule="rate(1 hour)",
        ScalableTargetAction=BOUNDS,
    )
    assert (code, message.partition(" for ")[0]) == (
        "ObjectNotFoundException",
        "No scalable target registered",
    )


def test_two_hundred_are_the_most(scaling: Any, target: dict[str, str]) -> None:
    for number in range(200):
        scaling.put_scheduled_action(
            **target, ScheduledActionName=f"n{number}", Schedule="rate(1 day)", ScalableTargetAction=BOUNDS
        )
    request = {"ScheduledActionName": "more", "Schedule": "rate(1 day)", "ScalableTargetAction": BOUNDS}
    assert refused(scaling.put_scheduled_action, **target, **request)[0] == "LimitExceededException"
    pages = scaling.get_paginator("describe_scheduled_actions").paginate(
        ServiceNamespace="dynamodb", ResourceId=target["ResourceId"]
    )
    assert [len(page["ScheduledActions"]) for page in pages] == [50, 50, 50, 50]


def test_deleting(scaling: Any, target: dict[str, str]) -> None:
    scaling.put_scheduled_action(
        **target, ScheduledActionName="night", Schedule="rate(1 hour)", ScalableTargetAction=BOUNDS
    )
    scaling.delete_scheduled_action(**target, ScheduledActionName="night")
    assert shown(scaling, target) == []
    code, _ = refused(scaling.delete_scheduled_action, **target, ScheduledActionName="night")
    assert code == "ObjectNotFoundException"
