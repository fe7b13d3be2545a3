"""Where a request came from, for the audit log."""

import re

from hashrange.audit.events import Origin
from hashrange.wire.interfaces import Exchange

_CLAIMED = re.compile(rb"Credential=([!-.0-~]{1,128})(?:/|%2F)", re.IGNORECASE)
_AGENT_BYTES_MAX = 1024


def origin_of(exchange: Exchange, request_id: bytes) -> Origin:
    """Where a request came from; to be asked while the request is there."""
    peer, headers = exchange.peer, exchange.headers
    return Origin(
        peer.address,
        headers.get(b"User-Agent", b"")[:_AGENT_BYTES_MAX].decode("utf-8", "backslashreplace"),
        request_id.decode("ascii", "replace"),
        headers.get(b"Host", b"")[:_AGENT_BYTES_MAX].decode("latin-1"),
        peer.tls_version,
        peer.cipher,
        headers.get(b"Referer", b"")[:_AGENT_BYTES_MAX].decode("latin-1"),
    )


def claiming_origin(exchange: Exchange, request_id: bytes) -> Origin:
    """The same of a request that is refused, with the access key that it claims to be signed with."""
    source = exchange.headers.get(b"Authorization", b"") or exchange.url
    claimed = _CLAIMED.search(source)
    key = "" if claimed is None else claimed[1].decode("ascii", "replace")
    return origin_of(exchange, request_id)._replace(claimed_key=key)
