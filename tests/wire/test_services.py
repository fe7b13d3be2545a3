"""Several services on one endpoint: by target prefix, by path, by the version in a form."""

from collections.abc import Iterator
from typing import Any

import pytest

from hashrange.api.protocol.operation import Service
from hashrange.wire.interfaces import Exchange
from wiring import Fake, Response, Wire, echo, fail, request

OTHER = b"Other_20260101."
NOT_FOUND = b"<UnknownOperationException/>\n"
FORM = b"Content-Type: application/x-www-form-urlencoded"


class Named:
    """An endpoint that says its name and what it was sent."""

    def __init__(self, name: bytes) -> None:
        self.name = name

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        body = b" ".join((self.name, exchange.method, exchange.url, bytes(exchange.body)))
        head = b"HTTP/1.1 200 OK\r\nx-amzn-RequestId: %b\r\nContent-Length: %d\r\n" % (request_id, len(body))
        exchange.send(head, body)


@pytest.fixture(scope="module")
def services() -> Iterator[Wire]:
    operations: Any = {"Fail": Fake(fail), "Echo": Fake(lambda _, sent: echo(_, {"other": sent}))}
    running = Wire(
        services=(Service("other", OTHER.decode(), "com.example.other#", operations, "other"),),
        paths={b"/v1/": Named(b"v1"), b"/v1/deep/": Named(b"deep"), b"/v2": Named(b"v2")},
        query_versions={"2011-06-15": Named(b"sts"), "2010-05-08": Named(b"iam")},
    ).start()
    yield running
    running.stop()


def http(wire: Wire, first_line: bytes, *headers: bytes, body: bytes = b"") -> Response:
    lines = [first_line + b" HTTP/1.1", b"Host: localhost", b"Content-Length: %d" % len(body), *headers]
    with wire.connect() as client:
        client.send(b"\r\n".join([*lines, b"", body]))
        return client.read()


def test_each_target_prefix_has_its_own_operations(services: Wire) -> None:
    with services.connect() as client:
        client.send(request("Echo", {"a": 1}))
        assert client.read().json == {"a": 1}
        client.send(request("Echo", {"a": 1}, target=OTHER))
        assert client.read().json == {"other": {"a": 1}}
        client.send(request("Who", {}, target=OTHER))
        answer = client.read()
        assert (answer.status, answer.error) == (400, "com.amazon.coral.service#UnknownOperationException")
        client.send(request("Echo", {}, target=b"Third."))
        assert client.read().error == "com.amazon.coral.service#UnknownOperationException"


def test_errors_have_the_namespace_of_their_service(services: Wire) -> None:
    sent = {"code": "LimitExceededException", "message": "too many"}
    with services.connect() as client:
        for target, namespace in (
            (b"DynamoDB_20120810.", "com.amazonaws.dynamodb.v20120810#"),
            (OTHER, "com.example.other#"),
        ):
            client.send(request("Fail", sent, target=target))
            answer = client.read()
            assert answer.json == {"__type": f"{namespace}LimitExceededException", "message": "too many"}
            assert answer.headers["x-amzn-errortype"] == "LimitExceededException"
            # Errors of the layer that all services share have its own.
            client.send(request("Fail", {"code": "ValidationException"}, target=target))
            assert client.read().error == "com.amazon.coral.validate#ValidationException"


def test_the_longest_beginning_of_a_path_is_taken(services: Wire) -> None:
    for url, body in (
        (b"/v1/", b"v1"),
        (b"/v1/things", b"v1"),
        (b"/v1/deep", b"v1"),
        (b"/v1/deep/", b"deep"),
        (b"/v1/deep/things?x=/v2", b"deep"),
        (b"/v2", b"v2"),
        (b"/v2?a=b", b"v2"),
        (b"/v2things", b"v2"),
    ):
        answer = http(services, b"GET " + url)
        assert (answer.status, answer.body) == (200, body + b" GET " + url + b" ")
        assert "x-amzn-requestid" in answer.headers


def test_a_path_endpoint_gets_any_method_and_its_body(services: Wire) -> None:
    for method in (b"PUT", b"POST", b"DELETE", b"OPTIONS"):
        answer = http(services, method + b" /v1/things", b"Content-Type: text/plain", body=b"abc")
        assert answer.body == b"v1 " + method + b" /v1/things abc"


def test_a_form_is_answered_by_the_service_of_its_version(services: Wire) -> None:
    for version, name in ((b"2011-06-15", b"sts"), (b"2010-05-08", b"iam")):
        body = b"Action=Do&Version=" + version + b"&Name=%20x"
        answer = http(services, b"POST /", FORM, body=body)
        assert answer.body == name + b" POST / " + body
    charset = http(services, b"POST /", FORM + b"; charset=utf-8", body=b"Version=2011-06-15")
    assert charset.body.startswith(b"sts ")


@pytest.mark.parametrize(
    ("first_line", "headers", "body"),
    [
        (b"POST /", (FORM,), b"Action=Do&Version=1999-01-01"),
        (b"POST /", (FORM,), b"Action=Do"),
        (b"POST /", (FORM,), b""),
        (b"POST /", (FORM,), b"\xff\xfe=%zz&&&;"),
        (b"POST /", (b"Content-Type: text/plain",), b"Version=2011-06-15"),
        (b"POST /", (), b""),
        (b"GET /v3/", (), b""),
        (b"GET /v1", (), b""),
        (b"PUT /", (), b""),
    ],
)
def test_what_nobody_knows_gets_the_same_404_as_ever(
    services: Wire, first_line: bytes, headers: tuple[bytes, ...], body: bytes
) -> None:
    answer = http(services, first_line, *headers, body=body)
    assert (answer.status, answer.body) == (404, NOT_FOUND)


def test_the_root_and_json_are_left_alone(services: Wire) -> None:
    assert http(services, b"GET /").body == b"healthy: dynamodb.us-east-1.amazonaws.com "
    assert services.post("Echo", {"a": 1}).json == {"a": 1}
    # On another path a JSON request is whatever that path's endpoint makes of it.
    answer = http(
        services,
        b"POST /v1/",
        b"Content-Type: application/x-amz-json-1.0",
        b"X-Amz-Target: DynamoDB_20120810.Nothing",
        body=b"{}",
    )
    assert answer.body == b"v1 POST /v1/ {}"
