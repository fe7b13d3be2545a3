"""Reading requests from the bytes of a connection: the parser's state, the limits, what is not complete yet."""

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from hashrange import logs
from hashrange.wire import headers
from hashrange.wire.interfaces import ServerState

# Headers that ask to leave HTTP/1.1. We stay, as RFC 9110 7.8 allows.
_UPGRADE_HEADERS = frozenset({b"Connection", b"Http2-Settings", b"Upgrade"})
_EMPTY_LINE = b"\r\n\r\n"
_CHUNK_FACTOR = 7  # "1\r\n", a byte, "\r\n": the most bytes that honest chunking sends per byte of body
_FRAMING_SLACK_BYTES = 512 * 1024
_LARGE_BYTES = 64 * 1024
_CUTS_MAX = 64
_HEAD, _BODY = 1, 2  # how far a request was when the bytes ran out; 0 between requests

log = logs.Log("wire")


class RequestRefused(Exception):
    """Raised inside the parser to make it stop."""

    def __init__(self, status: int) -> None:
        self.status = status


class RequestReader:
    """The slower half of a connection: requests that do not come in one piece, and those that break a limit.

    What every request passes through is in `Connection`.
    """

    __slots__ = (
        "_between_requests",
        "_body",
        "_bytes_since_request",
        "_counted",
        "_deadline",
        "_fields",
        "_ignoring_input",
        "_parser",
        "_pending_headers",
        "_phase",
        "_received",
        "_requests",
        "_server",
        "_url",
        "on_body",
        "on_header",
        "on_message_begin",
        "on_url",
    )

    def __init__(self, server: ServerState) -> None:
        self._server = server
        # The parser fills these without a call into Python for each header, and empties the last.
        self._url: list[bytes] = []
        self._fields: dict[bytes, bytes] = {}
        self._body = bytearray()
        self.on_url = self._url.append
        self.on_header = self._fields.__setitem__
        self.on_body = self._body.extend
        self._between_requests = [True]  # empty while some of a request is there
        self.on_message_begin = self._between_requests.clear
        self._parser = HttpRequestParser(self)
        # The headers of the request whose body is being read.
        self._pending_headers: dict[bytes, bytes] | None = None
        self._bytes_since_request = 0  # bytes read since the last complete request
        self._counted = 0  # this connection's part of the sum of partial bodies
        self._phase = 0
        self._ignoring_input = False  # whatever else the client sends is dropped
        self._received: list[bytes] = []  # what heads of requests were read from, since the last idle moment
        self._requests = 0  # in that
        self._deadline = 0.0

    def _forget_partial(self) -> None:
        """Be ready for the next request."""
        raise NotImplementedError

    def _refuse(self, status: int) -> None:
        """Answer with an error, and read no more requests."""
        raise NotImplementedError

    def _send_continue(self) -> None:
        """Tell a client that waits for it to send the body."""
        raise NotImplementedError

    def _feed(self, data: bytes) -> None:
        self._bytes_since_request += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserUpgrade, HttpParserError) as stop:
            self._stopped(data, stop)

    def _stopped(self, data: bytes, stop: Exception) -> None:
        """The parser does not go on by itself: another protocol is offered, or something is wrong."""
        if isinstance(stop, HttpParserUpgrade):
            self._decline_upgrade(data[stop.args[0] :])
        else:
            self._refuse(_status_of(stop))

    def _read_on(self, data: bytes) -> None:
        """Read the rest of a request; then what is behind it, for which all that was received before is let go."""
        begin = cuts = 0
        while begin < len(data) and not (self._between_requests or self._ignoring_input):
            cuts += 1
            # A body may be nothing but empty lines. Requests behind such a one are read, but not their `fields`.
            end = self._next_cut(data, begin) if cuts < _CUTS_MAX else len(data)
            piece = data[begin:end]
            if self._pending_headers is None:
                self._received.append(piece)
            self._feed(piece)
            begin = end
        if begin < len(data) and not self._ignoring_input:
            rest = data[begin:]
            self._received = [rest]
            self._requests = 0
            self._feed(rest)

    def _next_cut(self, data: bytes, begin: int) -> int:
        """Where a request that is under way may end: it ends at one of these places, if it ends in this data."""
        fields = self._pending_headers
        if fields is not None and b"Transfer-Encoding" not in fields:
            return begin + int(fields.get(b"Content-Length", 0)) - len(self._body)
        # Heads and chunked bodies end with an empty line, of which a part may have come before.
        near = data.find(b"\n", begin, 3)
        if near >= 0:
            return near + 1
        end = data.find(_EMPTY_LINE, begin)
        return len(data) if end < 0 else end + len(_EMPTY_LINE)

    def _incomplete(self) -> None:
        server = self._server
        if self._pending_headers is None:
            if self._phase != _HEAD:
                self._phase = _HEAD
                self._deadline = server.now + server.limits.head_seconds
            if self._bytes_since_request > server.limits.head_bytes_max:
                self._refuse(431)
        else:
            if self._phase != _BODY:
                self._phase = _BODY
                self._deadline = server.now + server.limits.body_seconds
                self._check_announced_body(self._pending_headers)
            self._measure(len(self._body))

    def _check_announced_body(self, fields: dict[bytes, bytes]) -> None:
        """Act on what the headers say of a body that is still to come."""
        if int(fields.get(b"Content-Length", 0)) > self._server.limits.body_bytes_max:
            self._refuse(413)
        elif b"Expect" in fields and self._parser.get_http_version() != "1.0":
            if fields[b"Expect"].lower() != b"100-continue":
                self._refuse(417)
            else:
                self._send_continue()

    def _measure(self, size: int) -> None:
        if size > self._server.limits.body_bytes_max:
            self._refuse(413)
        elif self._bytes_since_request > size * _CHUNK_FACTOR + _FRAMING_SLACK_BYTES:
            self._refuse(400)  # endless trailers or chunk extensions
        elif size > _LARGE_BYTES:
            self._count_partial(size)
            if self._server.partial_bytes > self._server.limits.partial_bytes_max:
                self._refuse(503)

    def _count_partial(self, size: int) -> None:
        self._server.partial_bytes += size - self._counted
        self._counted = size

    def _head_bytes(self) -> int:
        fields = sum(len(name) + len(value) + 4 for name, value in self._fields.items())
        return fields + sum(map(len, self._url))

    def _decline_upgrade(self, rest: bytes) -> None:
        """Read a request that offers another protocol as if it had not."""
        if self._pending_headers is None:
            self._ignoring_input = True  # CONNECT: what follows is not HTTP
            return
        first_line = b"%b %b HTTP/1.1" % (self._parser.get_method(), b"".join(self._url))
        fields = headers.fields_of(self._received, self._requests)
        kept = [field for field in fields if field[0].title() not in _UPGRADE_HEADERS]
        self._forget_partial()
        self._parser = HttpRequestParser(self)
        self._received = [headers.head(first_line, fields)]  # with the offer, as it was sent
        self._requests = 0
        self._feed(headers.head(first_line, kept))
        self._read_on(rest)


def _status_of(error: Exception) -> int:
    cause = error.__context__
    if isinstance(cause, RequestRefused):
        return cause.status
    # What follows a declined upgrade is read while that is being handled, and may just be no HTTP.
    if cause is not None and not isinstance(cause, HttpParserUpgrade):
        log.error("connection.failed", error=cause)
        return 500
    return 400
