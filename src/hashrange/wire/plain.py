"""Answers to what is no operation: health checks, browsers' preflight requests, anything else."""

from collections.abc import Mapping

from hashrange.wire.interfaces import Exchange

_NOT_FOUND_BODY = b"<UnknownOperationException/>\n"


def answer(exchange: Exchange, region: str, request_id: bytes) -> tuple[bytes, bytes]:
    """Give head and body."""
    path = exchange.url.partition(b"?")[0]
    lines = [b"HTTP/1.1 200 OK", b"x-amzn-RequestId: " + request_id]
    body = b""
    if exchange.method == b"OPTIONS":
        lines += _preflight(exchange.headers)
    elif path == b"/" and exchange.method in {b"GET", b"HEAD"}:
        body = f"healthy: dynamodb.{region}.amazonaws.com ".encode()
    else:
        lines[0] = b"HTTP/1.1 404 Not Found"
        body = _NOT_FOUND_BODY
    lines.append(b"Content-Length: %d\r\n" % len(body))
    return b"\r\n".join(lines), b"" if exchange.method == b"HEAD" else body


def _preflight(headers: Mapping[bytes, bytes]) -> list[bytes]:
    lines = [b"Access-Control-Allow-Origin: *", b"Access-Control-Max-Age: 172800"]
    for requested, allowed in (
        (b"Access-Control-Request-Headers", b"Access-Control-Allow-Headers: "),
        (b"Access-Control-Request-Method", b"Access-Control-Allow-Methods: "),
    ):
        if requested in headers:
            lines.append(allowed + headers[requested])
    return lines
