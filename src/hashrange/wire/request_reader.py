"""Reading requests from the bytes of a connection: the parser's state, the limits, what is not complete yet."""

import re

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from hashrange import logs
from hashrange.api.errors import ApiError
from hashrange.wire import headers, refusals, request_head
from hashrange.wire.interfaces import ServerState
from hashrange.wire.refusals import RequestRefused
from hashrange.wire.request_head import EMPTY_LINE
from hashrange.wire.usual_requests import FIRST_LINE, usual_headers

# Headers that ask to leave HTTP/1.1. We stay, as RFC 9110 7.8 allows.
_UPGRADE_HEADERS = frozenset({b"Connection", b"Http2-Settings", b"Upgrade"})
_BLANK_LINES = re.compile(rb"[\r\n]*")
_CHUNK_FACTOR = 7  # "1\r\n", a byte, "\r\n": the most bytes that honest chunking sends per byte of body
_FRAMING_SLACK_BYTES = 512 * 1024
_LARGE_BYTES = 16 * 1024
_CUTS_MAX = 64
_HEAD, _BODY = 1, 2  # how far a request was when the bytes ran out; 0 between requests

log = logs.Log("wire")


class RequestReader:
    """The slower half of a connection: requests that do not come in one piece, and those that break a limit.

    What every request passes through is in `Connection`.
    """

    __slots__ = (
        "_backlog",
        "_between_requests",
        "_body",
        "_bytes_since_request",
        "_deadline",
        "_fields",
        "_ignoring_input",
        "_parser",
        "_paused",
        "_pending_headers",
        "_phase",
        "_received",
        "_server",
        "_url",
        "on_body",
        "on_header",
        "on_message_begin",
        "on_url",
        "upload_bytes",
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
        self.upload_bytes = 0  # of a large body that is not complete
        self._phase = 0
        self._ignoring_input = False  # whatever else the client sends is dropped
        self._paused = False  # enough requests wait
        self._backlog = b""  # what was received behind them
        self._received: list[bytes] = []  # the bytes of the request that is being read, up to its body
        self._deadline = 0.0

    @property
    def deadline(self) -> float:
        """When the server loses patience; of two clients the earlier one has taken longer."""
        return self._deadline

    def _forget_partial(self) -> None:
        """Be ready for the next request."""
        raise NotImplementedError

    def _refuse(self, refusal: ApiError) -> None:
        """Answer with an error, and read no more requests."""
        raise NotImplementedError

    def _send_continue(self) -> None:
        """Tell a client that waits for it to send the body."""
        raise NotImplementedError

    def _feed(self, data: bytes) -> int:
        """Have bytes parsed; give how many of them have been read."""
        self._bytes_since_request += len(data)
        stop: Exception | None = None
        try:
            self._parser.feed_data(data)
        except (HttpParserUpgrade, HttpParserError) as stopped:
            stop = stopped
        # Outside of the handler: what is raised in there loses the context that `_refusal_of` needs.
        return len(data) if stop is None else self._stopped(data, stop)

    def _stopped(self, data: bytes, stop: Exception) -> int:
        """The parser does not go on by itself: another protocol is offered, or something is wrong."""
        if isinstance(stop, HttpParserUpgrade):
            self._decline_upgrade()
            read: int = stop.args[0]
            return read
        self._refuse(_refusal_of(stop))
        return len(data)

    def _read_on(self, data: bytes, begin: int = 0) -> None:
        """Read requests that come in parts, or several at a time; each from bytes that begin with it."""
        cuts = 0
        while begin < len(data) and not self._ignoring_input:
            if self._paused:
                self._backlog = data[begin:]
                return
            if self._between_requests:
                cuts = 0
                self._received = []
                if data[begin] in b"\r\n":
                    begin = _BLANK_LINES.match(data, begin).end()  # type: ignore[union-attr]
                    continue
            cuts += 1
            # A chunked body may be nothing but empty lines. Nothing is read behind such a one: see `request_head`.
            end = self._next_cut(data, begin) if cuts < _CUTS_MAX else len(data)
            piece = data[begin:end]
            if self._pending_headers is None:
                self._received.append(piece)
            begin += self._feed(piece)

    def _next_cut(self, data: bytes, begin: int) -> int:
        """Where a request that is under way may end: it ends at one of these places, if it ends in this data."""
        fields = self._pending_headers
        if fields is not None and b"Transfer-Encoding" not in fields:
            return begin + int(fields.get(b"Content-Length", 0)) - len(self._body)
        # Heads and chunked bodies end with an empty line, of which a part may have come before.
        near = data.find(b"\n", begin, len(EMPTY_LINE))
        if near >= 0:
            return near + 1
        # One that the cut before this one went through ends at this one.
        end = data.find(EMPTY_LINE, max(0, begin - len(EMPTY_LINE) + 1))
        return len(data) if end < 0 else end + len(EMPTY_LINE)

    def _checked_head(self) -> dict[bytes, bytes]:
        """Look closely at a head, unless it is a usual one."""
        received = self._received
        if len(received) == 1 and received[0].startswith(FIRST_LINE):
            usual = usual_headers(received[0], len(received[0]), self._fields)
            if usual is not None and usual.get(b"Host") in self._server.valid_hosts:
                return usual
        named = request_head.checked(self._received, self._parser, self._url, self._server.limits)
        if b"Host" in named:
            self._server.note_valid_host(named[b"Host"])
        return named

    def _incomplete(self) -> None:
        server = self._server
        if self._pending_headers is None:
            if self._phase != _HEAD:
                self._phase = _HEAD
                self._deadline = server.now + server.limits.head_seconds
            if self._bytes_since_request > server.limits.head_bytes_max:
                self._refuse(refusals.HEAD_TOO_LARGE)
        else:
            if self._phase != _BODY:
                self._phase = _BODY
                self._deadline = server.now + server.limits.body_seconds
                self._check_announced_body(self._pending_headers)
            self._measure(len(self._body))

    def _check_announced_body(self, fields: dict[bytes, bytes]) -> None:
        """Act on what the headers say of a body that is still to come."""
        if int(fields.get(b"Content-Length", 0)) > self._server.limits.body_bytes_max:
            self._refuse(refusals.BODY_TOO_LARGE)
        elif b"Expect" in fields and self._parser.get_http_version() != "1.0":
            if fields[b"Expect"].lower() != b"100-continue":
                self._refuse(refusals.EXPECTATION)
            else:
                self._send_continue()

    def _measure(self, size: int) -> None:
        if size > self._server.limits.body_bytes_max:
            self._refuse(refusals.BODY_TOO_LARGE)
        elif self._bytes_since_request > size * _CHUNK_FACTOR + _FRAMING_SLACK_BYTES:
            self._refuse(refusals.NOT_HTTP)  # endless trailers or chunk extensions
        elif size > _LARGE_BYTES:
            self._count_upload(size)

    def _count_upload(self, size: int) -> None:
        grown = size - self.upload_bytes
        self.upload_bytes = size
        self._server.hold_request(grown)

    def _start_over(self) -> None:
        """Forget what the parser has read of a request."""
        self._forget_partial()
        self._parser = HttpRequestParser(self)

    def _decline_upgrade(self) -> None:
        """Read a request that offers another protocol as if it had not."""
        first_line = b"".join(self._received).lstrip(b"\r\n").partition(b"\r\n")[0]
        fields = headers.fields_of(self._received)
        kept = [field for field in fields if field[0].title() not in _UPGRADE_HEADERS]
        if not self._parser.should_keep_alive():
            kept.append((b"Connection", b"close"))
        self._start_over()
        self._received = [headers.head(first_line, fields)]  # with the offer, as it was sent
        self._between_requests.clear()
        self._feed(headers.head(first_line, kept))


def _refusal_of(error: Exception) -> ApiError:
    cause = error.__context__
    if isinstance(cause, RequestRefused):
        return cause.refusal
    return refusals.NOT_HTTP if cause is None else failure(cause)


def failure(error: BaseException) -> ApiError:
    """The answer to a request that met a mistake of ours."""
    log.error("connection.failed", error=error)
    return refusals.FAILED
