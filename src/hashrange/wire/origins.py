"""Where a request came from, for the audit log and for policies."""

import re
from functools import lru_cache

from hashrange.audit.events import Origin
from hashrange.wire.interfaces import Exchange

_CLAIMED = re.compile(rb"Credential=([!-.0-~]{1,128})(?:/|%2F)", re.IGNORECASE)
_AGENT_BYTES_MAX = 1024


def origin_of(exchange: Exchange, request_id: bytes) -> Origin:
    """Where a request came from; to be asked while the request is there."""
    peer, headers = exchange.peer, exchange.headers
    referer = headers.get(b"Referer")
    return Origin(
        peer.address,
        _agent(headers.get(b"User-Agent", b"")[:_AGENT_BYTES_MAX]),
        request_id.decode("ascii", "replace"),
        headers.get(b"Host", b"")[:_AGENT_BYTES_MAX].decode("latin-1"),
        peer.tls_version,
        peer.cipher,
        "" if referer is None else referer[:_AGENT_BYTES_MAX].decode("latin-1"),
    )


@lru_cache(maxsize=64)
def _agent(sent: bytes) -> str:
    return sent.decode("utf-8", "backslashreplace")


class Arrival:
    """Where a request came from, found out when it is first asked, which has to be while the request is there."""

    __slots__ = ("_exchange", "_origin", "_request_id")

    def __init__(self, exchange: Exchange, request_id: bytes) -> None:
        self._exchange = exchange
        self._request_id = request_id
        self._origin: Origin | None = None

    def origin(self) -> Origin:
        """The origin; once it was asked for it stays."""
        if self._origin is None:
            self._origin = origin_of(self._exchange, self._request_id)
        return self._origin


def claiming_origin(exchange: Exchange, request_id: bytes) -> Origin:
    """The same of a request that is refused, with the access key that it claims to be signed with."""
    source = exchange.headers.get(b"Authorization", b"") or exchange.url
    claimed = _CLAIMED.search(source)
    key = "" if claimed is None else claimed[1].decode("ascii", "replace")
    return origin_of(exchange, request_id)._replace(claimed_key=key)
