"""Auto scaling from outside: a server whose clock the test moves."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.config import Config

from item_tables import definitions, key_schema
from service_clients import client_of
from serving import Serving, serving
from wiring import eventually

pytestmark = pytest.mark.timeout(400)

_PATIENCE_SECONDS = 90
_MINUTE = 60
TARGET = {
    "ServiceNamespace": "dynamodb",
    "ResourceId": "table/tab",
    "ScalableDimension": "dynamodb:table:ReadCapacityUnits",
}


@pytest.fixture
def server() -> Iterator[Serving]:
    with serving("--in-memory", "--test-clock", "--log-level", "warning") as running:
        yield running
        assert "Traceback" not in running.log_text()


def make(server: Serving, service: str) -> Any:
    return client_of(server, service, Config(retries={"total_max_attempts": 1}, read_timeout=60))


@pytest.fixture
def client(server: Serving) -> Any:
    client = make(server, "dynamodb")
    client.create_table(
        TableName="tab",
        KeySchema=key_schema("pk"),
        AttributeDefinitions=definitions(pk="S"),
        ProvisionedThroughput={"ReadCapacityUnits": 10, "WriteCapacityUnits": 10},
    )
    assert eventually(
        lambda: client.describe_table(TableName="tab")["Table"]["TableStatus"] == "ACTIVE", _PATIENCE_SECONDS
    )
    return client


@pytest.fixture
def scaling(server: Serving, client: Any) -> Any:
    scaling = make(server, "application-autoscaling")
    scaling.register_scalable_target(**TARGET, MinCapacity=2, MaxCapacity=100)
    return scaling


def follow(scaling: Any) -> None:
    scaling.put_scaling_policy(
        **TARGET,
        PolicyName="seventy",
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration={
            "TargetValue": 70.0,
            "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"},
        },
    )


def advance_to_minute(server: Serving, seconds: float) -> None:
    """Move the clock to the next full minute and some seconds."""
    now = server.request("GET", "/_hashrange/clock").body["epoch_seconds"]
    step = _MINUTE - now % _MINUTE + seconds
    assert server.request("POST", "/_hashrange/clock", b'{"advance_seconds": %f}' % step).status == 200


def capacity(client: Any) -> int:
    throughput = client.describe_table(TableName="tab")["Table"]["ProvisionedThroughput"]
    return int(throughput["ReadCapacityUnits"])


def test_a_new_minimum_is_enforced_at_once(client: Any, scaling: Any) -> None:
    scaling.register_scalable_target(**TARGET, MinCapacity=20)
    assert eventually(lambda: capacity(client) == 20, _PATIENCE_SECONDS)


def test_consumption_above_the_target_scales_out(server: Serving, client: Any, scaling: Any) -> None:
    for number in range(40):
        client.put_item(TableName="tab", Item={"pk": {"S": str(number)}, "text": {"S": "x" * 25_000}})
    follow(scaling)
    # The two minutes are soon over: on a machine that is very slow they may be too old before they are looked at.
    assert any(is_scaled_out(server, client) for _ in range(5))
    (activity,) = scaling.describe_scaling_activities(ServiceNamespace="dynamodb")["ScalingActivities"]
    assert activity["StatusCode"] == "Successful"
    assert "-AlarmHigh-" in activity["Cause"]


def is_scaled_out(server: Serving, client: Any) -> bool:
    # Requests count for the minute in which they are counted, a tenth of a second later: which may be the next one.
    for _ in range(3):
        advance_to_minute(server, 1)
        for _ in range(3):
            client.scan(TableName="tab", ConsistentRead=True)  # 245 units
    advance_to_minute(server, 12)
    return eventually(lambda: capacity(client) > 15, 30)


def test_an_idle_table_is_scaled_in(server: Serving, client: Any, scaling: Any) -> None:
    follow(scaling)
    assert server.request("POST", "/_hashrange/clock", b'{"advance_seconds": 1200}').status == 200
    assert eventually(lambda: capacity(client) == 2, _PATIENCE_SECONDS)


def test_a_scheduled_action_is_carried_out(server: Serving, client: Any, scaling: Any) -> None:
    scaling.put_scheduled_action(
        **TARGET,
        ScheduledActionName="hourly",
        Schedule="rate(1 hour)",
        ScalableTargetAction={"MinCapacity": 30},
    )
    assert server.request("POST", "/_hashrange/clock", b'{"advance_seconds": 3601}').status == 200
    assert eventually(lambda: capacity(client) == 30, _PATIENCE_SECONDS)
