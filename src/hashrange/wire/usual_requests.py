"""Requests of the usual kind, received in one piece: taken in without a call into Python for any of their parts.

Whatever is unusual about a request is left to `RequestReader`, which reads it anew. Nothing has been run by then.
"""

from collections.abc import Container

from httptools import HttpRequestParser

from hashrange.wire import headers

FIRST_LINE = b"POST / HTTP/1.1\r\n"
REQUEST_BYTES_MAX = 64 * 1024
_HEAD_BYTES_MAX = 4096
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


class UsualRequests:
    """The parser, and where it puts what it finds."""

    __slots__ = (
        "bodies",
        "feed",
        "fields",
        "on_body",
        "on_header",
        "on_message_begin",
        "on_message_complete",
        "stages",
    )

    def __init__(self) -> None:
        self.fields: dict[bytes, bytes] = {}
        self.bodies: list[bytes] = []
        self.stages: list[None] = list(
            _STAGES
        )  # empty after one whole request; another one makes `pop` raise
        self.on_header = self.fields.__setitem__
        self.on_body = self.bodies.append
        self.on_message_begin = self.on_message_complete = self.stages.pop
        self.feed = HttpRequestParser(self).feed_data

    def start_over(self) -> None:
        """Forget what was read."""
        self.fields.clear()
        self.bodies.clear()
        self.stages[:] = _STAGES
        self.feed = HttpRequestParser(self).feed_data

    def finish(self) -> None:
        """Be ready for the next request, after a whole one."""
        self.fields.clear()
        self.stages += _STAGES


def usual_headers(
    received: bytes, head_bytes: int, fields: dict[bytes, bytes], valid_hosts: Container[bytes | None]
) -> dict[bytes, bytes] | None:
    """The headers under names that can be looked up, if all about the head is usual; else `request_head` judges it.

    The bytes received begin with the request; the parser found these fields in them.
    """
    if not headers.USUAL.issuperset(fields):
        fields = headers.titled(fields)
        if not _SPECIAL.isdisjoint(fields):
            return None
    elif fields.get(b"Connection") not in _KEPT:
        return None
    # As many lines as names: no name came twice.
    lines = len(fields) + 2
    if (
        head_bytes > _HEAD_BYTES_MAX
        or lines > _LINES_MAX
        or received.count(b"\n", 0, head_bytes) != lines
        or fields.get(b"Host") not in valid_hosts
    ):
        return None
    return fields
