"""The server's own pages in the audit log: what was asked of them that changes something."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from hashrange.api.context import Context
from hashrange.audit.events import Origin, Outcome
from hashrange.chain.audit import Audit
from hashrange.wire.identity import Callers, known_caller
from hashrange.wire.interfaces import AnswerStream, Exchange, Peer
from hashrange.wire.origins import claiming_origin
from hashrange.wire.router import Endpoint
from hashrange.wire.usual_requests import Repeat

SIGNING_NAME = "hashrange"  # what a signature for these paths is made for
_READING = frozenset({b"GET", b"HEAD", b"OPTIONS"})
_OK = b"HTTP/1.1 200 "
_SENT_BYTES_MAX = 4096
_MESSAGE_CHARS_MAX = 256


class NotedPage:
    """A page of a server that asks for no signatures; whoever sent a request is who it says."""

    def __init__(self, endpoint: Endpoint, callers: Callers, audit: Audit, action: str) -> None:
        self._endpoint = endpoint
        self._callers = callers
        self._audit = audit
        self._action = action

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request, and note what it changed."""
        origin = claiming_origin(exchange, request_id)
        caller = known_caller(lambda: self._callers.identify(exchange, SIGNING_NAME))
        self._endpoint.handle(noting(exchange, self._audit, self._action, origin, caller), request_id)


def noting(exchange: Exchange, audit: Audit, action: str, origin: Origin, caller: Context | None) -> Exchange:
    """An exchange whose answer is noted, unless the request only reads."""
    if exchange.method in _READING:
        return exchange
    sent = _parameters(exchange)
    return _Watched(
        exchange, lambda head, body: audit.page(action, origin, caller, sent, _outcome(head, body))
    )


def _parameters(exchange: Exchange) -> dict[str, Any]:
    query = exchange.url.partition(b"?")[2][:_SENT_BYTES_MAX].decode("latin-1")
    shown: dict[str, Any] = {"method": exchange.method.decode("latin-1")}
    if query:
        shown["query"] = query
    if exchange.body:
        try:
            shown["body"] = json.loads(exchange.body) if len(exchange.body) <= _SENT_BYTES_MAX else "omitted"
        except (ValueError, RecursionError):
            shown["body"] = "omitted"
    return shown


def _outcome(head: bytes, body: bytes) -> Outcome:
    if head.startswith(_OK):
        return Outcome()
    status = head.partition(b"\r\n")[0].partition(b" ")[2].decode("latin-1")
    return Outcome(status, body.decode("utf-8", "replace").strip()[:_MESSAGE_CHARS_MAX])


class _Watched:
    """An exchange that tells what is sent."""

    def __init__(self, exchange: Exchange, told: Callable[[bytes, bytes], None]) -> None:
        self._exchange = exchange
        self._told = told
        self.method = exchange.method
        self.url = exchange.url
        self.headers = exchange.headers
        self.body = exchange.body
        self.identity_cache = exchange.identity_cache
        self.repeats: dict[bytes, Repeat] | None = None

    @property
    def peer(self) -> Peer:
        """Who sent it."""
        return self._exchange.peer

    @property
    def fields(self) -> Sequence[tuple[bytes, bytes]]:
        """All headers as they were sent."""
        return self._exchange.fields

    @property
    def repeats_headers(self) -> bool:
        """Whether a header may have been sent more than once."""
        return self._exchange.repeats_headers

    def send(self, head: bytes, body: bytes) -> None:
        """Send the answer, and tell."""
        self._exchange.send(head, body)
        self._told(head, body)

    def stream(self, head: bytes) -> AnswerStream:
        """Send an answer without a length, and tell that it began."""
        stream = self._exchange.stream(head)
        self._told(head, b"")
        return stream
