"""How the listener stops."""

import threading
from collections.abc import Callable

import pytest

from wiring import Wire, eventually, request


def stopping(wire: Wire) -> threading.Thread:
    thread = threading.Thread(target=wire.stop)
    thread.start()
    return thread


def test_a_request_under_way_is_answered_and_idle_connections_are_closed(
    small_wire: Callable[..., Wire],
) -> None:
    wire = small_wire()
    wire.engine.hold = True
    with wire.connect() as idle, wire.connect() as busy:
        busy.send(request("Write", {"key": "a", "value": "b"}))
        assert eventually(lambda: len(wire.engine.held) == 1)
        thread = stopping(wire)
        assert idle.closed()
        wire.release()
        answer = busy.read()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert busy.closed()
        thread.join(60)
    with pytest.raises(ConnectionRefusedError):
        wire.connect()


def test_a_request_that_is_still_arriving_is_answered(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire()
    whole = request("Echo", {"a": 1}, b"Expect: 100-continue")
    with wire.connect() as client:
        client.send(whole[:-3])
        assert client.read().status == 100  # the server has seen the headers, and waits for the rest
        thread = stopping(wire)
        assert eventually(lambda: not accepts(wire))
        client.send(whole[-3:])
        assert client.read().json == {"a": 1}
        thread.join(60)


def accepts(wire: Wire) -> bool:
    try:
        wire.connect().socket.close()
    except OSError:
        return False
    return True


def test_draining_does_not_wait_for_ever(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(drain_seconds=0.2)
    with wire.connect() as client:
        client.send(request("Echo", {"a": 1}, b"Expect: 100-continue")[:-3])
        assert client.read().status == 100
        thread = stopping(wire)
        assert client.closed()
        thread.join(60)
        assert not thread.is_alive()
