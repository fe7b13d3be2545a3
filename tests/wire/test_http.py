"""HTTP/1.1 as clients of every kind speak it."""

import socket
import time

import pytest

from wiring import Client, Wire, request


def test_one_connection_answers_one_request_after_the_other(client: Client) -> None:
    for number in range(5):
        client.send(request("Echo", {"n": number}))
        answer = client.read()
        assert (answer.status, answer.json) == (200, {"n": number})
        assert answer.headers["connection"] == "keep-alive"


def test_pipelined_requests_are_answered_in_order(client: Client) -> None:
    client.send(b"".join(request("Echo", {"n": number}) for number in range(200)))
    assert [client.read().json["n"] for _ in range(200)] == list(range(200))


def test_a_read_behind_a_write_waits_for_it(wire: Wire, client: Client) -> None:
    wire.engine.hold = True
    try:
        client.send(request("Write", {"key": "k", "value": "v"}) + request("Read", {"key": "k"}))
        client.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.read()
    finally:
        wire.engine.hold = False
        wire.release()
    client.socket.settimeout(60)
    assert client.read().json == {}
    assert client.read().json == {"value": "v"}


def test_a_request_may_arrive_byte_by_byte(client: Client) -> None:
    for byte in request("Echo", {"a": 1}):
        client.send(bytes((byte,)))
    assert client.read().json == {"a": 1}


def test_header_names_have_no_case(client: Client) -> None:
    head, _, body = request("Who", {}).partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    for spelled in (bytes.lower, bytes.upper):
        named = [spelled(name) + b":" + value for name, _, value in (line.partition(b":") for line in lines)]
        client.send(b"\r\n".join([first, *named, b"", body]))
        assert client.read().json == ["AKID", "eu-west-1"]


def chunked(*chunks: bytes, trailer: bytes = b"") -> bytes:
    head = request("Echo", b"", b"Content-Length:", b"Transfer-Encoding: chunked")
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head + framed + b"0\r\n" + trailer + b"\r\n"


def test_chunked_bodies(client: Client) -> None:
    client.send(chunked(b'{"a"', b": ", b'"b"}'))
    assert client.read().json == {"a": "b"}
    client.send(chunked(b"{}", trailer=b"X-Amz-Target: DynamoDB_20120810.Crash\r\n"))
    assert client.read().json == {}
    client.send(request("Echo", {"next": True}))
    assert client.read().json == {"next": True}


def test_expect_100_continue(client: Client) -> None:
    whole = request("Echo", {"a": 1}, b"Expect: 100-continue")
    head, _, body = whole.partition(b"\r\n\r\n")
    client.send(head + b"\r\n\r\n")
    assert client.socket.recv(1024) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.send(body)
    assert client.read().json == {"a": 1}
    # A body that comes along makes the interim answer pointless.
    client.send(whole)
    assert client.read().status == 200


def test_another_expectation_fails(client: Client) -> None:
    client.send(request("Echo", {}, b"Expect: a-miracle").removesuffix(b"{}"))
    assert client.read().status == 417


def test_connection_close_is_heard(client: Client) -> None:
    client.send(request("Echo", {}, b"Connection: close") + request("Echo", {}))
    assert client.read().headers["connection"] == "close"
    assert client.closed()


def test_http_1_0_closes_unless_told_otherwise(wire: Wire) -> None:
    old = request("Echo", {}).replace(b"HTTP/1.1", b"HTTP/1.0")
    with wire.connect() as client:
        client.send(old)
        assert client.read().headers["connection"] == "close"
        assert client.closed()
    with wire.connect() as client:
        for _ in range(2):
            client.send(old.replace(b"\r\nHost", b"\r\nConnection: keep-alive\r\nHost"))
            assert client.read().headers["connection"] == "keep-alive"


def test_a_client_that_stops_sending_still_gets_its_answers(wire: Wire) -> None:
    wire.engine.hold = True
    with wire.connect() as client:
        client.send(request("Write", {"key": "h", "value": "1"}) + request("Read", {"key": "h"}))
        client.socket.shutdown(socket.SHUT_WR)
        time.sleep(0.1)
        wire.engine.hold = False
        wire.release()
        assert client.read().json == {}
        assert client.read().json == {"value": "1"}
        assert client.closed()


def test_an_offer_of_http_2_is_declined_quietly(client: Client) -> None:
    offer = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAoAAA")
    for _ in range(2):
        client.send(request("Echo", {"upgrade": "no"}, *offer))
        assert client.read().json == {"upgrade": "no"}
    client.send(request("Echo", {"plain": True}))
    assert client.read().json == {"plain": True}


def test_a_thousand_offers_in_one_packet_are_declined_one_by_one(client: Client) -> None:
    offer = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    with_body = request("Echo", {"n": 1}, b"Connection: Upgrade", b"Upgrade: h2c")
    client.send(offer * 2000 + with_body * 100)
    assert {client.read().status for _ in range(2000)} == {200}
    assert [client.read().json for _ in range(100)] == [{"n": 1}] * 100
    client.send(request("Echo", {"plain": True}))
    assert client.read().json == {"plain": True}


def test_a_declined_offer_that_says_close_is_the_last(client: Client) -> None:
    client.send(request("Echo", {}, b"Connection: close, Upgrade", b"Upgrade: h2c") + request("Echo", {}))
    assert client.read().headers["connection"] == "close"
    assert client.closed()


@pytest.mark.parametrize("offer", [b"", b"Connection: Upgrade\r\nUpgrade: h2c\r\n", b"Content-Length: 3\r\n"])
def test_connect_is_answered_and_the_connection_closed(client: Client, offer: bytes) -> None:
    head = b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n" + offer + b"\r\n"
    client.send(head + b"\x16\x03\x01garbage")
    answer = client.read()
    assert (answer.status, answer.headers["connection"]) == (501, "close")
    assert client.closed()


def test_head_has_no_body(client: Client) -> None:
    client.send(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    head = client.read(to_head=True)
    get = client.read()
    assert get.body.startswith(b"healthy: dynamodb")
    assert head.headers["content-length"] == get.headers["content-length"]
