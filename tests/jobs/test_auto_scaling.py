"""Auto scaling in simulated time: what the job makes of targets, policies, schedules and consumption."""

import math
from typing import Any

import pytest

from clocked import MIDNIGHT, Clocked
from hashrange.jobs.auto_scaling import ScaleCapacity
from item_tables import index
from new_tables import request as new_table

pytestmark = pytest.mark.slow

READ, WRITE = "dynamodb:table:ReadCapacityUnits", "dynamodb:table:WriteCapacityUnits"
INDEX_WRITE = "dynamodb:index:WriteCapacityUnits"
HOUR = 3600


def target(dimension: str = READ, resource: str = "table/tab") -> dict[str, Any]:
    return {"ServiceNamespace": "dynamodb", "ResourceId": resource, "ScalableDimension": dimension}


@pytest.fixture
def service() -> Clocked:
    service = Clocked()
    units = {"ReadCapacityUnits": 100, "WriteCapacityUnits": 100}
    options: dict[str, Any] = {
        "types": {"g": "S"},
        "GlobalSecondaryIndexes": [{**index("glo", "g"), "ProvisionedThroughput": units}],
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": units,
    }
    service.call("CreateTable", **new_table("pk", TableName="tab", **options))
    service.settle()
    return service


def register(service: Clocked, dimension: str = READ, resource: str = "table/tab", **bounds: int) -> None:
    sent = {"MinCapacity": 5, "MaxCapacity": 1000, **bounds}
    service.call("RegisterScalableTarget", **target(dimension, resource), **sent)
    service.settle()


def follow(service: Clocked, dimension: str = READ, resource: str = "table/tab", **more: Any) -> None:
    access = "Read" if "Read" in dimension else "Write"
    service.call(
        "PutScalingPolicy",
        **target(dimension, resource),
        PolicyName="seventy",
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration={
            "TargetValue": 70.0,
            "PredefinedMetricSpecification": {"PredefinedMetricType": f"DynamoDB{access}CapacityUtilization"},
            **more,
        },
    )


def capacity(service: Clocked, name: str | None = None) -> tuple[int, int]:
    """What is or is about to be provisioned."""
    table = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert table is not None
    units = table.throughput if name is None else table.index_by_name[name].throughput
    return units.read_units, units.write_units


def activities(service: Clocked) -> list[dict[str, Any]]:
    answer = service.call("DescribeScalingActivities", ServiceNamespace="dynamodb")
    return list(answer["ScalingActivities"])


def pass_minutes(service: Clocked, minutes: int) -> None:
    for _ in range(minutes):
        service.clock.advance(60)
        service.scaling.step(service.clock.now())
        for _ in range(10):
            if service.scaling.step(service.clock.now()) > 0.5:
                break
        service.settling.step(service.clock.now())


def test_a_capacity_below_a_new_minimum_is_raised_to_it(service: Clocked) -> None:
    register(service, MinCapacity=120)
    service.settle()
    assert service.describe("tab")["ProvisionedThroughput"]["ReadCapacityUnits"] == 120
    (activity,) = activities(service)
    assert activity["Description"] == "Setting read capacity units to 120."
    assert activity["Cause"] == "minimum capacity was set to 120"
    assert activity["StatusCode"] == "Successful"
    assert (
        activity["StatusMessage"]
        == "Successfully set read capacity units to 120. Change successfully fulfilled by dynamodb."
    )
    assert activity["EndTime"] == activity["StartTime"] + 1.0


def test_a_capacity_above_a_new_maximum_is_lowered_to_it(service: Clocked) -> None:
    register(service, WRITE, MaxCapacity=50)
    assert capacity(service) == (100, 50)
    assert activities(service)[0]["Cause"] == "maximum capacity was set to 50"


def test_a_change_in_progress_says_so(service: Clocked) -> None:
    service.call("RegisterScalableTarget", **target(), MinCapacity=120, MaxCapacity=200)
    service.scaling.step(service.clock.now())
    (activity,) = activities(service)
    assert (activity["StatusCode"], "EndTime" in activity) == ("InProgress", False)
    assert activity["StatusMessage"] == (
        "Successfully set read capacity units to 120. Waiting for change to be fulfilled by dynamodb."
    )


def test_what_somebody_sets_below_the_minimum_later_is_left_alone(service: Clocked) -> None:
    register(service, MinCapacity=120)
    service.settle()
    units = {"ReadCapacityUnits": 60, "WriteCapacityUnits": 100}
    service.call("UpdateTable", TableName="tab", ProvisionedThroughput=units)
    pass_minutes(service, 20)
    assert capacity(service) == (60, 100)


