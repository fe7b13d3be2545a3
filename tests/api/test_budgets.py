"""Requests that cost far more than they look have the service's answers, and their work is bounded: it is counted here.

bench/stalls.py has the same shapes, and more, with a clock beside them.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clocked import Clocked
from hashrange.api.errors import ApiError, as_api_error
from hashrange.api.items import batch_get_item
from hashrange.core import effort, items, values
from hashrange.core.errors import Refused
from hashrange.core.expressions import update as updates
from new_tables import request as new_table

UPDATE_TOO_LARGE = ("ValidationException", "Item size to update has exceeded the maximum allowed size")


@pytest.fixture
def service() -> Iterator[Clocked]:
    service = Clocked(transition_ms=0)
    service.call("CreateTable", **new_table("pk", TableName="table"))
    yield service
    service.engine.close()


def _put(service: Clocked, key: str, **attributes: Any) -> None:
    service.call("PutItem", TableName="table", Item={"pk": {"S": key}, **attributes})


def _list(elements: int) -> dict[str, Any]:
    return {"L": [{"S": ""} for _ in range(elements)]}


def _update(key: str, text: str, **values: Any) -> dict[str, Any]:
    bound = {f":{name}": value for name, value in values.items()}
    request = {"TableName": "table", "Key": {"pk": {"S": key}}, "UpdateExpression": text}
    return {**request, "ExpressionAttributeValues": bound} if bound else request


def _refused(service: Clocked, operation: str, **request: Any) -> tuple[str, str | None]:
    try:
        answer = service.call(operation, **request)
    except (ApiError, Refused) as problem:
        error = as_api_error(problem)
        return error.code, error.message
    raise AssertionError(answer)


class Counted:
    """How often a function is called."""

    def __init__(self, patch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        self.calls = 0
        self._function: Callable[..., Any] = getattr(module, name)
        patch.setattr(module, name, self._call)

    def _call(self, *arguments: Any, **options: Any) -> Any:
        self.calls += 1
        return self._function(*arguments, **options)


@pytest.mark.parametrize(
    ("value", "copies"), [("l", 500), ("list_append(l, l)", 150), ("if_not_exists(x, l)", 150)]
)
def test_a_list_copied_hundreds_of_times_is_refused_at_the_first_copy_too_many(
    service: Clocked, monkeypatch: pytest.MonkeyPatch, value: str, copies: int
) -> None:
    _put(service, "a", l=_list(150_000))
    sized = Counted(monkeypatch, updates, "size")
    request = _update("a", "SET " + ",".join(f"a{number}={value}" for number in range(copies)))
    assert _refused(service, "UpdateItem", **request) == UPDATE_TOO_LARGE
    assert sized.calls <= 3


def test_copies_that_fit_are_made(service: Clocked) -> None:
    _put(service, "a", l=_list(100))
    service.call("UpdateItem", **_update("a", "SET " + ",".join(f"a{n}=l" for n in range(100))))
    stored = service.call("GetItem", TableName="table", Key={"pk": {"S": "a"}})["Item"]
    assert len(stored) == 102
    assert stored["a99"] == _list(100)


def test_a_value_that_is_set_hundreds_of_times_is_measured_until_it_is_too_large(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    sized = Counted(monkeypatch, values, "size")
    request = _update("a", "SET " + ",".join(f"a{n}=:v" for n in range(500)), v={"B": "A" * 300_000})
    assert _refused(service, "UpdateItem", **request) == UPDATE_TOO_LARGE
    assert sized.calls <= 5


def _dense_query(service: Clocked, **members: Any) -> Any:
    text = " OR ".join(f"contains(l, :v{number})" for number in range(100))
    bound = {f":v{number}": {"S": str(number)} for number in range(100)}
    return service.call(
        "Scan", TableName="table", FilterExpression=text, ExpressionAttributeValues=bound, **members
    )


def test_a_page_that_computes_for_too_long_ends_and_goes_on_with_the_next(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "PAGE_SECONDS", -1.0)
    for number in range(5):
        _put(service, f"{number}", l=_list(20_000), m={"S": "x"})
    page = _dense_query(service)
    assert (page["Count"], page["ScannedCount"]) == (0, 1)
    scanned = 1
    while "LastEvaluatedKey" in page:
        page = _dense_query(service, ExclusiveStartKey=page["LastEvaluatedKey"])
        scanned += page["ScannedCount"]
    assert scanned == 5


@pytest.mark.parametrize("rows", [1, 2])
def test_a_request_that_computes_for_far_too_long_is_refused(
    service: Clocked, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    for number in range(rows):
        _put(service, f"{number}", l=_list(60_000))
    monkeypatch.setattr(effort, "REQUEST_SECONDS", -1.0)
    request = _update("0", "SET z = :z", z={"S": "x"})
    outcomes = {
        _refused(service, "UpdateItem", **request, ConditionExpression="contains(l, :z)"),
        _refused(service, "Scan", TableName="table", FilterExpression="l <> m"),
    }
    assert outcomes == {("ValidationException", effort.EXHAUSTED)}


def test_a_batch_of_more_json_than_an_answer_may_have_leaves_keys_unprocessed(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        _put(service, f"{number}", l=_list(10_000))
    monkeypatch.setattr(batch_get_item, "BATCH_GET_JSON_BYTES_MAX", 200_000)
    keys = [{"pk": {"S": f"{number}"}} for number in range(4)]
    answer = service.call("BatchGetItem", RequestItems={"table": {"Keys": keys}})
    assert len(answer["Responses"]["table"]) == 2
    assert answer["UnprocessedKeys"]["table"]["Keys"] == keys[2:]


def test_keys_of_a_batch_are_compared_with_each_other_once(service: Clocked) -> None:
    keys = [{"pk": {"S": f"{number}"}} for number in range(99)]
    request = {"table": {"Keys": [*keys, {"pk": {"S": "98"}}]}}
    code, message = _refused(service, "BatchGetItem", RequestItems=request)
    assert (code, message) == ("ValidationException", "Provided list of item keys contains duplicates")
    service.call("BatchGetItem", RequestItems={"table": {"Keys": keys}})


def test_a_transaction_stops_reading_where_it_is_too_large(
    service: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(14):
        _put(service, f"{number}", b={"S": "x" * 399_000})
    read = Counted(monkeypatch, items, "stored_size")
    gets = [{"Get": {"TableName": "table", "Key": {"pk": {"S": f"{number}"}}}} for number in range(14)]
    code, message = _refused(service, "TransactGetItems", TransactItems=gets)
    assert (code, message) == (
        "ValidationException",
        "Aggregate size of the items in the transaction cannot exceed 4 MB",
    )
    assert read.calls <= 2 * 11


def test_sets_longer_than_one_run_are_sorted_as_any_other(service: Clocked) -> None:
    numbers = [str(number) for number in range(30_000, 0, -1)]
    _put(service, "a", ns={"NS": numbers})
    stored = service.call("GetItem", TableName="table", Key={"pk": {"S": "a"}})["Item"]
    assert stored["ns"]["NS"] == numbers[::-1]


def test_rows_too_large_to_be_joined_are_read_one_by_one(service: Clocked) -> None:
    for number in range(20):
        _put(service, f"{number}", b={"S": "x" * (100_000 if number % 3 == 0 else 10)})
    found: list[Any] = []
    start: dict[str, Any] = {}
    while True:
        page = service.call("Scan", TableName="table", **start)
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    assert sorted(int(item["pk"]["S"]) for item in found) == list(range(20))
