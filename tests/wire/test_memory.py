"""The bytes that a server holds for its clients: requests that wait, uploads, answers that nobody reads."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hashrange.wire.interfaces import ServerState
from wiring import Client, Wire, eventually, request

MIB = 1024 * 1024
_PATIENCE_SECONDS = 60


def shared(wire: Wire) -> ServerState:
    return wire._listener._shared


def unread(wire: Wire) -> int:
    """What the transports really hold."""
    connections: Any = list(shared(wire).connections)
    transports = [connection._transport for connection in connections]
    return sum(transport.get_write_buffer_size() for transport in transports if transport is not None)


@contextlib.contextmanager
def greedy(wire: Wire, count: int) -> Iterator[list[Client]]:
    """Clients that ask for an answer of 12 MB, more than any socket's buffers take, and do not read it."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(wire.port, receive_buffer=4096)) for _ in range(count)]
        for client in clients:
            client.send(request("Big", {"bytes": 12 * MIB}))
        yield clients


def test_unread_answers_are_bounded_over_all_connections(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(unread_bytes_max=32 * MIB, unread_seconds=3600.0)
    with greedy(wire, 20), wire.connect() as other:
        other.send(request("Echo", {"still": "here"}))
        assert other.read().json == {"still": "here"}
        # Some of each answer is in the kernel's buffers, so more clients may stay than 12 MB each would allow.
        assert eventually(lambda: wire.connections() < 20, _PATIENCE_SECONDS)
        assert eventually(lambda: unread(wire) <= 32 * MIB, _PATIENCE_SECONDS)
        assert shared(wire).unread_bytes <= 32 * MIB
        other.send(request("Echo", {"still": "there"}))
        assert other.read().json == {"still": "there"}
    assert eventually(lambda: shared(wire).unread_bytes == 0, _PATIENCE_SECONDS)


def received(client: Client) -> int:
    """How many bytes come before the server has sent the whole answer."""
    size = 0
    while size <= 12 * MIB:
        data = client.socket.recv(1 << 16)
        assert data, "the server hung up"
        size += len(data)
    return size


def test_below_the_bound_slow_readers_are_left_alone(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(unread_bytes_max=256 * MIB, unread_seconds=3600.0)
    with greedy(wire, 3) as clients:
        assert eventually(lambda: shared(wire).unread_bytes > 0, _PATIENCE_SECONDS)
        assert min(map(received, clients)) > 12 * MIB
        assert eventually(lambda: shared(wire).unread_bytes == 0, _PATIENCE_SECONDS)


def test_a_client_that_takes_a_byte_now_and_then_is_closed(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(unread_seconds=0.2)
    with Client(wire.port, receive_buffer=4096) as dripping:
        dripping.send(request("Big", {"bytes": 8 * MIB}))

        def gone() -> bool:
            with contextlib.suppress(ConnectionError):
                dripping.socket.recv(1)
            return wire.connections() == 0

        assert eventually(gone, _PATIENCE_SECONDS)


def test_requests_of_one_packet_wait_as_bytes_until_there_is_room(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(pipelined_max=4)
    wire.engine.hold = True
    tiny = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    with wire.connect() as client:
        client.send(request("Write", {"key": "a", "value": "b"}))
        assert eventually(lambda: len(wire.engine.held) == 1, _PATIENCE_SECONDS)
        client.send(tiny * 2000)
        (connection,) = shared(wire).connections
        held: Any = connection
        assert eventually(lambda: bool(held._backlog), _PATIENCE_SECONDS)
        assert len(held._waiting) == 4
        wire.engine.hold = False
        wire.release()
        assert {client.read().status for _ in range(2001)} == {200}
        assert not held._backlog


def test_bodies_are_counted_while_they_arrive_wait_and_run(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire()
    wire.engine.hold = True
    large = request("Write", {"key": "a", "value": "b" * 100_000})
    size = len(large.partition(b"\r\n\r\n")[2])
    held = shared(wire)
    with wire.connect() as client:
        client.send(large + large + large[:-1000])
        # The part that is to come does not count yet.
        assert eventually(lambda: 2 * size < held.request_bytes < 3 * size, _PATIENCE_SECONDS)
        client.send(large[-1000:])
        assert eventually(lambda: held.request_bytes == 3 * size, _PATIENCE_SECONDS)
        wire.engine.hold = False
        wire.release()
        assert {client.read().status for _ in range(3)} == {200}
        assert eventually(lambda: held.request_bytes == 0, _PATIENCE_SECONDS)


@pytest.mark.parametrize("end", ["close", "refuse"])
def test_what_was_counted_is_released_whatever_happens(small_wire: Callable[..., Wire], end: str) -> None:
    wire = small_wire()
    wire.engine.hold = True
    large = request("Write", {"key": "a", "value": "b" * 100_000})
    with wire.connect() as client:
        client.send(large * 5 + (b"\0" if end == "refuse" else large[:-10]))
        assert eventually(lambda: shared(wire).request_bytes > 400_000, _PATIENCE_SECONDS)
    wire.engine.hold = False
    wire.release()
    assert eventually(lambda: shared(wire).request_bytes == 0, _PATIENCE_SECONDS)


def test_an_upload_that_takes_long_makes_room_for_one_that_does_not(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(request_bytes_max=2 * MIB)
    upload = request("Echo", b'"' + b"x" * (MIB - 2) + b'"')
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(wire.connect()) for _ in range(2)]
        for client in slow:
            client.send(upload[: -MIB // 4])
        assert eventually(lambda: shared(wire).request_bytes > MIB, _PATIENCE_SECONDS)
        before = shared(wire).now
        assert eventually(lambda: shared(wire).now > before, _PATIENCE_SECONDS)
        for _ in range(10):
            assert wire.post("Echo", {"a": "x" * (MIB - 100)}).status == 200
        # At least one of the slow ones had to go; what is left is within the bound.
        assert shared(wire).request_bytes <= 2 * MIB
