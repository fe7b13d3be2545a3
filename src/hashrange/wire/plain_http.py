"""Plain HTTP at a port that speaks TLS: one answer that says so, or where to go instead."""

import asyncio
import re
from typing import cast

from hashrange.wire.limits import Limits

# As an error of the service, so that SDKs show it and do not try again.
_BODY = (
    b'{"__type":"com.amazon.coral.service#BadRequestException",'
    b'"message":"This port speaks TLS: the endpoint begins with https://"}\n'
)
_REFUSAL = (
    b"HTTP/1.1 400 Bad Request\r\nServer: Hashrange\r\nContent-Type: application/x-amz-json-1.0\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(_BODY), _BODY)
)
_REDIRECT = (
    b"HTTP/1.1 308 Permanent Redirect\r\nServer: Hashrange\r\nLocation: https://%b:%d%b\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
_BEGINNING = re.compile(rb"[A-Z]{1,20}(?: |$)")
_REQUEST_LINE = re.compile(rb"[A-Z]{1,20} (/[!-~]{0,2000}) HTTP/1\.[01]\r\n")
_HOST = re.compile(
    rb"\r\nHost:[ \t]*([A-Za-z0-9_.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?[ \t]*(?=\r\n)",
    re.IGNORECASE,
)


class PlainHttp(asyncio.Protocol):
    """Answers the first request of a connection and ends it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, redirect_port: int | None, limits: Limits) -> None:
        self._redirect_port = redirect_port
        self._limits = limits
        self._head = b""
        self._is_answered = False
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._timer = self._loop.call_later(self._limits.head_seconds, self._transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        if self._is_answered:
            return
        self._head += data
        if not _BEGINNING.match(self._head[:21]) and self._transport is not None:
            self._transport.abort()  # neither HTTP nor TLS
        elif b"\r\n\r\n" in self._head or len(self._head) > self._limits.head_bytes_max:
            self._answer(answer(self._head, self._redirect_port))

    def _answer(self, text: bytes) -> None:
        self._is_answered = True
        if self._transport is None or self._timer is None:
            return
        self._transport.write(text)
        self._transport.write_eof()
        # The client may be sending a body yet: closing now would reset the connection before it has read the answer.
        self._timer.cancel()
        self._timer = self._loop.call_later(self._limits.linger_seconds, self._transport.close)


def answer(head: bytes, redirect_port: int | None) -> bytes:
    """What the sender of this head is told."""
    if redirect_port is None:
        return _REFUSAL
    line = _REQUEST_LINE.match(head)
    hosts = _HOST.findall(head.partition(b"\r\n\r\n")[0] + b"\r\n")
    if line is None or len(hosts) != 1:
        return _REFUSAL
    return _REDIRECT % (hosts[0], redirect_port, line[1])