def test_an_index_is_scaled_by_itself(service: Clocked) -> None:
    register(service, INDEX_WRITE, "table/tab/index/glo", MinCapacity=7, MaxCapacity=30)
    assert (capacity(service), capacity(service, "glo")) == ((100, 100), (100, 30))


def test_two_minutes_above_the_target_scale_out(service: Clocked) -> None:
    register(service)
    follow(service)
    service.consumed.rates["table/tab", "Read"] = lambda _: 100
    pass_minutes(service, 4)
    assert capacity(service) == (143, 100)
    (activity,) = activities(service)
    policy = service.call("DescribeScalingPolicies", ServiceNamespace="dynamodb")["ScalingPolicies"][0]
    high = policy["Alarms"][0]["AlarmName"]
    assert high.startswith("TargetTracking-table/tab-AlarmHigh-")
    assert activity["Cause"] == f"monitor alarm {high} in state ALARM triggered policy seventy"
    pass_minutes(service, 5)
    assert len(activities(service)) == 1  # 100 of 143 are no more than the target


def test_an_idle_table_goes_down_to_the_minimum_after_a_quarter_of_an_hour(service: Clocked) -> None:
    register(service)
    follow(service)
    pass_minutes(service, 14)
    assert capacity(service) == (100, 100)
    pass_minutes(service, 3)
    assert capacity(service) == (5, 100)
    assert "-AlarmLow-" in activities(service)[0]["Cause"]


def test_the_decreases_of_a_day_are_not_exceeded(service: Clocked) -> None:
    register(service)
    follow(service)
    # Every other hour is busy: twelve times a day the capacity could go down.
    service.consumed.rates["table/tab", "Read"] = lambda moment: 300.0 if moment // HOUR % 2 == 0 else 1.0
    lowered = 0
    before = capacity(service)[0]
    for _ in range(24 * 60):
        pass_minutes(service, 1)
        after = capacity(service)[0]
        lowered += after < before
        before = after
    assert 4 < lowered <= 27
    decreases = service.describe("tab")["ProvisionedThroughput"]["NumberOfDecreasesToday"]
    assert decreases <= lowered
    assert all(activity["StatusCode"] == "Successful" for activity in activities(service))


def test_a_day_of_traffic_is_followed(service: Clocked) -> None:
    """50 units a second at night, 1,000 at noon; the table's own rules for changes hold."""
    register(service, MaxCapacity=2000)
    follow(service)

    def load(moment: float) -> float:
        return 525 - 475 * math.cos((moment - MIDNIGHT) / 86_400 * 2 * math.pi)

    service.consumed.rates["table/tab", "Read"] = load
    short, provisioned, used = 0, 0.0, 0.0
    for _ in range(24 * 60):
        pass_minutes(service, 1)
        units, now = capacity(service)[0], load(service.clock.now())
        short += now > units
        provisioned += units
        used += now
    assert short == 0
    assert used / provisioned > 0.55
    assert capacity(service)[0] < 200


def test_a_policy_does_nothing_to_an_on_demand_table(service: Clocked) -> None:
    register(service)
    follow(service)
    service.call("UpdateTable", TableName="tab", BillingMode="PAY_PER_REQUEST")
    service.settle()
    pass_minutes(service, 20)
    assert capacity(service) == (0, 0)
    assert activities(service) == []


def test_a_deleted_table_leaves_its_target_registered(service: Clocked) -> None:
    register(service)
    follow(service)
    service.call("DeleteTable", TableName="tab")
    service.settle()
    pass_minutes(service, 3)
    assert len(service.call("DescribeScalableTargets", ServiceNamespace="dynamodb")["ScalableTargets"]) == 1


def test_what_is_suspended_is_not_done(service: Clocked) -> None:
    register(service)
    follow(service)
    state = {"DynamicScalingInSuspended": True}
    service.call("RegisterScalableTarget", **target(), SuspendedState=state)
    pass_minutes(service, 20)
    assert capacity(service) == (100, 100)
    service.call("RegisterScalableTarget", **target(), SuspendedState={})
    pass_minutes(service, 2)
    assert capacity(service) == (5, 100)


def test_a_refused_change_is_an_activity_that_failed(service: Clocked) -> None:
    register(service, MinCapacity=50_000, MaxCapacity=60_000)
    assert capacity(service) == (100, 100)
    pass_minutes(service, 5)
    (activity,) = activities(service)
    assert activity["StatusCode"] == "Failed"
    assert activity["StatusMessage"].startswith(
        "Failed to set read capacity units to 50000. Reason: The requested ReadCapacityUnits, 50000, is above the"
    )


