"""Who sent a request is read from that request, whatever its connection carried before."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from hashrange.wire.identity import ClaimedCallers, Identity
from serving import AUTHORIZATION, Serving, serving

OPERATION = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": "DynamoDB_20120810.ListTables",
}
DATE = {"X-Amz-Date": "20260101T000000Z"}
GOOD = {**OPERATION, **DATE, "Authorization": AUTHORIZATION}
CREDENTIAL, _, _ = AUTHORIZATION.partition(", SignedHeaders")
ELSEWHERE = AUTHORIZATION.replace("us-east-1", "eu-west-1")
PRESIGNED = (
    "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=test/20260101/eu-west-1/dynamodb/aws4_request"
    "&X-Amz-Date=20260101T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=1"
)
MISSING, INCOMPLETE = "MissingAuthenticationTokenException", "IncompleteSignatureException"
HERE, NOWHERE = ["here"], list[str]()
REQUESTS: dict[str, tuple[str, Mapping[str, str], str | list[str]]] = {
    "the same again": ("/", GOOD, HERE),
    "no date": ("/", {**OPERATION, "Authorization": AUTHORIZATION}, INCOMPLETE),
    "HTTP's own date": ("/", {**OPERATION, "Authorization": AUTHORIZATION, "Date": "today"}, HERE),
    "no authorization": ("/", {**OPERATION, **DATE}, MISSING),
    "no signature": ("/", {**GOOD, "Authorization": AUTHORIZATION.partition(", Signature")[0]}, INCOMPLETE),
    "an empty signature": ("/", {**GOOD, "Authorization": AUTHORIZATION.removesuffix("0")}, INCOMPLETE),
    "no signed headers": ("/", {**GOOD, "Authorization": CREDENTIAL + ", Signature=0"}, INCOMPLETE),
    "another signature": ("/", {**GOOD, "Authorization": AUTHORIZATION + "1"}, HERE),
    "another region": ("/", {**GOOD, "Authorization": ELSEWHERE}, NOWHERE),
    "a presigned URL": (PRESIGNED, OPERATION, NOWHERE),
    "both kinds of signature": (PRESIGNED, GOOD, "InvalidSignatureException"),
}


@pytest.fixture(scope="module")
def running() -> Iterator[Serving]:
    """A server with one table, `here`, in us-east-1."""
    with serving("--in-memory", "--log-level", "warning") as server:
        created = server.post(
            "CreateTable",
            {
                "TableName": "here",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        assert created.status == 200
        yield server


def ask(connection: http.client.HTTPConnection, url: str, headers: Mapping[str, str]) -> Any:
    """The names of the tables, or the code of the error."""
    connection.request("POST", url, b"{}", dict(headers))
    response = connection.getresponse()
    body = json.loads(response.read())
    return body["TableNames"] if response.status == 200 else body["__type"].rpartition("#")[2]


@pytest.mark.parametrize("what", REQUESTS)
@pytest.mark.parametrize("before", ["nothing", "the same again", "another region"])
def test_a_request_is_answered_as_it_would_be_alone(running: Serving, before: str, what: str) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)) as connection:
        if before != "nothing":
            url, headers, expected = REQUESTS[before]
            for _ in range(2):
                assert ask(connection, url, headers) == expected
        socket = connection.sock
        url, headers, expected = REQUESTS[what]
        assert ask(connection, url, headers) == expected
        assert socket is None or connection.sock in (socket, None), "it was not the same connection"


@pytest.mark.parametrize(("length", "contexts"), [(128, 1), (129, 2)])
def test_an_access_key_longer_than_any_is_not_remembered(length: int, contexts: int) -> None:
    made: list[Identity] = []

    def context_for(identity: Identity) -> Any:
        made.append(identity)
        return identity

    authorization = AUTHORIZATION.replace("=test/", f"={'k' * length}/").encode()
    callers = ClaimedCallers(context_for)
    for _ in range(2):
        exchange: Any = SimpleNamespace(
            headers={b"Authorization": authorization, b"X-Amz-Date": b"x"}, url=b"/", identity_cache=None
        )
        callers.identify(exchange, "dynamodb")
    assert len(made) == contexts
