"""Requests of the usual kind, received in one piece: taken in without a call into Python for any of their parts.

The compiled helper (`_head.c`) reads them, or the parser where there is no helper. Whatever is unusual about a request
is left to `RequestReader`, which reads it anew. Nothing has been run by then.
"""

from collections.abc import Callable
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from hashrange.wire import headers

FIRST_LINE = b"POST / HTTP/1.1\r\n"
REQUEST_BYTES_MAX = 64 * 1024
_HEAD_BYTES_MAX = 4096  # this one and the next are also in _head.c
_LINES_MAX = 22  # with the first and the empty one
_STAGES = (None, None)  # one is taken when a request begins, one when it ends
# These decide where a request ends, or what becomes of its connection.
_SPECIAL = frozenset(
    {
        b"Connection",
        b"Expect",
        b"Http2-Settings",
        b"Proxy-Connection",
        b"Te",
        b"Trailer",
        b"Transfer-Encoding",
        b"Upgrade",
    }
)
_KEPT = (None, b"keep-alive", b"Keep-Alive")  # values of Connection


Repeat = Callable[[Any], None]
"""Answers a request whose head is that of the one before it, but for what differs from one to the next."""

# Puts the headers of a usual request into a dictionary, which has nothing else then, and gives the body; else None.
# With the body comes what another dictionary has for targets of requests that repeat the head before: see _head.c.
Reader = Callable[[bytes, dict[bytes, bytes], dict[bytes, Repeat]], tuple[bytes, Repeat | None] | None]

helper: Reader | None
try:
    from hashrange.wire._head import read as helper
except ImportError:
    helper = None


def reader(fields: dict[bytes, bytes]) -> Reader:
    """What reads the usual requests of one connection: the compiled helper, where it was built, or the parser.

    It is to be called with this same dictionary.
    """
    return ParsedRequests(fields).read if helper is None else helper


class ParsedRequests:
    """The parser, and where it puts what it finds."""

    __slots__ = (
        "_bodies",
        "_feed",
        "_stages",
        "on_body",
        "on_header",
        "on_message_begin",
        "on_message_complete",
    )

    def __init__(self, fields: dict[bytes, bytes]) -> None:
        self._bodies: list[bytes] = []
        # Empty after one whole request; another one makes `pop` raise.
        self._stages: list[None] = list(_STAGES)
        self.on_header = fields.__setitem__
        self.on_body = self._bodies.append
        self.on_message_begin = self.on_message_complete = self._stages.pop
        self._feed = HttpRequestParser(self).feed_data

    def read(
        self, received: bytes, fields: dict[bytes, bytes], _repeats: dict[bytes, Repeat]
    ) -> tuple[bytes, None] | None:
        """Give the body of a usual request and its headers, without a call into Python for each of them."""
        if not received.startswith(FIRST_LINE):
            return None
        fields.clear()
        try:
            self._feed(received)
        except (HttpParserUpgrade, HttpParserError):
            self._bodies.clear()
        if self._bodies and not self._stages:
            body = self._bodies.pop()
            named = usual_headers(received, len(received) - len(body), fields)
            if named is not None:
                if named is not fields:
                    fields.clear()
                    fields.update(named)
                self._stages += _STAGES
                return body, None
        self._start_over()
        return None

    def _start_over(self) -> None:
        self._bodies.clear()
        self._stages[:] = _STAGES
        self._feed = HttpRequestParser(self).feed_data


def usual_headers(received: bytes, head_bytes: int, fields: dict[bytes, bytes]) -> dict[bytes, bytes] | None:
    """The headers under names that can be looked up, if all about the head is usual; else `request_head` judges it.

    The bytes received begin with the request; the parser found these fields in them. Whether Host is one is left to
    the caller.
    """
    if not headers.USUAL.issuperset(fields):
        fields = headers.titled(fields)
        if not _SPECIAL.isdisjoint(fields):
            return None
    elif fields.get(b"Connection") not in _KEPT:
        return None
    # As many lines as names: no name came twice.
    lines = len(fields) + 2
    if head_bytes > _HEAD_BYTES_MAX or lines > _LINES_MAX or received.count(b"\n", 0, head_bytes) != lines:
        return None
    return fields
