"""One client's connection: bytes in, requests run one at a time and in order, answers out."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

from hashrange.api.errors import ApiError
from hashrange.wire import headers, refusals, usual_requests
from hashrange.wire.interfaces import Peer, ServerState
from hashrange.wire.refusals import RequestRefused
from hashrange.wire.request_reader import RequestReader, failure
from hashrange.wire.streams import ChunkedStream
from hashrange.wire.usual_requests import FIRST_LINE, Repeat

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_LARGE_BYTES = 64 * 1024
# Method, URL, where the head is to be read once more (see `fields`), headers and body.
_Waiting = tuple[bytes, bytes, Sequence[bytes], dict[bytes, bytes], bytes]


class Connection(RequestReader, asyncio.Protocol):
    """The parser's callbacks and the loop's, and between them at most one request under way.

    Requests of one connection are never run side by side: RFC 9112 9.3.2 allows that for safe methods
    only. At most one is run per turn of the loop, so that a client that sends a thousand at once waits
    for the others and not they for it.
    """

    __slots__ = (
        "_busy",
        "_closing",
        "_head_received",
        "_loop",
        "_outgoing",
        "_peer",
        "_ran_this_turn",
        "_read_usual",
        "_running_bytes",
        "_scheduled",
        "_stream",
        "_transport",
        "_unsent",
        "_usual_headers",
        "_usual_repeats",
        "_waiting",
        "_waiting_bytes",
        "_writable",
        "body",
        "headers",
        "identity_cache",
        "method",
        "repeats",
        "unread_bytes",
        "url",
    )

    def __init__(self, server: ServerState, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(server)
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._peer: Peer | None = None  # None: nobody has asked
        self.method = self.url = b""
        self.headers: dict[bytes, bytes] = {}
        self._head_received: Sequence[bytes] = ()  # the bytes that the request under way was read from
        self.body: bytes | bytearray = b""
        self.identity_cache: tuple[Any, Any] | None = None
        self._ran_this_turn = False
        self._scheduled = False
        self._waiting: deque[_Waiting | ApiError] = deque()  # a refusal comes last
        self._waiting_bytes = 0
        self._running_bytes = 0  # the body of the request under way
        self.unread_bytes = 0  # the answers that the client has not taken, as far as the server counts them
        self._busy = False
        self._closing = False
        self._writable = True
        self._unsent = 0
        self._outgoing = b""
        self._stream: ChunkedStream | None = None
        self._usual_headers: dict[bytes, bytes] = {}  # of the last usual request
        self._usual_repeats: dict[bytes, Repeat] = {}  # for the next ones with such headers
        self.repeats: dict[bytes, Repeat] | None = None
        self._read_usual = usual_requests.reader(self._usual_headers)

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=self._server.limits.unsent_bytes_max)
        server = self._server
        self._deadline = (
            server.now + server.limits.linger_seconds if server.draining else server.idle_deadline
        )
        server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._stream is not None:
            self._stream.lose()
        server = self._server
        server.release_request(self.upload_bytes + self._waiting_bytes + self._running_bytes)
        self.upload_bytes = self._waiting_bytes = self._running_bytes = 0
        self._waiting.clear()
        self._backlog = b""
        server.count_unread(self, 0)
        server.connections.discard(self)
        server.one_left.set()

    def data_received(self, data: bytes) -> None:
        if self._ignoring_input:
            return
        server = self._server
        if (
            self._between_requests
            and not (self._busy or self._waiting)
            and self._writable
            and len(data) <= server.usual_bytes_max
        ):
            fields = self._usual_headers
            usual = self._read_usual(data, fields, self._usual_repeats)
            if usual is not None and (usual[1] is not None or fields.get(b"Host") in server.valid_hosts):
                self._busy = True
                self.body, repeat = usual
                self._head_received = (data,)  # a tuple: no header of such a request repeats
                if self.headers is not fields:
                    self.method, self.url, self.headers = b"POST", b"/", fields
                    self.repeats = self._usual_repeats
                try:
                    if repeat is None:
                        server.handler.handle(self)
                    else:
                        repeat(self)
                except Exception as error:  # noqa: BLE001 - as where the parser calls the handler
                    self._refuse(failure(error))
                self.body = b""
                return
        self._ran_this_turn = False
        self._read_on(data)
        if self._url:
            self._incomplete()

    def eof_received(self) -> bool:
        """Let a client that has stopped sending, but still listens, have the answers it waits for."""
        self._ignoring_input = True
        self.flush()
        return self._busy or bool(self._waiting)

    def pause_writing(self) -> None:
        self._writable = False
        self._deadline = self._server.now + self._server.limits.unread_seconds
        if self._transport is not None:
            self._unsent = self._transport.get_write_buffer_size()
            self._server.count_unread(self, self._unsent)

    def resume_writing(self) -> None:
        self._writable = True
        self._deadline = self._server.idle_deadline
        self._server.count_unread(self, 0)
        if self._stream is not None:
            self._stream.resume()
        elif self._waiting:
            self._schedule()

    # What the parser calls.

    def on_headers_complete(self) -> None:
        self._pending_headers = self._checked_head()

    def on_message_complete(self) -> None:
        fields = self._pending_headers or self._fields
        if b"Upgrade" in fields and self._parser.should_upgrade():
            return  # whoever fed the parser is told as well, and goes on in _decline_upgrade
        body, parts = self._body, self._url
        if len(body) > self._server.limits.body_bytes_max:
            raise RequestRefused(refusals.BODY_TOO_LARGE)
        url = parts[0] if len(parts) == 1 else b"".join(parts)
        if not self._parser.should_keep_alive():
            self._ignoring_input = True
        if self.upload_bytes:
            self._count_upload(0)
        if self._busy or self._ran_this_turn or self._waiting or not self._writable:
            self._wait((self._parser.get_method(), url, self._received, fields.copy(), bytes(body)))
        else:
            self._ran_this_turn = self._busy = True
            self.method = self._parser.get_method()
            self.url = url
            self._head_received = self._received
            self.headers, self.repeats = fields, None
            self.body = body
            if len(body) > _LARGE_BYTES:
                self._running_bytes = len(body)
                self._server.hold_request(len(body))
            self._server.handler.handle(self)
        self._forget_partial()

    # What the handler calls.

    @property
    def peer(self) -> Peer:
        """Who is at the other end, by what the transport says; it is the same for as long as there is a connection."""
        if self._peer is not None:
            return self._peer
        transport = self._transport
        if transport is None:
            return Peer()
        address = transport.get_extra_info("peername")
        cipher = transport.get_extra_info("cipher")
        host = str(address[0]) if isinstance(address, tuple) else ""
        self._peer = Peer(host) if cipher is None else Peer(host, cipher[1], cipher[0])
        return self._peer

    @property
    def fields(self) -> Sequence[tuple[bytes, bytes]]:
        """All headers as they were sent; read anew from the bytes, since hardly anybody asks."""
        return headers.fields_of(self._head_received)

    @property
    def repeats_headers(self) -> bool:
        """Whether there are more lines than headers."""
        received = self._head_received
        if isinstance(received, tuple):
            return False
        if len(received) != 1 or not received[0].startswith(FIRST_LINE):
            return True
        return not headers.are_unique(received[0], len(self.headers))

    def send(self, head: bytes, body: bytes) -> None:
        self._busy = False
        if self._running_bytes:
            self._release_running()
        transport = self._transport
        if transport is None:
            return
        server = self._server
        if server.draining or (self._ignoring_input and not self._waiting):
            self.flush()
            transport.writelines((head + server.tail_close, body))
            self._hang_up()
            return
        self._deadline = server.idle_deadline
        if self._outgoing or len(body) >= _LARGE_BYTES:
            self.flush()
            transport.writelines((head + server.tail_open, body))
        else:
            self._outgoing = head + server.tail_open + body
            outbox = server.outbox
            outbox.append(self)
            if len(outbox) == 1:
                self._loop.call_soon(server.flush)
        if self._waiting:
            self._schedule()

    def stream(self, head: bytes) -> "ChunkedStream":
        """Begin an answer whose length nobody knows yet; until it is closed, no other request is run."""
        if self._transport is not None:
            chunked = not headers.is_old(self._head_received)
            if not chunked:
                # The connection ends with the body, so nothing that was sent behind the request can be answered.
                self._ignoring_input = True
                self._drop_waiting()
            last = self._server.draining or (self._ignoring_input and not self._waiting)
            tail = self._server.tail_close if last else self._server.tail_open
            framing = b"Transfer-Encoding: chunked\r\n" if chunked else b""
            self.flush()
            self._transport.write(head + framing + tail)
            self._stream = ChunkedStream(self, chunked=chunked)
            return self._stream
        return ChunkedStream(self, chunked=True, open_=False)

    def write_piece(self, framed: bytes) -> None:
        """Write a part of a streamed answer."""
        if self._transport is not None:
            self._transport.write(framed)

    @property
    def is_writable(self) -> bool:
        """Whether the client takes what it is sent."""
        return self._writable

    def end_stream(self) -> None:
        """Be free for the next request, or hang up after the last."""
        self._stream = None
        self._busy = False
        self._release_running()
        self._deadline = self._server.idle_deadline
        if self._server.draining or (self._ignoring_input and not self._waiting):
            self._hang_up()
        elif self._waiting:
            self._schedule()

    def flush(self) -> None:
        """Write the answer that waits for those of other clients."""
        answer, self._outgoing = self._outgoing, b""
        if answer and self._transport is not None:
            self._transport.write(answer)

    # What the listener calls.

    def check(self, now: float) -> None:
        transport = self._transport
        if transport is None:
            return
        unsent = transport.get_write_buffer_size()
        if unsent != self.unread_bytes:
            self._server.count_unread(self, unsent)
        if now < self._deadline or (self._busy and self._writable):
            return
        if self._closing or not self._writable:
            # Somebody who takes a byte now and then would keep an answer in memory for ever.
            if unsent == 0 or unsent > self._unsent - min(self._unsent, self._server.limits.read_bytes_min):
                transport.abort()
            self._unsent = unsent
            self._deadline = now + self._server.limits.unread_seconds
        elif self._url:
            self._refuse(refusals.TIMEOUT)
        else:
            self._hang_up()

    def refuse_upload(self) -> None:
        """Give up a body that is not complete: there are too many of them."""
        self._refuse(refusals.BUSY)

    def drain(self) -> None:
        if not (self._busy or self._waiting or self._url or self._closing):
            self._hang_up()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # Requests that wait, and the end.

    def _forget_partial(self) -> None:
        self._url.clear()
        self._fields.clear()
        self._body.clear()
        self._pending_headers = None
        self._received = []
        self._between_requests.append(True)
        self._bytes_since_request = self._phase = 0
        if self.upload_bytes:
            self._count_upload(0)

    def _send_continue(self) -> None:
        # Behind an earlier request it would be taken for the beginning of that one's answer.
        if self._transport is not None and not (self._busy or self._waiting):
            self.flush()
            self._transport.write(_CONTINUE)

    def _wait(self, request: _Waiting) -> None:
        self._waiting.append(request)
        size = len(request[-1])
        self._waiting_bytes += size
        self._server.hold_request(size)
        limits = self._server.limits
        if len(self._waiting) >= limits.pipelined_max or self._waiting_bytes >= limits.waiting_bytes_max:
            self._pause()
        if not self._busy:
            self._schedule()

    def _drop_waiting(self) -> None:
        self._waiting.clear()
        self._server.release_request(self._waiting_bytes)
        self._waiting_bytes = 0

    def _release_running(self) -> None:
        self._server.release_request(self._running_bytes)
        self._running_bytes = 0

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        self._scheduled = False
        if self._busy or self._transport is None or not self._writable or not self._waiting:
            return
        request = self._waiting.popleft()
        if isinstance(request, ApiError):
            self._send_refusal(request)
            return
        self._busy = True
        self.method, self.url, self._head_received, self.headers, self.body = request
        self.repeats = None
        self._running_bytes = len(self.body)
        self._waiting_bytes -= self._running_bytes
        if self._paused and not self._waiting:
            self._resume()
        self._server.handler.handle(self)

    def _pause(self) -> None:
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        """Read on: first what was received already."""
        if self._paused and self._transport is not None and not self._transport.is_closing():
            self._paused = False
            backlog, self._backlog = self._backlog, b""
            self._read_on(backlog)
            if self._url:
                self._incomplete()
            if not self._paused:
                self._transport.resume_reading()

    def _refuse(self, refusal: ApiError) -> None:
        """Answer, after everything that came before, with an error; read no more requests."""
        if self._ignoring_input:
            return
        self._ignoring_input = True
        self._forget_partial()
        if self._busy or self._waiting:
            self._waiting.append(refusal)
        else:
            self._send_refusal(refusal)

    def _send_refusal(self, refusal: ApiError) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        self.flush()
        head, body = self._server.handler.refuse(refusal)
        transport.write(head + self._server.tail_close + body)
        # Closing with unread bytes on the way resets the connection, and the client might not see the answer.
        self._closing = True
        self._unsent = transport.get_write_buffer_size()
        self._deadline = self._server.now + self._server.limits.linger_seconds
        self._resume()
        if transport.can_write_eof():  # with TLS nobody can stop sending and still listen
            transport.write_eof()

    def _hang_up(self) -> None:
        transport = self._transport
        if transport is not None:
            self.flush()
            self._closing = self._ignoring_input = True
            self._unsent = transport.get_write_buffer_size()
            self._deadline = self._server.now + self._server.limits.unread_seconds
            transport.close()
