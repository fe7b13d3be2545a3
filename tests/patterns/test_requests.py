"""What all patterns do with the service's answers: throttles, conflicts, partial batches, values."""

from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError

from faulty_client import StillRunner
from hashrange.patterns import Refused, Retry, Span, Table, TransactionCanceled
from hashrange.patterns.errors import ConditionFailed, refusal
from hashrange.patterns.retries import send, send_all
from hashrange.patterns.steps import SdkCall, Steps
from hashrange.patterns.values import (
    json_scalar,
    plain_value,
    scalar_of_json,
    shard_of,
    value_bytes,
    wire_value,
)
from item_tables import unique


def canceled(*codes: str) -> ClientError:
    reasons = [{"Code": code} for code in codes]
    error = {"Code": "TransactionCanceledException", "Message": "Canceled."}
    return ClientError({"Error": error, "CancellationReasons": reasons}, "TransactWriteItems")


def failed(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "No."}}, "PutItem")


@pytest.mark.parametrize(
    ("error", "is_passing"),
    [
        (failed("ProvisionedThroughputExceededException"), True),
        (failed("ThrottlingException"), True),
        (failed("RequestLimitExceeded"), True),
        (failed("TransactionConflictException"), True),
        (failed("TransactionInProgressException"), True),
        (failed("ConditionalCheckFailedException"), False),
        (failed("InternalServerError"), False),  # it may have been done
        (failed("ValidationException"), False),
        (canceled("None", "TransactionConflict"), True),
        (canceled("ThrottlingError", "None", "ProvisionedThroughputExceeded"), True),
        (canceled("TransactionConflict", "ConditionalCheckFailed"), False),
        (canceled("None", "ValidationError"), False),
        (canceled("ItemCollectionSizeLimitExceeded"), False),
        (canceled(), False),
    ],
)
def test_what_passes_is_told_from_what_does_not(error: ClientError, is_passing: bool) -> None:
    refused = refusal(error)
    assert refused is not None
    assert refused.is_passing is is_passing


def test_an_error_that_is_not_the_services_is_left_alone() -> None:
    assert refusal(ConnectionError("lost")) is None


class Busy:
    """A service that throttles so many times."""

    def __init__(self, times: int) -> None:
        self.times = times

    def asked(self, **parameters: Any) -> dict[str, Any]:
        self.times -= 1
        if self.times >= 0:
            raise failed("ThrottlingException")
        return parameters


class Wrong:
    """A service that refuses for good."""

    def asked(self) -> None:
        raise failed("ValidationException")


def test_pauses_grow_to_a_bound_and_attempts_end() -> None:
    retry = Retry(attempts_max=5, base_seconds=1, cap_seconds=3)
    with StillRunner(Busy(4)) as runner:
        assert runner.run(send(SdkCall("asked", {"a": 1}), retry)) == {"a": 1}
        assert [pause.seconds for pause in runner.pauses] == [1, 2, 3, 3]
        assert all(pause.jitter for pause in runner.pauses)
    for calls in (send(SdkCall("asked", {}), retry), send_all([SdkCall("asked", {})] * 2, retry)):
        with StillRunner(Busy(1000)) as runner, pytest.raises(Refused):
            runner.run(calls)
        assert len(runner.pauses) == 4
    with StillRunner(Wrong()) as runner, pytest.raises(Refused):
        runner.run(send(SdkCall("asked", {}), retry))
    assert runner.pauses == []
    assert Retry().pause(10**6).seconds == 5.0


