"""Servers whose hosts disagree about the time: they go by the clock of the database that they share."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from item_tables import definitions, key_schema
from serving import Answer, Serving, serving

_SKEWED = """import time
_time, _time_ns = time.time, time.time_ns
time.time = lambda: _time() + {seconds}
time.time_ns = lambda: _time_ns() + {seconds} * 10**9
"""


def server_that_is_ahead(
    stack: ExitStack, folder: Path, database: str, seconds: int, **flags: str
) -> Serving:
    """A server on a host whose clock is wrong by so much."""
    place = folder / f"skew{seconds}"
    place.mkdir()
    (place / "sitecustomize.py").write_text(_SKEWED.format(seconds=seconds))
    words = [word for name, value in flags.items() for word in (f"--{name.replace('_', '-')}", value)]
    return stack.enter_context(serving("--engine", database, *words, environment={"PYTHONPATH": str(place)}))


def good(answer: Answer) -> Any:
    assert answer.status == 200, answer
    return answer.body


def create(server: Serving, name: str) -> Any:
    request = {
        "TableName": name,
        "AttributeDefinitions": definitions(pk="S"),
        "KeySchema": key_schema("pk"),
        "BillingMode": "PAY_PER_REQUEST",
    }
    return good(server.post("CreateTable", request))["TableDescription"]


@pytest.mark.parametrize("skew", [-30, 30, 700, -86400])
def test_a_table_is_there_on_every_server_at_once(database: str, tmp_path: Path, skew: int) -> None:
    with ExitStack() as stack:
        right = server_that_is_ahead(stack, tmp_path, database, 0, transition_ms="0")
        wrong = server_that_is_ahead(stack, tmp_path, database, skew, transition_ms="0")
        for number, (one, two) in enumerate([(right, wrong), (wrong, right)]):
            name = f"table{number}"
            made = create(one, name)
            item = {"pk": {"S": "x"}}
            good(two.post("PutItem", {"TableName": name, "Item": item}))
            shown = good(two.post("DescribeTable", {"TableName": name}))["Table"]
            assert shown["TableStatus"] == "ACTIVE"
            assert shown["CreationDateTime"] == made["CreationDateTime"]
            good(two.post("DeleteTable", {"TableName": name}))
            gone = one.post("GetItem", {"TableName": name, "Key": item, "ConsistentRead": True})
            assert gone.error == "ResourceNotFoundException"


def test_a_token_is_good_for_ten_minutes_on_every_server(database: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        right = server_that_is_ahead(stack, tmp_path, database, 0)
        ahead = server_that_is_ahead(stack, tmp_path, database, 700)
        create(right, "counts")
        update = {
            "Update": {
                "TableName": "counts",
                "Key": {"pk": {"S": "n"}},
                "UpdateExpression": "ADD n :one",
                "ExpressionAttributeValues": {":one": {"N": "1"}},
            }
        }
        request = {"TransactItems": [update], "ClientRequestToken": "once"}
        for server in (right, ahead, right, ahead):
            good(server.post("TransactWriteItems", request))
        key = {"TableName": "counts", "Key": {"pk": {"S": "n"}}, "ConsistentRead": True}
        assert good(right.post("GetItem", key))["Item"]["n"] == {"N": "1"}
