"""Headers as they were sent: in order, with repeats and in their own case, however the bytes arrive."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from hashrange.wire.interfaces import Exchange
from hashrange.wire.limits import Limits
from wiring import Client, Wire

Fields = list[tuple[bytes, bytes]]
ODD: Fields = [
    (b"Host", b"localhost"),
    (b"x-Twice", b"one"),
    (b"X-TWICE", b"two"),
    (b"x-Twice", b"one"),
    (b"ZZZ", b""),
    (b"Aaa", b"a:b , c"),
]
PLAIN: Fields = [(b"Host", b"localhost"), (b"User-Agent", b"x"), (b"Accept", b"*/*")]


class Fielded:
    """An endpoint that answers with the headers it was sent."""

    def __init__(self) -> None:
        self.held: list[Exchange] = []
        self.hold = False

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        if self.hold:
            self.held.append(exchange)
        else:
            self.answer(exchange)

    def answer(self, exchange: Exchange) -> None:
        sent = [[name.decode(), value.decode()] for name, value in exchange.fields]
        body = orjson.dumps([exchange.url.decode(), sent, len(exchange.body)])
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(body), body)


ENDPOINT = Fielded()


@pytest.fixture(scope="module")
def fielded() -> Iterator[Wire]:
    running = Wire(Limits(pipelined_max=4), paths={b"/f": ENDPOINT}).start()
    yield running
    running.stop()


@pytest.fixture
def client(fielded: Wire) -> Iterator[Client]:
    with fielded.connect() as connection:
        yield connection


def head(fields: Fields, url: bytes = b"/f", method: bytes = b"GET") -> bytes:
    lines = [b"%b: %b" % field for field in fields]
    return b"\r\n".join([method + b" " + url + b" HTTP/1.1", *lines, b"", b""])


def sized(fields: Fields, body: bytes) -> Fields:
    return [*fields, (b"Content-Length", b"%d" % len(body))]


def shown(fields: Fields, url: str = "/f", body: bytes = b"") -> Any:
    return [url, [[name.decode(), value.decode()] for name, value in fields], len(body)]


def test_order_repeats_and_case_are_kept(client: Client) -> None:
    for fields in (ODD, PLAIN, ODD):
        client.send(head(fields))
        assert client.read().json == shown(fields)


def test_the_looked_up_headers_are_in_title_case_and_of_repeats_the_last(client: Client) -> None:
    seen: list[dict[bytes, bytes]] = []
    answer = ENDPOINT.answer

    def noted(exchange: Exchange) -> None:
        seen.append(dict(exchange.headers))
        answer(exchange)

    ENDPOINT.answer = noted  # type: ignore[method-assign]
    try:
        client.send(head([(b"Host", b"h"), (b"x-TWICE", b"1"), (b"X-Twice", b"2"), (b"x-amz-date", b"d")]))
        client.read()
    finally:
        ENDPOINT.answer = answer  # type: ignore[method-assign]
    assert seen == [{b"Host": b"h", b"X-Twice": b"2", b"X-Amz-Date": b"d"}]


@pytest.mark.parametrize("order", [(ODD, PLAIN, ODD), (PLAIN, ODD, PLAIN)])
def test_each_of_several_requests_in_one_packet_has_its_own(
    client: Client, order: tuple[Fields, ...]
) -> None:
    client.send(b"".join(head(fields, b"/f%d" % number) for number, fields in enumerate(order)))
    for number, fields in enumerate(order):
        assert client.read().json == shown(fields, f"/f{number}")


def test_requests_with_bodies_in_one_packet(client: Client) -> None:
    bodies = (b"one", b"", b"GET /f HTTP/1.1\r\nX: y\r\n\r\n")
    client.send(b"".join(head(sized(ODD, body), b"/f", b"POST") + body for body in bodies))
    for body in bodies:
        assert client.read().json == shown(sized(ODD, body), body=body)


def test_more_requests_than_may_wait(client: Client) -> None:
    client.send(b"".join(head(ODD, b"/f%d" % number) for number in range(20)))
    for number in range(20):
        assert client.read().json == shown(ODD, f"/f{number}")


def test_a_head_split_at_every_byte(fielded: Wire, client: Client) -> None:
    whole = head(ODD)
    for at in range(1, len(whole)):
        fielded.trickle(client, whole[:at], whole[at:])
        assert client.read().json == shown(ODD), at


def test_a_head_that_comes_byte_by_byte(fielded: Wire, client: Client) -> None:
    whole = head(ODD)
    fielded.trickle(client, *(whole[at : at + 1] for at in range(len(whole))))
    assert client.read().json == shown(ODD)


def test_requests_split_at_every_byte_behind_others(fielded: Wire, client: Client) -> None:
    first, second = head(PLAIN, b"/f1"), head(sized(ODD, b"body"), b"/f2", b"POST") + b"body"
    third = head(ODD, b"/f3")
    whole = first + second + third
    for at in range(1, len(whole), 3):
        fielded.trickle(client, whole[:at], whole[at:])
        assert client.read().json == shown(PLAIN, "/f1"), at
        assert client.read().json == shown(sized(ODD, b"body"), "/f2", b"body"), at
        assert client.read().json == shown(ODD, "/f3"), at


@pytest.mark.parametrize("size", [1, 1000, 200_000])
def test_a_body_in_later_packets(fielded: Wire, client: Client, size: int) -> None:
    body = b"x" * size
    fields = sized(ODD, body)
    fielded.trickle(client, head(fields, method=b"POST"), body[: size // 2], body[size // 2 :])
    assert client.read().json == shown(fields, body=body)
    client.send(head(PLAIN))
    assert client.read().json == shown(PLAIN)


@pytest.mark.parametrize("size", [10, 200_000])
def test_a_request_right_behind_the_end_of_a_body(fielded: Wire, client: Client, size: int) -> None:
    body = b"x" * size
    fields = sized(PLAIN, body)
    begin = head(fields, method=b"POST")
    behind = head(ODD, b"/f1") + head(PLAIN, b"/f2")
    fielded.trickle(client, begin + body[:4], body[4:] + behind[:100], behind[100:])
    assert client.read().json == shown(fields, body=body)
    assert client.read().json == shown(ODD, "/f1")
    assert client.read().json == shown(PLAIN, "/f2")


def test_a_request_right_behind_the_end_of_a_chunked_body(fielded: Wire, client: Client) -> None:
    fields = [*ODD, (b"Transfer-Encoding", b"chunked")]
    begin = head(fields, method=b"POST")
    for split in (1, 4, 9, 14):
        body = b"4\r\nabcd\r\n0\r\nX-Trailer: t\r\n\r\n"
        fielded.trickle(client, begin + body[:split], body[split:] + head(ODD, b"/f1"))
        assert client.read().json == shown(fields, body=b"abcd")
        assert client.read().json == shown(ODD, "/f1")


def test_an_answer_that_comes_later_still_has_its_headers(fielded: Wire, client: Client) -> None:
    ENDPOINT.hold = True
    try:
        fielded.trickle(client, head(ODD, b"/f1") + head(PLAIN, b"/f2")[:20], head(PLAIN, b"/f2")[20:])
        fielded.call(lambda: [ENDPOINT.answer(exchange) for exchange in ENDPOINT.held[:1]])
        assert client.read().json == shown(ODD, "/f1")
    finally:
        ENDPOINT.hold = False
    fielded.call(lambda: [ENDPOINT.answer(exchange) for exchange in ENDPOINT.held[1:]])
    assert client.read().json == shown(PLAIN, "/f2")
    ENDPOINT.held.clear()


UPGRADE: Fields = [
    *ODD,
    (b"Connection", b"Upgrade, HTTP2-Settings"),
    (b"Upgrade", b"h2c"),
    (b"HTTP2-Settings", b"A"),
]


def test_the_headers_of_a_request_that_offered_another_protocol(client: Client) -> None:
    client.send(head(UPGRADE) + head(PLAIN, b"/f1"))
    assert client.read().json == shown(UPGRADE)
    assert client.read().json == shown(PLAIN, "/f1")
    client.send(head(ODD))
    assert client.read().json == shown(ODD)


def test_a_declined_upgrade_behind_another_request(client: Client) -> None:
    body = b"body"
    fields = sized(UPGRADE, body)
    client.send(head(PLAIN, b"/f1") + head(fields, b"/f2", b"POST") + body + head(ODD, b"/f3"))
    assert client.read().json == shown(PLAIN, "/f1")
    assert client.read().json == shown(fields, "/f2", body)
    assert client.read().json == shown(ODD, "/f3")


def test_what_was_received_is_not_kept_for_ever(fielded: Wire, client: Client) -> None:
    """A client that never ends a packet with the end of a request leaves only its last bytes behind."""
    whole = head(ODD)
    fielded.trickle(client, whole[:20])
    for _ in range(50):
        fielded.trickle(client, whole[20:] + whole[:20])
        assert client.read().json == shown(ODD)
    connections: Any = fielded._listener._shared.connections
    assert max(sum(map(len, connection._received)) for connection in connections) < 3 * len(whole)