class PartialClient:
    """A service that performs only the first of every batch."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def batch_write_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803
        ((name, requests),) = RequestItems.items()
        self._client.batch_write_item(RequestItems={name: requests[:1]})
        return {"UnprocessedItems": {name: requests[1:]} if requests[1:] else {}}

    def batch_get_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803
        ((name, wanted),) = RequestItems.items()
        answer = self._client.batch_get_item(RequestItems={name: {**wanted, "Keys": wanted["Keys"][:1]}})
        left = {name: {**wanted, "Keys": wanted["Keys"][1:]}} if wanted["Keys"][1:] else {}
        return {**answer, "UnprocessedKeys": left}


def test_what_a_batch_leaves_out_is_sent_again_after_a_pause(client: Any, table: Table) -> None:
    name = unique()
    items = [{**table.key(name, str(number)), "n": number} for number in range(4)]
    keys = [table.key_of(item) for item in items]
    with StillRunner(PartialClient(client)) as runner:
        runner.run(table.write_many(puts=items))
        assert len(runner.pauses) == 3
        assert sorted(item["n"] for item in runner.run(table.get_many(keys))) == [0, 1, 2, 3]
        assert len(runner.pauses) == 6
        runner.run(table.write_many(deletes=keys))
        assert runner.run(table.get_many(keys)) == []
        assert runner.run(table.get_many([])) == []


class IdleClient:
    """A service that performs nothing of a batch, and says so."""

    def batch_write_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803
        return {"UnprocessedItems": RequestItems}

    def batch_get_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803
        return {"Responses": {}, "UnprocessedKeys": RequestItems}


def test_a_batch_that_is_left_out_every_time_ends() -> None:
    table = Table("t", retry=Retry(attempts_max=4))
    requests: tuple[Steps[Any], ...] = (
        table.write_many([{"pk": "a", "sk": "b"}]),
        table.get_many([{"pk": "a"}]),
    )
    for request in requests:
        with StillRunner(IdleClient()) as runner, pytest.raises(Refused, match="every time"):
            runner.run(request)
        assert len(runner.pauses) == 3


def test_a_failed_condition_shows_what_is_stored(table: Table, runner: StillRunner) -> None:
    item = {**table.key(unique(), "x"), "n": 1}
    runner.run(table.write(table.putting(item)))
    guarded = table.putting(item, "attribute_not_exists(#pk)")
    refused = runner.run(table.tried(guarded))
    assert isinstance(refused, ConditionFailed)
    assert refused.stored == item
    with pytest.raises(TransactionCanceled) as caught:
        runner.run(table.transact([table.putting({**item, "sk": "y"}), guarded]))
    assert caught.value.failed == [1]
    assert caught.value.reasons[1].stored == item


@pytest.mark.parametrize(
    "value",
    [
        *("text", "", 5, -5, Decimal("1.5"), b"bytes", True, False, None, {"a"}, {1, 2}, {b"x"}),
        {"list": [1, "two", {"three": None}], "empty": {}},
    ],
)
def test_values_survive_the_service(value: Any, table: Table, runner: StillRunner) -> None:
    key = table.key(unique(), "x")
    runner.run(table.write(table.putting({**key, "value": value})))
    assert runner.run(table.get(key)) == {**key, "value": value}
    assert plain_value(wire_value(value)) == value
    assert value_bytes(value) >= 0


@pytest.mark.parametrize("value", [1.5, set(), {1, "a"}, object()])
def test_what_no_attribute_can_be(value: Any) -> None:
    with pytest.raises(TypeError):
        wire_value(value)


@pytest.mark.parametrize("value", ["text", "", 0, -12, Decimal("1.5"), b"\x00\xff"])
def test_keys_survive_a_cursor(value: Any) -> None:
    assert scalar_of_json(json_scalar(value)) == value


@pytest.mark.parametrize("pair", [[], ["S", 1], ["N", "abc"], ["N", "-"], ["B", "%"], ["M", {}], "S", None])
def test_what_no_key_can_be(pair: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        scalar_of_json(pair)


def test_a_shard_is_the_same_in_every_process_and_all_are_used() -> None:
    assert [shard_of(text, 1000) for text in ("", "abc", "ä")] == [0, 578, 35]  # their CRC-32
    assert {shard_of(str(number), 4) for number in range(50)} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((1, Decimal("1.0"), Decimal("1E+0"), 1.0), "1"),
        ((100, Decimal("1E+2")), "100"),
        ((Decimal("-0"), Decimal("0.00"), 0), "0"),
        ((Decimal(12345678901234567890123456789012345678),), "12345678901234567890123456789012345678"),
        ((b"\xff\x00",), "ff00"),
        ((True,), "true"),
    ],
)
def test_values_that_are_one_key_are_in_one_shard(values: tuple[object, ...], text: str) -> None:
    assert {shard_of(value, 1_000_003) for value in values} == {shard_of(text, 1_000_003)}


def test_bounds_of_every_type() -> None:
    assert Span().has("x")
    assert Span(1, 5).has(5)
    assert not Span(1, 5).has(6)
    assert not Span(b"b").has(b"a")
    assert not Span("a").has(1)
    assert not Span(b"a").has(1)
