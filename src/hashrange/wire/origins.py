"""Where a request came from, for the audit log and for policies."""

import re
from functools import lru_cache

import msgspec

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


class Arrival(msgspec.Struct, gc=False):
    """Where a request came from, found out when it is first asked, which has to be while the request is there."""

    exchange: Exchange
    request_id: bytes
    origin: Origin | None = None

    def __call__(self) -> Origin:
        """The origin; once it was asked for it stays."""
        if self.origin is None:
            self.origin = origin_of(self.exchange, self.request_id)
        return self.origin


def claiming_origin(exchange: Exchange, request_id: bytes) -> Origin:
    """The same of a request that is refused, with the access key that it claims to be signed with."""
    source = exchange.headers.get(b"Authorization", b"") or exchange.url
    claimed = _CLAIMED.search(source)
    key = "" if claimed is None else claimed[1].decode("ascii", "replace")
    return origin_of(exchange, request_id)._replace(claimed_key=key)
