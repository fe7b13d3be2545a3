"""A flood of requests that are put off for their bad signatures is one event for each address and minute."""

from typing import Any

import pytest

from hashrange.api.errors import ApiError
from hashrange.audit.events import Origin
from hashrange.audit.redaction import Redaction
from hashrange.chain import floods
from hashrange.chain.audit import Audit
from hashrange.clock import ManualClock

PUT_OFF = ApiError("ThrottlingException", "Rate exceeded")
WRONG = ApiError("InvalidSignatureException", "wrong")


class Log(list[dict[str, Any]]):
    """Stands for the writer of events."""

    def append(self, event: dict[str, Any], _chars: int = 0, /) -> None:
        super().append(event)

    @property
    def counts(self) -> dict[str, int]:
        """The number of requests by address; each must be there once."""
        found = {event["sourceIPAddress"]: event["additionalEventData"]["requests"] for event in self}
        assert len(found) == len(self)
        return found


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_699_920_000.0)


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def audit(log: Log, clock: ManualClock) -> Audit:
    return Audit(log, Redaction("plain"), clock)


def test_a_minute_of_a_flood_is_one_event_for_each_address(
    audit: Audit, log: Log, clock: ManualClock
) -> None:
    for address, times in (("10.0.0.1", 500), ("10.0.0.2", 3), ("2001:db8::1", 2), ("2001:db8::2", 2)):
        for _ in range(times):
            audit.refused("dynamodb:GetItem", Origin(address=address, claimed_key="AKID"), None, PUT_OFF)
    clock.advance(59)
    audit.note_floods(False)
    assert log == []
    clock.advance(1)
    audit.note_floods(False)
    # One client has all addresses of a network of IPv6.
    assert log.counts == {"10.0.0.1": 500, "10.0.0.2": 3, "2001:db8::1": 4}
    assert {(event["eventName"], event["errorCode"]) for event in log} == {("GetItem", "ThrottlingException")}
    assert log[0]["userIdentity"] == {"type": "Unknown", "accessKeyId": "AKID"}
    audit.note_floods(False)
    assert len(log) == 3


def test_the_last_turn_notes_what_has_just_begun(audit: Audit, log: Log) -> None:
    audit.refused("dynamodb:GetItem", Origin(address="10.0.0.1"), None, PUT_OFF)
    audit.note_floods(True)
    assert log.counts == {"10.0.0.1": 1}


def test_a_refused_signature_is_still_an_event_of_its_own(audit: Audit, log: Log) -> None:
    for _ in range(3):
        audit.refused("dynamodb:GetItem", Origin(address="10.0.0.1"), None, WRONG)
    assert [event["errorCode"] for event in log] == [WRONG.code] * 3


def test_more_addresses_than_are_told_apart_are_counted_together(
    audit: Audit, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(floods, "_NETWORKS_MAX", 2)
    for number in (1, 2, 3, 4, 1):
        audit.refused("dynamodb:GetItem", Origin(address=f"10.0.0.{number}"), None, PUT_OFF)
    audit.note_floods(True)
    assert log.counts == {"10.0.0.1": 2, "10.0.0.2": 1, "many": 2}
