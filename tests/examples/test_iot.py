"""examples/iot: a series is read over midnight, stored once, and a late reading does not turn the dashboard back."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

START = datetime(2100, 6, 1, 23, tzinfo=UTC)


@pytest.fixture
def module(application: Callable[[str], Any]) -> Any:
    return application("iot")


@pytest.fixture
def fleet(module: Any, examples_client: Any) -> Any:
    return module.Fleet(examples_client)


def readings(module: Any, device: str, *minutes: int) -> list[Any]:
    return [module.Reading(device, START + timedelta(minutes=minute), minute) for minute in minutes]


def test_a_series_is_read_over_midnight_with_both_ends(module: Any, fleet: Any) -> None:
    device = uuid4().hex
    fleet.record(readings(module, device, *range(0, 120, 10)))
    assert fleet.between(device, START, START + timedelta(minutes=110)) == list(range(0, 120, 10))
    assert fleet.between(device, START + timedelta(minutes=50), START + timedelta(minutes=70)) == [50, 60, 70]
    assert fleet.between(device, START - timedelta(days=1), START - timedelta(minutes=1)) == []


def test_what_is_sent_twice_is_stored_once(module: Any, fleet: Any) -> None:
    device = uuid4().hex
    for _ in range(2):
        fleet.record(readings(module, device, 1, 2))
    assert fleet.between(device, START, START + timedelta(hours=1)) == [1, 2]


def test_a_late_reading_does_not_turn_the_dashboard_back(module: Any, fleet: Any) -> None:
    device, site = uuid4().hex, uuid4().hex
    fleet.install(device, site)
    fleet.record(readings(module, device, 30, 40))
    fleet.record(readings(module, device, 20))
    assert fleet.now(device)["degrees"] == 40
    assert fleet.site(site) == {device: 40}
    assert fleet.between(device, START, START + timedelta(hours=1)) == [20, 30, 40]


def test_readings_expire_after_thirty_days(module: Any, fleet: Any, examples_client: Any) -> None:
    device = uuid4().hex
    fleet.record(readings(module, device, 0))
    key = {"PK": {"S": f"DEVICE#{device}#2100-06-01"}, "SK": {"S": "2100-06-01T23:00:00Z"}}
    item = examples_client.get_item(TableName="iot", Key=key)["Item"]
    assert int(item["expires_at"]["N"]) == int((START + timedelta(days=30)).timestamp())
