"""Tests move the clock, and find done what was due by then."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hashrange.testing import Clock, Namespace, TestingFailed
from hashrange.testing.spans import Span, seconds


def test_items_have_expired_when_the_clock_has_moved(
    namespace: Namespace, client: Any, dynamodb_clock: Clock
) -> None:
    namespace.call(
        "UpdateTimeToLive",
        {
            "TableName": "orders",
            "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"},
        },
    )
    moment = int(dynamodb_clock.now().timestamp())
    for name, after in (("soon", 60), ("later", 7200)):
        client.put_item(TableName="orders", Item={"id": {"S": name}, "expires": {"N": str(moment + after)}})
    moved = dynamodb_clock.move("1h")
    assert moved - datetime.fromtimestamp(moment, UTC) >= timedelta(hours=1)
    left = client.scan(TableName="orders", ConsistentRead=True)["Items"]
    assert [item["id"]["S"] for item in left] == ["later"]


def test_the_clock_is_set_to_a_moment_that_is_still_to_come(dynamodb_clock: Clock) -> None:
    to_come = dynamodb_clock.now() + timedelta(days=1)
    assert abs(dynamodb_clock.set(to_come) - to_come) < timedelta(minutes=5)
    later = to_come + timedelta(days=1)
    dynamodb_clock.set(later.isoformat())
    assert dynamodb_clock.now() >= later
    with pytest.raises(TestingFailed, match="back"):
        dynamodb_clock.set((later - timedelta(days=1)).timestamp())


@pytest.mark.parametrize(
    ("span", "expected"),
    [("200ms", 0.2), ("1h", 3600.0), ("90", 90.0), (1.5, 1.5), (2, 2.0), (timedelta(minutes=1), 60.0)],
)
def test_spans_are_written_in_several_ways(span: Span, expected: float) -> None:
    assert seconds(span) == expected


@pytest.mark.parametrize("span", ["soon", "1.5h", "-1h", "ms"])
def test_what_is_no_span_is_refused(span: str) -> None:
    with pytest.raises(ValueError, match="must be a time"):
        seconds(span)
