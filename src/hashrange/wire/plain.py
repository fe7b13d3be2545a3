"""Answers to what is no operation: health checks, browsers' preflight requests, anything else."""

from collections.abc import Callable, Mapping

from zlib_ng.zlib_ng import crc32

from hashrange.wire.codec import CORS
from hashrange.wire.interfaces import Exchange

_NOT_FOUND_BODY = b"<UnknownOperationException/>\n"
_JSON = b"Content-Type: application/json\r\n"
_MAX_AGE = b"Access-Control-Max-Age: 172800\r\n"
_PREFLIGHT = (
    (b"Access-Control-Request-Headers", b"Access-Control-Allow-Headers"),
    (b"Access-Control-Request-Method", b"Access-Control-Allow-Methods"),
)


def answer(exchange: Exchange, region: str, request_id: bytes) -> None:
    """Answer a request that asks for no operation."""
    path = exchange.url.partition(b"?")[0]
    if exchange.method == b"OPTIONS":
        send(exchange, request_id, b"200 OK", b"", _preflight(exchange.headers))
    elif path == b"/" and exchange.method in {b"GET", b"HEAD"}:
        send(exchange, request_id, b"200 OK", f"healthy: dynamodb.{region}.amazonaws.com ".encode())
    else:
        not_found(exchange, request_id)


def not_found(exchange: Exchange, request_id: bytes) -> None:
    """Say that there is nothing of this kind."""
    send(exchange, request_id, b"404 Not Found", _NOT_FOUND_BODY)


def send(exchange: Exchange, request_id: bytes, status: bytes, body: bytes, lines: bytes = b"") -> None:
    """Send a short answer, with the headers that a browser asks for."""
    if b"Origin" in exchange.headers:
        lines = CORS + lines
    exchange.send(*rendered(request_id, status, body, lines, is_head=exchange.method == b"HEAD"))


def answering(exchange: Exchange, request_id: bytes) -> Callable[[bytes, bytes], None]:
    """What sends status and body later, when the request is gone; a body that begins like an object is JSON."""
    lines = CORS if b"Origin" in exchange.headers else b""
    is_head = exchange.method == b"HEAD"

    def answer(status: bytes, body: bytes) -> None:
        kind = _JSON if body.startswith(b"{") else b""
        exchange.send(*rendered(request_id, status, body, lines + kind, is_head=is_head))

    return answer


def rendered(
    request_id: bytes, status: bytes, body: bytes, lines: bytes = b"", *, is_head: bool
) -> tuple[bytes, bytes]:
    """Give head and body."""
    head = b"HTTP/1.1 %b\r\nx-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\n%bContent-Length: %d\r\n" % (
        status,
        request_id,
        crc32(body),
        lines,
        len(body),
    )
    return head, b"" if is_head else body


def _preflight(headers: Mapping[bytes, bytes]) -> bytes:
    if b"Origin" not in headers:
        return b""
    allowed = [
        b"%b: %b\r\n" % (allow, headers[request]) for request, allow in _PREFLIGHT if request in headers
    ]
    return _MAX_AGE + b"".join(allowed)
