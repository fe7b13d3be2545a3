"""What one client may take of the server, from both sides of each limit."""

import contextlib
import select
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from hashrange.api.protocol.plan import Answer, Plan
from wiring import AUTHORIZATION, OPERATIONS, Client, Fake, Wire, eventually, rendered_as, request

MIB = 1024 * 1024


def padded(size: int) -> bytes:
    return b'{"a": "' + b"x" * (size - 9) + b'"}'


def test_body_size(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(body_bytes_max=100_000)
    assert wire.post("Echo", padded(100_000)).status == 200
    answer = wire.post("Echo", padded(100_001))
    assert (answer.status, answer.headers["connection"]) == (413, "close")
    assert answer.error == "com.amazon.coral.service#RequestEntityTooLargeException"


def test_a_body_announced_as_too_large_is_not_read(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(body_bytes_max=1000)
    with wire.connect() as client:
        client.send(request("Echo", b"", b"Content-Length: 1001", b"Expect: 100-continue"))
        assert client.read().status == 413


def test_a_refusal_is_seen_by_a_client_that_goes_on_sending(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(body_bytes_max=1000, linger_seconds=1.0)
    with wire.connect() as client:
        client.send(request("Echo", padded(8 * MIB)))
        assert client.read().status == 413
        assert client.closed()


def test_chunked_body_size(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(body_bytes_max=100_000)
    head = request("Echo", b"", b"Content-Length:", b"Transfer-Encoding: chunked")
    for size, status in ((100_000, 200), (100_001, 413)):
        with wire.connect() as client:
            client.send(head + b"%x\r\n%b\r\n0\r\n\r\n" % (size, padded(size)))
            assert client.read().status == status


def test_endless_chunk_extensions_and_trailers_are_cut_off(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire()
    head = request("Echo", b"", b"Content-Length:", b"Transfer-Encoding: chunked")
    for endless in (b"2;" + b"x" * MIB, b"2\r\n{}\r\n0\r\nX: " + b"y" * MIB):
        with wire.connect() as client:
            client.send(head + endless)
            assert client.read().status == 400


def test_head_size(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(head_bytes_max=8192)
    assert wire.post("Echo", {}, b"X: " + b"x" * 7000).status == 200
    for size in (8192, 300_000):
        answer = wire.post("Echo", {}, b"X: " + b"x" * size)
        assert (answer.status, answer.headers["connection"]) == (400, "close")
    with wire.connect() as client:
        client.send(b"POST /" + b"x" * 10_000)
        assert client.read().status == 400


def test_header_count(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(headers_max=20)
    fourteen = [b"X-%d: y" % number for number in range(14)]
    assert wire.post("Echo", {}, *fourteen).status == 200
    assert wire.post("Echo", {}, *fourteen, b"X-Last: y").status == 400


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"POST / HTTP/9.9\r\n\r\n",
        b"hello\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nBad Header: 1\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    ],
)
def test_what_is_not_http_gets_400_and_the_door(wire: Wire, nonsense: bytes) -> None:
    with wire.connect() as client:
        client.send(nonsense)
        assert client.read().status == 400
        assert client.closed()


def test_nonsense_behind_a_request_does_not_cost_it_its_answer(wire: Wire) -> None:
    with wire.connect() as client:
        client.send(request("Echo", {"a": 1}) + request("Echo", {"a": 2}) + b"\x00\x00\x00")
        assert [client.read().json for _ in range(2)] == [{"a": 1}, {"a": 2}]
        assert client.read().status == 400
        assert client.closed()


def test_idle_connections_are_closed(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(idle_seconds=1.0)  # within which a busy machine gets to send a request
    with wire.connect() as silent, wire.connect() as used:
        used.send(request("Echo", {}))
        assert used.read().status == 200
        assert silent.closed()
        assert used.closed()
    assert eventually(lambda: wire.connections() == 0)


def test_slow_headers_time_out_however_steadily_they_drip(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(head_seconds=0.3)
    with wire.connect() as client:
        client.send(b"POST / HTTP/1.1\r\n")
        drip(client, b"X-A: b\r\n")
        assert client.read().status == 408
        assert client.closed()


def test_slow_bodies_time_out_however_steadily_they_drip(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(body_seconds=0.3)
    with wire.connect() as client:
        client.send(request("Echo", b"", b"Content-Length: 1000"))
        drip(client, b"x")
        assert client.read().status == 408
        assert client.closed()


def drip(client: Client, data: bytes) -> None:
    for _ in range(12):
        time.sleep(0.05)
        client.send(data)


def test_a_request_under_way_is_not_timed_out(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(idle_seconds=0.6, head_seconds=0.6, body_seconds=0.6)
    wire.engine.hold = True
    with wire.connect() as client:
        client.send(request("Write", {"key": "a", "value": "b"}))
        time.sleep(1.0)
        wire.release()
        wire.engine.hold = False
        assert client.read().status == 200


def test_a_client_that_never_reads_stops_being_served(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(unread_seconds=0.5, unsent_bytes_max=65536)
    with Client(wire.port, receive_buffer=4096) as greedy, wire.connect() as other:
        # Long enough for a busy machine to answer the first request; by then the server is the one that is stuck.
        greedy.socket.settimeout(5)
        assert send_until_stuck(greedy, request("Big", {"bytes": 1_000_000}), 16 * MIB) < 16 * MIB
        other.send(request("Echo", {"still": "here"}))
        assert other.read().json == {"still": "here"}
        assert eventually(lambda: wire.connections() == 1, 60)


def send_until_stuck(client: Client, data: bytes, most: int) -> int:
    """Send the same bytes again and again; give how many went out before the server stopped taking them."""
    sent = 0
    with contextlib.suppress(TimeoutError, ConnectionError):
        while sent < most:
            client.send(data)
            sent += len(data)
    return sent


@pytest.mark.slow
def test_a_slow_reader_gets_everything_in_the_end(small_wire: Callable[..., Wire]) -> None:
    """It takes longer than the server waits for a client that reads nothing, but it does go on reading."""
    wire = small_wire(unread_seconds=4.0, unsent_bytes_max=65536)
    with Client(wire.port, receive_buffer=65536) as slow:
        slow.send(request("Big", {"bytes": 16_000_000}))
        received = 0
        while received < 16_000_000:
            time.sleep(0.02)
            data = slow.socket.recv(1 << 16)
            assert data, "the server hung up"
            received += len(data)


def test_pipelining_without_reading_answers_is_bounded(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(pipelined_max=4, unread_seconds=30.0)
    wire.engine.hold = True
    with wire.connect() as client:
        client.send(request("Write", {"key": "a", "value": "b"}))
        client.socket.settimeout(0.5)
        assert send_until_stuck(client, request("Echo", padded(100_000)), 64 * MIB) < 32 * MIB
        wire.engine.hold = False
        wire.release()


def test_partial_bodies_are_bounded_over_all_connections(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(request_bytes_max=MIB)
    clients = [wire.connect() for _ in range(4)]
    try:
        for client in clients:
            client.send(request("Echo", b"x" * 400_000, b"Content-Length: 500000"))
        # There is room for two of them, whichever come first.
        assert eventually(lambda: len(answered(clients)) == 2)
        refused = answered(clients)
        for client in refused:
            answer = client.read()
            assert answer.status == 503
            assert answer.error == "com.amazon.coral.service#ServiceUnavailableException"
        for client in clients:
            if client not in refused:
                client.send(b"x" * 100_000)
                assert client.read().status == 400
    finally:
        for client in clients:
            client.socket.close()


def answered(clients: list[Client]) -> list[Client]:
    """Those for whom something has come."""
    ready, _, _ = select.select([client.socket for client in clients], [], [], 0)
    return [client for client in clients if client.socket in ready]


def test_a_flood_on_one_connection_does_not_hold_up_another(
    small_wire: Callable[..., Wire], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When both are there to be read, the requests of the other come about as often as the flood's."""
    order: list[str] = []

    def record(_: Any, body: dict[str, Any]) -> Plan:
        order.append(body["from"])
        return Answer(rendered_as({}))

    monkeypatch.setitem(OPERATIONS, "Record", Fake(record))
    wire = small_wire()
    with wire.connect() as hostile, wire.connect() as other:
        for client in (hostile, other):
            client.send(request("Echo", {}))
            assert client.read().status == 200
        held, go = threading.Event(), threading.Event()
        wire.call(lambda: (held.set(), go.wait(60)))
        assert held.wait(60)
        hostile.send(request("Record", {"from": "hostile"}) * 300)
        other.send(request("Record", {"from": "other"}) * 20)
        go.set()
        assert [other.read().status for _ in range(20)] == [200] * 20
        assert [hostile.read().status for _ in range(300)] == [200] * 300
    last = len(order) - 1 - order[::-1].index("other")
    assert order[:last].count("hostile") < 60


def test_many_half_open_connections_do_not_hold_up_another(wire: Wire) -> None:
    halves = [wire.connect() for _ in range(300)]
    try:
        for half in halves:
            half.send(b"POST / HTTP/1.1\r\nAuthorization: " + AUTHORIZATION)
        assert wire.post("Echo", {"fine": True}).json == {"fine": True}
    finally:
        for half in halves:
            half.socket.close()
    assert eventually(lambda: wire.connections() == 0)