def test_a_table_that_is_busy_is_scaled_when_it_is_free(service: Clocked) -> None:
    units = {"ReadCapacityUnits": 101, "WriteCapacityUnits": 100}
    service.call("UpdateTable", TableName="tab", ProvisionedThroughput=units)
    service.call("RegisterScalableTarget", **target(), MinCapacity=120, MaxCapacity=200)
    assert service.scaling.step(service.clock.now()) == pytest.approx(1.0)
    service.settle()
    assert capacity(service) == (120, 100)


def act(service: Clocked, schedule: str, name: str = "act", **more: Any) -> None:
    service.call("PutScheduledAction", **target(), ScheduledActionName=name, Schedule=schedule, **more)


def test_scheduled_actions_set_bounds_at_their_times(service: Clocked) -> None:
    register(service)
    act(service, "cron(0 8 * * ? *)", "morning", ScalableTargetAction={"MinCapacity": 300})
    act(
        service,
        "cron(0 20 * * ? *)",
        "evening",
        ScalableTargetAction={"MinCapacity": 5, "MaxCapacity": 20},
    )
    seen = {}
    for hour in range(24):
        pass_minutes(service, 60)
        seen[hour + 1] = capacity(service)[0]
    assert {hour for hour, units in seen.items() if units == 300} == set(range(8, 20))
    assert seen[7] == 100
    assert seen[24] == 20
    causes = [(activity["Description"], activity["Cause"]) for activity in reversed(activities(service))]
    assert causes == [
        ("Setting min capacity to 300", "scheduled action name morning was triggered"),
        ("Setting read capacity units to 300.", "minimum capacity was set to 300"),
        (
            "Setting min capacity to 5 and max capacity to 20",
            "scheduled action name evening was triggered",
        ),
        ("Setting read capacity units to 20.", "maximum capacity was set to 20"),
    ]


def test_a_scheduled_action_keeps_to_its_time_zone(service: Clocked) -> None:
    register(service)
    act(service, "cron(0 8 * * ? *)", Timezone="Asia/Tokyo", ScalableTargetAction={"MinCapacity": 300})
    pass_minutes(service, 22 * 60 + 50)
    assert capacity(service)[0] == 100
    pass_minutes(service, 15)
    assert capacity(service)[0] == 300


def test_a_scheduled_action_runs_once_for_all_that_a_stopped_server_missed(service: Clocked) -> None:
    register(service)
    act(service, "rate(1 hour)", ScalableTargetAction={"MinCapacity": 300})
    service.clock.advance(5 * HOUR)
    service.settle()
    assert len([a for a in activities(service) if "scheduled action" in a["Cause"]]) == 1
    assert capacity(service)[0] == 300


def test_a_scheduled_action_ends_with_its_end_time(service: Clocked) -> None:
    register(service)
    end = service.clock.now() + HOUR
    act(service, "cron(0 8 * * ? *)", EndTime=end, ScalableTargetAction={"MinCapacity": 300})
    pass_minutes(service, 10 * 60)
    assert capacity(service)[0] == 100


def test_suspended_schedules_pass_without_effect(service: Clocked) -> None:
    register(service)
    state = {"ScheduledScalingSuspended": True}
    service.call("RegisterScalableTarget", **target(), SuspendedState=state)
    act(service, "cron(0 8 * * ? *)", ScalableTargetAction={"MinCapacity": 300})
    pass_minutes(service, 10 * 60)
    service.call("RegisterScalableTarget", **target(), SuspendedState={})
    pass_minutes(service, 10)
    assert capacity(service)[0] == 100


def test_a_maximum_below_the_minimum_moves_the_minimum(service: Clocked) -> None:
    register(service, MinCapacity=50)
    act(service, "rate(1 minute)", ScalableTargetAction={"MaxCapacity": 20})
    pass_minutes(service, 2)
    (shown,) = service.call("DescribeScalableTargets", ServiceNamespace="dynamodb")["ScalableTargets"]
    assert (shown["MinCapacity"], shown["MaxCapacity"]) == (20, 20)
    assert capacity(service)[0] == 20


