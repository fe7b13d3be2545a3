"""Tables, keys and error checks that the tests of item operations share."""

import itertools
import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

Item = dict[str, dict[str, Any]]
_numbers = itertools.count()


def unique(prefix: str = "k") -> str:
    """A text that no other test of this run uses, in whichever worker."""
    return f"{prefix}-{os.getpid()}-{next(_numbers)}"


def key_schema(*names: str) -> list[dict[str, str]]:
    """A hash key and perhaps a range key."""
    return [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def definitions(**types: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def index(name: str, *keys: str, projection: str = "ALL", included: tuple[str, ...] = ()) -> dict[str, Any]:
    """The definition of an index with a hash key and perhaps a range key."""
    shown: dict[str, Any] = {"ProjectionType": projection}
    if included:
        shown["NonKeyAttributes"] = list(included)
    return {"IndexName": name, "KeySchema": key_schema(*keys), "Projection": shown}


def make_table(client: Any, *keys: str, **options: Any) -> str:
    """Create a table, wait until it is there, and give its name. `types` declares attribute types (else S)."""
    name = options.pop("TableName", None) or unique("table")
    types = options.pop("types", {})
    request: dict[str, Any] = {
        "TableName": name,
        "KeySchema": key_schema(*keys),
        "AttributeDefinitions": definitions(**(dict.fromkeys(keys, "S") | types)),
        **options,
    }
    if "ProvisionedThroughput" not in request:
        request["BillingMode"] = "PAY_PER_REQUEST"
    client.create_table(**request)
    wait_until_active(client, name)
    return str(name)


def wait_until_active(client: Any, name: str) -> None:
    deadline = time.monotonic() + 60
    while client.describe_table(TableName=name)["Table"]["TableStatus"] != "ACTIVE":
        assert time.monotonic() < deadline, f"{name} did not become active"
        time.sleep(0.005)


def refused(call: Callable[..., Any], **parameters: Any) -> tuple[str, str]:
    """Code and message of the error that a call must answer with."""
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def invalid(call: Callable[..., Any], **parameters: Any) -> str:
    """Message of the ValidationException that a call must answer with."""
    code, message = refused(call, **parameters)
    assert code == "ValidationException", message
    return message


def pages(call: Callable[..., Any], **parameters: Any) -> list[dict[str, Any]]:
    """Every page of a Query or Scan; more than a thousand of them would be an endless loop."""
    found = []
    for _ in range(1000):
        page = call(**parameters)
        found.append(page)
        if "LastEvaluatedKey" not in page:
            return found
        parameters["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    raise AssertionError("paging does not end")


def all_items(call: Callable[..., Any], **parameters: Any) -> list[Item]:
    """The items of all pages."""
    return [item for page in pages(call, **parameters) for item in page["Items"]]
