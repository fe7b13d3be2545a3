"""What the parts of the HTTP server say to each other."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from hashrange import logs
from hashrange.api.errors import ApiError
from hashrange.wire.limits import Limits
from hashrange.wire.usual_requests import REQUEST_BYTES_MAX, Repeat

_HOSTS_MAX = 1024

log = logs.Log("wire")


class Peer(NamedTuple):
    """The other end of a connection. Without TLS it has neither version nor cipher."""

    address: str = ""
    tls_version: str | None = None
    cipher: str | None = None


class Exchange(Protocol):
    """One request, and the place for its answer.

    Header names are in Title-Case. What belongs to the request is only good until the handler returns;
    `send` is to be called once, at once or later, on the loop's thread.
    """

    method: bytes
    url: bytes
    headers: dict[bytes, bytes]  # of headers that were sent more than once the last
    body: bytes | bytearray
    identity_cache: tuple[Any, Any] | None  # the handler's own, kept from one request of a client to its next
    # What answers requests by their targets, as long as the client repeats the rest of this one's head; None: nothing.
    repeats: dict[bytes, Repeat] | None

    @property
    def peer(self) -> Peer:
        """Who sent it."""

    @property
    def fields(self) -> Sequence[tuple[bytes, bytes]]:
        """All headers as they were sent, in order, repeats included."""

    @property
    def repeats_headers(self) -> bool:
        """Whether a header may have been sent more than once; if not, `headers` says all."""

    def send(self, head: bytes, body: bytes) -> None:
        """Send status line and headers, each with its line end, and the body."""

    def stream(self, head: bytes) -> "AnswerStream":
        """Send status line and headers without a length, and give what the body is written to, piece by piece."""


class AnswerStream(Protocol):
    """A body that is sent as it comes: events, or a download too large for memory."""

    @property
    def open(self) -> bool:
        """Whether the client is still there."""

    @property
    def writable(self) -> bool:
        """Whether the client keeps up; what is written meanwhile is kept in memory."""

    def write(self, piece: bytes) -> None:
        """Send a piece; of one to a client that is gone, nothing becomes."""

    def when_writable(self, callback: Callable[[], None]) -> None:
        """Call back once: when the client has caught up, or is gone."""

    def close(self) -> None:
        """End the body; the connection is free for the next request."""


class Handler(Protocol):
    """What the server is for."""

    def handle(self, exchange: Exchange) -> None:
        """Answer a request; never raises."""

    def refuse(self, refusal: ApiError) -> tuple[bytes, bytes]:
        """Give head and body for a request that HTTP itself rules out."""


class ManagedConnection(Protocol):
    """A connection as its server sees it."""

    upload_bytes: int  # of a large body that is not complete
    unread_bytes: int  # of answers that the client has not taken

    @property
    def deadline(self) -> float:
        """When the server loses patience; of two clients the earlier one has taken longer."""

    def refuse_upload(self) -> None:
        """Give up a body that is not complete."""

    def flush(self) -> None:
        """Write the answer that is ready."""

    def check(self, now: float) -> None:
        """Look at the clock: close what is overdue."""

    def drain(self) -> None:
        """Close as soon as nothing is under way."""

    def abort(self) -> None:
        """Close now."""


class ServerState:
    """What all connections of a server have in common."""

    def __init__(self, handler: Handler, limits: Limits) -> None:
        self.handler = handler
        self.limits = limits
        self.usual_bytes_max = min(limits.body_bytes_max, REQUEST_BYTES_MAX)  # see `Connection.data_received`
        self.connections: set[ManagedConnection] = set()
        self.one_left = asyncio.Event()
        self.valid_hosts: set[bytes | None] = set()  # Host headers as they were sent, never None
        self.request_bytes = 0  # large bodies: unfinished, waiting and under way
        self.unread_bytes = 0  # answers that clients have not taken yet
        self.draining = False
        self.now = 0.0  # the loop's time as of the last sweep
        self.idle_deadline = 0.0  # until when a client that is answered now may be idle
        self.tail_open = b""  # the last headers of every answer, as of the last sweep
        self.tail_close = b""
        # Answers of one turn of the loop are written together at its end. If each were written at once, each
        # would wake its client, and being woken is a good part of what a small request costs on one machine.
        self.outbox: list[ManagedConnection] = []

    def note_valid_host(self, host: bytes) -> None:
        """Remember a Host header that was looked at closely."""
        if len(self.valid_hosts) >= _HOSTS_MAX:
            self.valid_hosts.clear()
        self.valid_hosts.add(host)

    def hold_request(self, size: int) -> None:
        """Count bytes of request bodies; past the limit the upload that has taken longest is given up."""
        self.request_bytes += size
        if size > 0 and self.request_bytes > self.limits.request_bytes_max:
            uploads = [connection for connection in self.connections if connection.upload_bytes]
            if uploads:
                min(uploads, key=lambda upload: upload.deadline).refuse_upload()

    def release_request(self, size: int) -> None:
        """Count what is no longer held."""
        self.request_bytes -= size

    def count_unread(self, connection: ManagedConnection, size: int) -> None:
        """Count the bytes that a client leaves unread; past the limit the clients that are stuck longest go."""
        self.unread_bytes += size - connection.unread_bytes
        connection.unread_bytes = size
        if self.unread_bytes > self.limits.unread_bytes_max:
            self._shed_readers()

    def _shed_readers(self) -> None:
        """Close connections until a quarter of the room is free, so that the next answer need not look again."""
        readers = [connection for connection in self.connections if connection.unread_bytes]
        readers.sort(key=lambda reader: reader.deadline)
        left = self.unread_bytes
        closed = 0
        for reader in readers:
            if left <= self.limits.unread_bytes_max * 3 // 4:
                break
            left -= reader.unread_bytes
            closed += 1
            reader.abort()
        log.warning("answers.unread", closed=closed, unread_bytes=self.unread_bytes)

    def flush(self) -> None:
        """Write the answers of this turn; one that cannot be written must not hold up the others."""
        ready, self.outbox = self.outbox, []
        for connection in ready:
            try:
                connection.flush()
            except Exception as error:  # noqa: BLE001 - whatever it is, the others' answers leave
                log.error("answer.failed", error=error)
                connection.abort()
