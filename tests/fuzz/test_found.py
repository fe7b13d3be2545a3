"""What the spoilt requests brought to light, kept as plain cases."""

from collections.abc import Callable
from typing import Any

import pytest

from fuzz import hostile
from serving import Answer, Serving

Raw = Callable[..., Answer]


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(levels):
        value = {"M": {"m": value}}
    return value


def test_a_transaction_nested_too_deep_for_its_fingerprint_is_refused(raw: Raw) -> None:
    put = {"TableName": "none", "Item": {"pk": {"S": "a"}, "x": _deep(200)}}
    answer = raw("TransactWriteItems", {"TransactItems": [{"Put": put}], "ClientRequestToken": "deep"})
    assert (answer.status, answer.error) == (400, "ValidationException")
    assert answer.body["message"].startswith("Nesting Levels have exceeded supported limits")


def test_a_statement_with_a_parameter_nested_too_deep_is_refused(raw: Raw) -> None:
    request = {"Statement": "SELECT * FROM none WHERE pk = ?", "Parameters": [_deep(200)]}
    answer = raw("ExecuteStatement", request)
    assert (answer.status, answer.error) == (400, "ValidationException")


@pytest.mark.parametrize(
    ("limit", "error"),
    [
        *((limit, "ResourceNotFoundException") for limit in (2**31, 2**63, 10**40, 1e308)),
        (-(2**63) - 1, "ValidationException"),
    ],
)
def test_a_number_no_integer_can_hold_is_cut_to_what_one_holds(raw: Raw, limit: float, error: str) -> None:
    answer = raw("Scan", {"TableName": "none", "Limit": limit})
    assert (answer.status, answer.error) == (400, error)


@pytest.mark.parametrize("values", [5, {}, {"x": 1}, [[]]])
def test_values_are_an_unknown_member_where_no_expression_takes_any(raw: Raw, values: Any) -> None:
    get = {"TableName": "none", "Key": {"pk": {"S": "a"}}, "ProjectionExpression": "a"}
    answer = raw("GetItem", {**get, "ExpressionAttributeValues": values})
    assert (answer.status, answer.error) == (400, "ResourceNotFoundException")


def test_rubbish_behind_a_request_that_offers_an_upgrade_is_the_clients_fault(server: Serving) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}"
    assert hostile.exchange(server.port, head + b"zz\r\n\x00")[-1] == 400


@pytest.mark.parametrize("rubbish", ["text", 5, [1], {"a": "text"}])
@pytest.mark.parametrize("member", ["Item", "AttributeUpdates"])
def test_a_member_of_another_operation_can_be_anything(raw: Raw, member: str, rubbish: Any) -> None:
    delete = {"TableName": "none", "Key": {"pk": {"S": "a"}}, "ReturnConsumedCapacity": "MUCH"}
    answer = raw("DeleteItem", {**delete, member: rubbish})
    assert (answer.status, answer.error) == (400, "ValidationException")
