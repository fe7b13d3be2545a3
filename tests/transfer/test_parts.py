"""The small parts of transfers: places, paces, progress, values, schemas."""

from typing import Any

import pytest
from hypothesis import given

from hashrange.core.errors import Refused
from hashrange.core.values import Malformed, canonical_item
from hashrange.transfer.errors import Interrupted
from hashrange.transfer.places import BucketPlace, FolderPlace, TablePlace, place
from hashrange.transfer.progress import Progress
from hashrange.transfer.rates import Rate
from hashrange.transfer.stopping import Stop
from hashrange.transfer.verifying import Checksum, item_digest
from hashrange.transfer.wire_values import from_wire, to_wire
from value_strategies import items


def table_place(text: str, region: str | None = None) -> TablePlace:
    made = place(text, region=region, profile=None)
    assert isinstance(made, TablePlace)
    return made


def test_places() -> None:
    assert place("s3://b/p/q", region=None, profile=None) == BucketPlace("b", "p/q")
    assert place("some/where", region=None, profile=None) == FolderPlace("some/where")
    local = table_place("http://k:s%2F@[::1]:8000/sub/Table", region="eu-west-1")
    assert (local.endpoint, local.table, local.region) == ("http://[::1]:8000/sub", "Table", "eu-west-1")
    assert (local.access_key_id, local.secret_access_key) == ("k", "s/")
    assert local.is_loopback
    assert local.streams_endpoint == local.endpoint
    assert "s/" not in repr(local)


def test_an_endpoint_of_aws_says_its_region_and_where_its_streams_are() -> None:
    aws = table_place("https://dynamodb.ap-south-1.amazonaws.com/Table", region="eu-west-1")
    assert aws.region == "ap-south-1"
    assert aws.streams_endpoint == "https://streams.dynamodb.ap-south-1.amazonaws.com"
    assert not aws.is_loopback


class Waits(Stop):
    """Notes how long somebody would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


def test_a_pace_is_paid_afterwards() -> None:
    now = 100.0
    waits = Waits()
    rate = Rate(10, waits, lambda: now)
    rate.wait()
    rate.spend(25)
    rate.wait()
    now = 102.0
    rate.wait()
    now = 200.0  # nothing is saved up
    rate.spend(10)
    rate.wait()
    assert waits.seconds == [0, pytest.approx(2.5), pytest.approx(0.5), pytest.approx(1.0)]


def test_a_stopped_transfer_waits_for_nothing() -> None:
    stop = Stop()
    stop.set()
    for wait in (stop.check, lambda: stop.sleep(1000), Rate(None, stop).wait, Rate(1, stop).wait):
        with pytest.raises(Interrupted):
            wait()


@given(items)
def test_values_come_back_as_they_were(item: dict[str, Any]) -> None:
    try:
        canonical = canonical_item(item)
    except (Refused, Malformed):
        return
    assert from_wire(to_wire(canonical)) == canonical


def test_a_checksum_sees_every_difference_but_no_order() -> None:
    digests = [item_digest({"pk": {"S": str(number)}}) for number in range(10)]
    forward, backward, parts = Checksum(), Checksum(), Checksum()
    for digest in digests:
        forward.add(digest)
    for digest in reversed(digests):
        backward.add(digest)
    half = Checksum()
    for number, digest in enumerate(digests):
        (half if number % 2 else parts).add(digest)
    parts.merge(half)
    assert forward == backward == parts
    parts.add(digests[0])
    assert parts != forward


def test_equal_items_have_one_digest() -> None:
    assert item_digest({"a": {"N": "1.50"}, "b": {"NS": ["2", "1"]}}) == item_digest(
        {"b": {"NS": ["1", "2.0"]}, "a": {"N": "1.5"}}
    )
    assert item_digest({"a": {"S": "1"}}) != item_digest({"a": {"N": "1"}})
    assert item_digest({"a": {"B": b"1"}}) != item_digest({"a": {"S": "MQ=="}})


def test_a_terminal_has_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hashrange.transfer.progress._BAR_SECONDS", 0.0)
    progress = Progress(is_terminal=True)
    progress.begin("copied", total=200)
    progress.add(100)
    progress.message("a line")
    progress.finish()
    shown = capsys.readouterr().err
    assert shown.startswith("\r[###############...............]  50% copied 100 items, ")
    assert "\na line\n" in shown
    assert shown.endswith("\n")


def test_elsewhere_there_are_plain_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hashrange.transfer.progress._LINE_SECONDS", 0.0)
    progress = Progress(is_terminal=False)
    progress.begin("copied", count=50)
    progress.add(100)
    progress.finish()
    shown = capsys.readouterr().err
    assert shown.startswith("copied 150 items, ")
    assert "\r" not in shown