def test_a_clock_that_was_set_back_holds_no_policy_up(service: Clocked) -> None:
    pass_minutes(service, 2 * 24 * 60)  # so that the table is older than the time that is gone back to
    register(service)
    follow(service, ScaleOutCooldown=600, ScaleInCooldown=600)
    service.consumed.rates["table/tab", "Read"] = lambda _: 100
    pass_minutes(service, 3)
    assert capacity(service)[0] == 143
    service.clock.advance(-24 * HOUR)
    service.consumed.rates["table/tab", "Read"] = lambda _: 90
    service.call(
        "UpdateTable",
        TableName="tab",
        ProvisionedThroughput={"ReadCapacityUnits": 50, "WriteCapacityUnits": 100},
    )
    pass_minutes(service, 3)
    assert capacity(service)[0] == 129


def test_a_clock_that_was_set_back_holds_no_schedule_up(service: Clocked) -> None:
    register(service)
    act(service, "cron(0 8 * * ? *)", ScalableTargetAction={"MinCapacity": 300})
    pass_minutes(service, 33 * 60)
    assert capacity(service)[0] == 300
    service.clock.advance(-26 * HOUR)  # it is seven of the first day again
    service.call("RegisterScalableTarget", **target(), MinCapacity=5, MaxCapacity=40)
    pass_minutes(service, 30)
    assert capacity(service)[0] == 40
    pass_minutes(service, 31)
    assert capacity(service)[0] == 300
    triggered = [one for one in activities(service) if one["Cause"].startswith("scheduled action")]
    assert len(triggered) == 3


def test_a_clock_that_is_adjusted_by_seconds_repeats_no_action(service: Clocked) -> None:
    register(service)
    act(service, "cron(0 8 * * ? *)", ScalableTargetAction={"MinCapacity": 300})
    pass_minutes(service, 8 * 60)
    service.clock.advance(-90)
    pass_minutes(service, 10)
    triggered = [one for one in activities(service) if one["Cause"].startswith("scheduled action")]
    assert len(triggered) == 1


def start_again(service: Clocked) -> None:
    """A new job, for which the clock has never been moved by hand."""
    service.scaling = ScaleCapacity(
        service.engine,
        service.catalogue,
        service.context.settings,
        service.consumed,
        monotonic=service.clock.now,
    )


def not_scaled(service: Clocked) -> list[list[dict[str, Any]]]:
    """The reasons of what was not scaled, the oldest first."""
    answer = service.call(
        "DescribeScalingActivities", ServiceNamespace="dynamodb", IncludeNotScaledActivities=True
    )
    told = [one for one in reversed(answer["ScalingActivities"]) if "NotScaledReasons" in one]
    assert {one["StatusCode"] for one in told} <= {"Failed"}
    assert all(one["Cause"].startswith("monitor alarm TargetTracking-table/tab-Alarm") for one in told)
    return [one["NotScaledReasons"] for one in told]


def test_why_an_alarm_changes_nothing_is_told_to_those_who_ask(service: Clocked) -> None:
    start_again(service)
    register(service, MaxCapacity=100)
    follow(service)
    service.consumed.rates["table/tab", "Read"] = lambda _: 100
    pass_minutes(service, 10)
    at_most = [{"Code": "AlreadyAtMaxCapacity", "MaxCapacity": 100}]
    assert not_scaled(service) == [at_most]
    assert activities(service) == []
    service.consumed.rates["table/tab", "Read"] = lambda _: 60
    pass_minutes(service, 3)
    service.consumed.rates["table/tab", "Read"] = lambda _: 100
    pass_minutes(service, 3)
    assert not_scaled(service) == [at_most, at_most]
    service.consumed.rates["table/tab", "Read"] = lambda _: 0
    pass_minutes(service, 40)
    assert capacity(service)[0] == 5
    assert not_scaled(service) == [at_most, at_most, [{"Code": "AlreadyAtMinCapacity", "MinCapacity": 5}]]


def test_a_server_that_is_started_again_does_not_tell_the_same_reason_again(service: Clocked) -> None:
    register(service, MaxCapacity=100)
    follow(service)
    service.consumed.rates["table/tab", "Read"] = lambda _: 100
    for _ in range(2):
        start_again(service)
        pass_minutes(service, 3)
        assert len(not_scaled(service)) == 1


def test_what_is_suspended_gives_no_reason(service: Clocked) -> None:
    start_again(service)
    register(service, MaxCapacity=100)
    follow(service)
    suspended = {"DynamicScalingOutSuspended": True}
    service.call("RegisterScalableTarget", **target(), SuspendedState=suspended)
    service.consumed.rates["table/tab", "Read"] = lambda _: 100
    pass_minutes(service, 3)
    assert not_scaled(service) == []
