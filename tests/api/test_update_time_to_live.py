"""UpdateTimeToLive and DescribeTimeToLive: the setting and its rules."""

from typing import Any

import pytest

from clocked import Clocked
from item_tables import definitions, invalid, key_schema, make_table, refused


def setting(attribute: str = "ttl", *, enabled: bool = True) -> dict[str, Any]:
    return {"AttributeName": attribute, "Enabled": enabled}


def described(client: Any, name: str) -> Any:
    return client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]


def test_off_by_default_then_on(client: Any) -> None:
    name = make_table(client, "p")
    assert described(client, name) == {"TimeToLiveStatus": "DISABLED"}
    answer = client.update_time_to_live(TableName=name, TimeToLiveSpecification=setting())
    assert answer["TimeToLiveSpecification"] == setting()
    assert described(client, name) == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}


def test_changes_that_change_nothing(client: Any) -> None:
    name = make_table(client, "p")

    def change(wanted: dict[str, Any]) -> str:
        return invalid(client.update_time_to_live, TableName=name, TimeToLiveSpecification=wanted)

    assert change(setting(enabled=False)) == "TimeToLive is already disabled"
    client.update_time_to_live(TableName=name, TimeToLiveSpecification=setting())
    assert change(setting()) == "TimeToLive is already enabled"
    other = "TimeToLive is active on a different AttributeName: current AttributeName is ttl"
    assert change(setting("other")) == other
    assert change(setting("other", enabled=False)) == other


def test_members_that_are_missing(client: Any) -> None:
    null = "' failed to satisfy constraint: Member must not be null"
    assert invalid(client.update_time_to_live, TableName="abc") == (
        f"1 validation error detected: Value null at 'timeToLiveSpecification{null}"
    )
    assert invalid(client.update_time_to_live, TableName="abc", TimeToLiveSpecification={}) == (
        f"2 validation errors detected: Value null at 'timeToLiveSpecification.attributeName{null}; Value null at "
        f"'timeToLiveSpecification.enabled{null}"
    )


@pytest.mark.parametrize(
    ("length", "rule"), [(0, "greater than or equal to 1"), (256, "less than or equal to 255")]
)
def test_attribute_names_that_are_not_allowed(client: Any, length: int, rule: str) -> None:
    name = "a" * length
    assert invalid(client.update_time_to_live, TableName="abc", TimeToLiveSpecification=setting(name)) == (
        f"1 validation error detected: Value '{name}' at 'timeToLiveSpecification.attributeName' failed to satisfy "
        f"constraint: Member must have length {rule}"
    )


def test_the_longest_attribute_name(client: Any) -> None:
    name = make_table(client, "p")
    client.update_time_to_live(TableName=name, TimeToLiveSpecification=setting("a" * 255))
    assert described(client, name) == {"TimeToLiveStatus": "ENABLED", "AttributeName": "a" * 255}


def test_a_table_there_is_not(client: Any) -> None:
    missing = ("ResourceNotFoundException", "Requested resource not found: Table: never-made not found")
    assert refused(client.describe_time_to_live, TableName="never-made") == missing
    request = {"TableName": "never-made", "TimeToLiveSpecification": setting()}
    assert refused(client.update_time_to_live, **request) == missing


def test_one_change_in_half_an_hour() -> None:
    service = Clocked(ttl_cooldown=1860)
    service.call(
        "CreateTable",
        TableName="tab",
        KeySchema=key_schema("p"),
        AttributeDefinitions=definitions(p="S"),
        BillingMode="PAY_PER_REQUEST",
    )
    assert service.refused("DescribeTimeToLive", TableName="tab") == (
        "ValidationException",
        "Cannot describe time to live while table is in CREATING state: Current table state is CREATING",
    )
    request = {"TableName": "tab", "TimeToLiveSpecification": setting()}
    assert service.refused("UpdateTimeToLive", **request) == (
        "ResourceInUseException",
        "Attempt to change a resource which is still in use: Table tab is being created",
    )
    service.settle()
    service.call("UpdateTimeToLive", **request)
    request["TimeToLiveSpecification"] = setting(enabled=False)
    service.clock.advance(1859)
    assert service.refused("UpdateTimeToLive", **request) == (
        "ValidationException",
        "Time to live has been modified multiple times within a fixed interval",
    )
    service.clock.advance(1)
    service.call("UpdateTimeToLive", **request)
    answer = service.call("DescribeTimeToLive", TableName="tab")
    assert answer == {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
