"""A streamed answer on an HTTP/1.1 connection: chunks, and waiting for a client that is slow."""

from collections.abc import Callable
from typing import Protocol


class _Connection(Protocol):
    @property
    def is_writable(self) -> bool: ...

    def write_piece(self, framed: bytes) -> None: ...

    def end_stream(self) -> None: ...


class ChunkedStream:
    """The body of an answer, sent as it comes. All calls are made on the loop's thread."""

    __slots__ = ("_chunked", "_connection", "_waiting", "open")

    def __init__(self, connection: _Connection, *, chunked: bool, open_: bool = True) -> None:
        """Without `chunked`, for clients of HTTP/1.0, the end of the connection is the end of the body."""
        self._connection = connection
        self._chunked = chunked
        self._waiting: Callable[[], None] | None = None
        self.open = open_

    @property
    def writable(self) -> bool:
        """Whether the client keeps up."""
        return self.open and self._connection.is_writable

    def write(self, piece: bytes) -> None:
        """Send a piece; an empty one would end the body."""
        if self.open and piece:
            framed = b"%x\r\n%b\r\n" % (len(piece), piece) if self._chunked else piece
            self._connection.write_piece(framed)

    def when_writable(self, callback: Callable[[], None]) -> None:
        """Call back once: when the client has caught up, or is gone."""
        if self.writable or not self.open:
            callback()
        else:
            self._waiting = callback

    def close(self) -> None:
        """End the body."""
        if self.open:
            self.open = False
            if self._chunked:
                self._connection.write_piece(b"0\r\n\r\n")
            self._connection.end_stream()

    def resume(self) -> None:
        """The connection says that the client has caught up."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting()

    def lose(self) -> None:
        """The connection says that the client is gone."""
        self.open = False
        self.resume()
