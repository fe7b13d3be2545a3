"""Requests that repeat the head before them are answered without a second look at it, and all others with one."""

import itertools

import pytest

from hashrange.wire import json_endpoint, usual_requests
from hashrange.wire.router import Router
from wiring import Wire, request

SCOPE = (
    b"AWS4-HMAC-SHA256 Credential=%b/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature="
)


def signed(key: bytes = b"AKID", digits: bytes = b"0") -> bytes:
    return b"Authorization: " + SCOPE % key + digits * 64


def sent(operation: str = "Who", *headers: bytes, body: object = None) -> bytes:
    return request(operation, {} if body is None else body, signed(), *headers)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The targets of requests that the router looked at."""
    if usual_requests.helper is None:
        pytest.skip("there was no C compiler")
    targets: list[bytes] = []
    handle = Router.handle

    def looked(self: Router, exchange: object) -> None:
        targets.append(exchange.headers.get(b"X-Amz-Target", b""))  # type: ignore[attr-defined]
        handle(self, exchange)  # type: ignore[arg-type]

    monkeypatch.setattr(Router, "handle", looked)
    return targets


def answers(wire: Wire, *requests: bytes) -> list[object]:
    with wire.connect() as client:
        found = []
        for one in requests:
            client.send(one)
            found.append(client.read().json)
        return found


@pytest.fixture
def wire(wire: Wire) -> Wire:
    wire.post("Who", {})  # from here on the Host is known
    return wire


def test_a_head_is_looked_at_once_for_each_operation(wire: Wire, looks: list[bytes]) -> None:
    looks.clear()
    requests = [
        sent(
            operation,
            signed(digits=b"%d" % number),
            b"X-Amz-Date: 20260101T00000%dZ" % number,
            body={"n": number},
        )
        for number, operation in itertools.product(range(3), ("Who", "Echo"))
    ]
    found = answers(wire, *requests)
    assert found == [
        ["AKID", "eu-west-1"],
        {"n": 0},
        ["AKID", "eu-west-1"],
        {"n": 1},
        ["AKID", "eu-west-1"],
        {"n": 2},
    ]
    assert looks == [b"DynamoDB_20120810.Who", b"DynamoDB_20120810.Echo"]


def test_what_an_sdk_counts_is_no_difference(wire: Wire, looks: list[bytes]) -> None:
    looks.clear()
    for number in range(3):
        counts = b"Amz-Sdk-Invocation-Id: %d" % number, b"Amz-Sdk-Request: attempt=%d" % number
        answers(wire, sent("Who", *counts), sent("Who", *counts))
    assert len(looks) == 3  # one for each connection


@pytest.mark.parametrize(
    "header",
    [
        signed(b"BKID"),
        signed(b"LONGERKID"),
        b"Authorization: " + SCOPE % b"AKID" + b"0" * 63,
        b"Authorization: " + SCOPE % b"AKID" + b"0" * 65,
        b"Authorization: ",
        b"X-Amz-Date: ",
        b"Content-Type: application/x-amz-json-1.1",
        b"Content-Type: text/plain",
        b"Origin: http://localhost:3000",
        b"Origin: http://example.com",
        b"Accept-Encoding: gzip",
        b"Content-Encoding: gzip",
        b"User-Agent: another",
        b"X-Amz-Security-Token: one",
        b"X-Unknown: one",
        b"Host: localhost:1",
        b"X-Amz-Target: ",
    ],
)
def test_every_other_difference_is_looked_at(wire: Wire, looks: list[bytes], header: bytes) -> None:
    requests = [sent(), sent(), sent("Who", header), sent("Who", header), sent(), sent()]
    together = [(answer.status, answer.body) for answer in responses(wire, requests)]
    alone = [(answer.status, answer.body) for one in requests for answer in responses(wire, [one])]
    assert together == alone
    looks.clear()
    responses(wire, [sent(), sent("Who", header), sent()])
    assert len(looks) == 3


def test_there_is_nothing_to_repeat_for_what_is_no_operation(wire: Wire, looks: list[bytes]) -> None:
    nothing = sent("Nothing")
    looks.clear()
    found = responses(wire, [sent(), nothing, sent(), nothing])
    assert [answer.status for answer in found] == [200, 400, 200, 400]
    assert looks == [b"DynamoDB_20120810." + name for name in (b"Who", b"Nothing", b"Nothing")]


def responses(wire: Wire, requests: list[bytes]) -> list:  # type: ignore[type-arg]
    found = []
    with wire.connect() as client:
        for one in requests:
            client.send(one)
            found.append(client.read())
    return found


def test_a_request_that_is_read_by_the_parser_leaves_no_trace(wire: Wire, looks: list[bytes]) -> None:
    unusual = sent("Who", signed(b"BKID"), b"X-A:b").replace(b"X-A: b", b"X-A:b")
    found = answers(wire, sent(), unusual, sent(), unusual, sent())
    assert [answer[0] for answer in found] == ["AKID", "BKID", "AKID", "BKID", "AKID"]  # type: ignore[index]


def test_a_credential_behind_the_signature_is_read(wire: Wire) -> None:
    def behind(key: bytes) -> bytes:
        credential = b",Credential=%b/20260101/eu-west-1/dynamodb/aws4_request" % key
        digits = b"0" * (64 - len(credential))
        return b"Authorization: AWS4-HMAC-SHA256 SignedHeaders=host, Signature=" + digits + credential

    found = answers(wire, *(sent("Who", behind(key)) for key in (b"AKID", b"BKID", b"BKID", b"AKID")))
    assert [answer[0] for answer in found] == ["AKID", "BKID", "BKID", "AKID"]  # type: ignore[index]


def test_what_is_wrong_with_a_repeated_request_is_told(wire: Wire, looks: list[bytes]) -> None:
    requests = [sent("Echo", body={"n": 1}), sent("Echo", body=b"{"), sent("Fail", body={"code": "Bad"})]
    first = responses(wire, requests)
    looks.clear()
    again = responses(wire, [*requests, *requests])
    assert [(answer.status, answer.json) for answer in again] == 2 * [(one.status, one.json) for one in first]
    assert [answer.status for answer in first] == [200, 400, 400]
    assert len(looks) == 2  # one for each operation
    ids = [answer.headers["x-amzn-requestid"] for answer in again]
    assert len(set(ids)) == len(ids)


def test_large_bodies_of_repeated_requests_are_read_elsewhere(wire: Wire, looks: list[bytes]) -> None:
    bodies = [{"a": "x" * more} for more in (0, 10, json_endpoint.LOOP_BYTES_MAX + 1, 10)]
    looks.clear()
    assert answers(wire, *(sent("Echo", body=body) for body in bodies)) == bodies
    assert len(looks) == 1
