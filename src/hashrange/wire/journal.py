"""A line per request in the log, for those who ask for it: what was wanted, what came of it, how long it took."""

import time
from typing import Any

from hashrange import logs
from hashrange.wire.http import Exchange, Handler

_ERROR_TYPE = b"x-amzn-errortype: "

log = logs.Log("requests")


class Journal:
    """A handler around the real one; only there while the log is at its most talkative."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def handle(self, exchange: Exchange) -> None:
        """Have the request answered, and note how."""
        self._handler.handle(_Noted(exchange))

    def refuse(self, status: int) -> tuple[bytes, bytes]:
        """Note a request that is none."""
        log.debug("request.refused", status=status)
        return self._handler.refuse(status)


class _Noted:
    """An exchange that says what was sent."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._began = time.monotonic()
        self._target = exchange.headers.get(b"X-Amz-Target", b"").rpartition(b".")[2].decode("latin-1")
        self._bytes = len(exchange.body)
        self.method = exchange.method
        self.url = exchange.url
        self.headers = exchange.headers
        self.body = exchange.body

    @property
    def memory(self) -> tuple[bytes, Any] | None:
        return self._exchange.memory

    @memory.setter
    def memory(self, value: tuple[bytes, Any] | None) -> None:
        self._exchange.memory = value

    def send(self, head: bytes, body: bytes) -> None:
        status = head[9:12].decode("latin-1")
        _, found, rest = head.partition(_ERROR_TYPE)
        log.debug(
            "request.answered",
            operation=self._target or self.method.decode("latin-1"),
            status=int(status),
            error=rest.split(b"\r\n")[0].decode("latin-1") if found else None,
            request_bytes=self._bytes,
            answer_bytes=len(body),
            ms=round((time.monotonic() - self._began) * 1000, 2),
        )
        self._exchange.send(head, body)
