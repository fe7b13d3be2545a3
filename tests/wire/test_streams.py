"""Answers that are sent as they come."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hashrange.wire.interfaces import AnswerStream, Exchange
from hashrange.wire.limits import KIB, Limits
from wiring import Client, Wire, eventually, request

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
GET = b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
ECHO = request("Echo", {"a": 1})


class Streaming:
    """An endpoint whose streams the test writes to."""

    def __init__(self) -> None:
        self.streams: list[AnswerStream] = []
        self.exchanges: list[Exchange] = []
        self.at_once = True

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        if self.at_once:
            self.streams.append(exchange.stream(HEAD))
        else:
            self.exchanges.append(exchange)


class Streamer:
    """A server with a streaming endpoint, and the newest of its streams."""

    def __init__(self, **limits: Any) -> None:
        self.endpoint = Streaming()
        self.wire = Wire(Limits(sweep_seconds=0.02, **limits), paths={b"/stream": self.endpoint}).start()

    def on_loop(self, function: Callable[[], Any]) -> Any:
        """Call on the loop's thread, and give the result."""
        results: list[Any] = []
        called = threading.Event()

        def call() -> None:
            try:
                results.append(function())
            finally:
                called.set()

        self.wire.call(call)
        assert called.wait(60)
        return results[0]

    @property
    def stream(self) -> AnswerStream:
        assert eventually(lambda: bool(self.endpoint.streams))
        return self.endpoint.streams[-1]

    def write(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.on_loop(lambda piece=piece: self.stream.write(piece))

    def close(self) -> None:
        self.on_loop(self.stream.close)


@pytest.fixture
def make() -> Iterator[Callable[..., Streamer]]:
    running: list[Streamer] = []

    def start(**limits: Any) -> Streamer:
        running.append(Streamer(**limits))
        return running[-1]

    yield start
    for streamer in running:
        streamer.wire.stop()


@pytest.fixture
def streamer(make: Callable[..., Streamer]) -> Streamer:
    return make()


@pytest.fixture
def client(streamer: Streamer) -> Iterator[Client]:
    with streamer.wire.connect() as connection:
        yield connection


def test_pieces_arrive_as_they_are_written(streamer: Streamer, client: Client) -> None:
    client.send(GET)
    head = client.read()
    assert (head.status, head.headers["transfer-encoding"]) == (200, "chunked")
    assert "content-length" not in head.headers
    assert head.headers["connection"] == "keep-alive"
    for piece in (b"one", b"\r\n0\r\n\r\n", b"x" * 5000, b"\xff\x00"):
        streamer.write(piece)
        assert client.read_chunk() == piece
    streamer.close()
    assert client.read_chunk() == b""


def test_whether_a_body_is_chunked_is_decided_by_its_own_request(streamer: Streamer, client: Client) -> None:
    """The parser is ahead by then: the last request that it has read is one of HTTP/1.0."""
    client.send(ECHO + GET + GET.replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert client.read().json == {"a": 1}
    assert client.read().headers["transfer-encoding"] == "chunked"
    streamer.write(b"piece")
    assert client.read_chunk() == b"piece"
    streamer.close()
    assert client.read_chunk() == b""
    assert "transfer-encoding" not in client.read().headers
    streamer.close()


def test_an_empty_piece_does_not_end_the_body(streamer: Streamer, client: Client) -> None:
    client.send(GET)
    client.read()
    streamer.write(b"", b"more", b"")
    assert client.read_chunk() == b"more"
    assert streamer.stream.open
    streamer.close()
    assert client.read_chunk() == b""


def test_the_next_request_is_answered_on_the_same_connection(streamer: Streamer, client: Client) -> None:
    for _ in range(3):
        client.send(GET)
        client.read()
        streamer.write(b"piece")
        streamer.close()
        assert client.read_chunks() == [b"piece"]
        client.send(ECHO)
        assert client.read().json == {"a": 1}


def test_what_is_written_to_a_closed_stream_is_dropped(streamer: Streamer, client: Client) -> None:
    client.send(GET)
    client.read()
    streamer.close()
    streamer.close()
    streamer.write(b"late")
    assert client.read_chunks() == []
    client.send(ECHO)
    assert client.read().json == {"a": 1}
    assert not streamer.stream.open
    assert not streamer.stream.writable


def test_pipelined_requests_wait_for_the_end(streamer: Streamer, client: Client) -> None:
    client.send(ECHO + GET + ECHO + GET + ECHO)
    assert client.read().json == {"a": 1}
    for number in (1, 2):
        client.read()
        assert eventually(lambda number=number: len(streamer.endpoint.streams) == number)
        streamer.write(b"piece")
        assert client.read_chunk() == b"piece"
        assert client.silent()
        assert len(streamer.endpoint.streams) == number
        streamer.close()
        assert client.read_chunk() == b""
        assert client.read().json == {"a": 1}


def test_requests_that_are_sent_during_a_stream_wait_for_its_end(streamer: Streamer, client: Client) -> None:
    client.send(GET)
    client.read()
    client.send(ECHO)
    assert client.silent()
    streamer.close()
    assert client.read_chunks() == []
    assert client.read().json == {"a": 1}


def test_rubbish_during_a_stream_is_refused_after_its_end(streamer: Streamer, client: Client) -> None:
    client.send(GET)
    client.read()
    client.send(b"rubbish\r\n\r\n")
    streamer.write(b"piece")
    assert client.read_chunk() == b"piece"
    streamer.close()
    assert client.read_chunk() == b""
    assert client.read().status == 400
    assert client.closed()


def test_a_stream_may_begin_later(streamer: Streamer, client: Client) -> None:
    streamer.endpoint.at_once = False
    client.send(GET + ECHO)
    assert eventually(lambda: bool(streamer.endpoint.exchanges))
    assert client.silent()
    exchange = streamer.endpoint.exchanges[0]
    stream = streamer.on_loop(lambda: exchange.stream(HEAD))
    client.read()
    streamer.on_loop(lambda: (stream.write(b"piece"), stream.close()))
    assert client.read_chunks() == [b"piece"]
    assert client.read().json == {"a": 1}


def test_a_stream_that_begins_when_the_client_is_gone_is_closed(streamer: Streamer) -> None:
    streamer.endpoint.at_once = False
    with streamer.wire.connect() as client:
        client.send(GET)
        assert eventually(lambda: bool(streamer.endpoint.exchanges))
    exchange = streamer.endpoint.exchanges[0]
    client.socket.close()
    streamer.on_loop(lambda: exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", b""))
    assert eventually(lambda: streamer.wire.connections() == 0)
    stream = streamer.on_loop(lambda: exchange.stream(HEAD))
    assert (stream.open, stream.writable) == (False, False)
    called: list[int] = []
    streamer.on_loop(
        lambda: (stream.write(b"x"), stream.when_writable(lambda: called.append(1)), stream.close())
    )
    assert called == [1]


@pytest.mark.parametrize("more", [b"", b"Connection: keep-alive\r\n"])
def test_clients_of_http_1_0_get_the_body_until_the_connection_closes(
    streamer: Streamer, client: Client, more: bytes
) -> None:
    client.send(b"GET /stream HTTP/1.0\r\n" + more + b"\r\n")
    head = client.read()
    assert head.headers["connection"] == "close"
    assert "transfer-encoding" not in head.headers
    streamer.write(b"one", b"", b"two\r\n")
    client.send(ECHO)
    streamer.close()
    assert client.read_to_end() == b"onetwo\r\n"


def test_requests_behind_a_stream_of_http_1_0_are_not_answered_in_its_body(
    streamer: Streamer, client: Client
) -> None:
    old = b"GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    streamer.endpoint.at_once = False
    client.send(old + b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    assert eventually(lambda: bool(streamer.endpoint.exchanges))
    stream = streamer.on_loop(lambda: streamer.endpoint.exchanges[0].stream(HEAD))
    client.read()
    streamer.on_loop(lambda: (stream.write(b"body"), stream.close()))
    assert client.read_to_end() == b"body"


def test_a_client_that_asks_to_close_gets_the_whole_stream(streamer: Streamer, client: Client) -> None:
    client.send(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    assert client.read().headers["connection"] == "close"
    streamer.write(b"piece")
    streamer.close()
    assert client.read_chunks() == [b"piece"]
    assert client.closed()


def test_a_stream_does_not_announce_the_close_that_a_later_request_asks_for(
    streamer: Streamer, client: Client
) -> None:
    client.send(ECHO + GET + request("Echo", {"a": 2}, b"Connection: close"))
    client.read()
    assert client.read().headers["connection"] == "keep-alive"
    streamer.stream  # noqa: B018 - wait for it
    streamer.close()
    assert client.read_chunks() == []
    last = client.read()
    assert (last.json, last.headers["connection"]) == ({"a": 2}, "close")
    assert client.closed()


def test_a_client_that_only_stops_sending_gets_the_whole_stream(streamer: Streamer, client: Client) -> None:
    client.send(GET)
    client.read()
    client.stop_sending()
    streamer.write(b"piece")
    assert client.read_chunk() == b"piece"
    streamer.close()
    assert client.read_chunk() == b""
    assert client.closed()


def test_a_client_that_goes_away(streamer: Streamer) -> None:
    called: list[bool] = []
    with streamer.wire.connect() as client:
        client.send(GET)
        client.read()
        assert streamer.stream.open
    assert eventually(lambda: _written_to_nobody(streamer))
    assert not streamer.stream.writable
    streamer.on_loop(lambda: streamer.stream.when_writable(lambda: called.append(streamer.stream.open)))
    assert called == [False]
    streamer.write(b"late")
    streamer.close()
    assert eventually(lambda: streamer.wire.connections() == 0)


def _written_to_nobody(streamer: Streamer) -> bool:
    streamer.write(b"x")
    return not streamer.stream.open


def fill(streamer: Streamer, size: int = 64 * KIB, most: int = 2000) -> int:
    """Write until the client does not keep up; give how many pieces that took."""
    for number in range(most):
        if not streamer.on_loop(lambda: streamer.stream.writable):
            return number
        streamer.write(b"x" * size)
    raise AssertionError("the client keeps up with everything")


def test_a_slow_reader_is_waited_for(make: Callable[..., Streamer]) -> None:
    streamer = make(unsent_bytes_max=64 * KIB)
    called: list[bool] = []
    with Client(streamer.wire.port, receive_buffer=4096) as client:
        client.send(GET)
        client.read()
        written = fill(streamer)
        streamer.on_loop(
            lambda: streamer.stream.when_writable(lambda: called.append(streamer.stream.writable))
        )
        assert called == []
        for _ in range(written):
            assert len(client.read_chunk()) == 64 * KIB
        assert eventually(lambda: called == [True])
        streamer.write(b"more")
        streamer.close()
        assert client.read_chunks() == [b"more"]


def test_a_writer_that_waits_keeps_little_in_memory(make: Callable[..., Streamer]) -> None:
    streamer = make(unsent_bytes_max=64 * KIB)
    piece, pieces = b"x" * (16 * KIB), 1000
    unsent: list[int] = []

    def pump(left: int) -> None:
        stream = streamer.stream
        while left and stream.writable:
            stream.write(piece)
            left -= 1
            connection: Any = next(iter(streamer.wire._listener._shared.connections))
            unsent.append(connection._transport.get_write_buffer_size())
        if left:
            stream.when_writable(lambda: pump(left))
        else:
            stream.close()

    with Client(streamer.wire.port, receive_buffer=4096) as client:
        client.send(GET)
        client.read()
        assert streamer.stream.open
        streamer.on_loop(lambda: pump(pieces))
        assert sum(map(len, client.read_chunks())) == pieces * len(piece)
    assert max(unsent) < 128 * KIB


def test_a_reader_that_takes_nothing_is_closed(make: Callable[..., Streamer]) -> None:
    streamer = make(unsent_bytes_max=64 * KIB, unread_seconds=0.1)
    called: list[bool] = []
    with Client(streamer.wire.port, receive_buffer=4096) as client:
        client.send(GET)
        client.read()
        fill(streamer)
        streamer.on_loop(lambda: streamer.stream.when_writable(lambda: called.append(streamer.stream.open)))
        assert eventually(lambda: called == [False])
        assert streamer.wire.connections() == 0


def test_a_stream_without_news_is_not_idle(make: Callable[..., Streamer]) -> None:
    streamer = make(idle_seconds=0.6, head_seconds=0.6, body_seconds=0.6, unread_seconds=0.6)
    with streamer.wire.connect() as client:
        client.send(GET)
        client.read()
        assert client.silent(1.0)
        streamer.write(b"news")
        assert client.read_chunk() == b"news"
        streamer.close()
        assert client.read_chunk() == b""
        assert client.closed()


def test_a_server_that_stops_waits_for_the_end_of_a_stream(streamer: Streamer, client: Client) -> None:
    client.send(GET)
    client.read()
    stopping = threading.Thread(target=streamer.wire.stop)
    stopping.start()
    assert eventually(lambda: streamer.wire._listener._shared.draining)
    streamer.write(b"last words")
    assert client.read_chunk() == b"last words"
    streamer.close()
    assert client.read_chunk() == b""
    assert client.closed()
    stopping.join(60)
    assert not stopping.is_alive()


def test_a_server_that_stops_does_not_wait_for_ever(make: Callable[..., Streamer]) -> None:
    streamer = make(drain_seconds=0.2)
    with streamer.wire.connect() as client:
        client.send(GET)
        client.read()
        stream = streamer.stream
        stopping = threading.Thread(target=streamer.wire.stop)
        stopping.start()
        assert client.closed()
        stopping.join(60)
        assert not stopping.is_alive()
        assert not stream.open
