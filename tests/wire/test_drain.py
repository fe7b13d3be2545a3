"""How the listener stops."""

import threading
import time
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
        thread.join(5)
    with pytest.raises(ConnectionRefusedError):
        wire.connect()


def test_a_request_that_is_still_arriving_is_answered(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire()
    whole = request("Echo", {"a": 1})
    with wire.connect() as client:
        client.send(whole[:-3])
        time.sleep(0.1)
        thread = stopping(wire)
        time.sleep(0.1)
        client.send(whole[-3:])
        assert client.read().json == {"a": 1}
        thread.join(5)


def test_draining_does_not_wait_for_ever(small_wire: Callable[..., Wire]) -> None:
    wire = small_wire(drain_seconds=0.2)
    with wire.connect() as client:
        client.send(b"POST / HTTP/1.1\r\n")
        time.sleep(0.1)
        thread = stopping(wire)
        assert client.closed(3)
        thread.join(5)
        assert not thread.is_alive()
