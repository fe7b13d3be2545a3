"""Answers to what is no operation: health checks, browsers' preflight requests, anything else."""

from collections.abc import Mapping

from hashrange.wire.http import Request

_NOT_FOUND_BODY = b"<UnknownOperationException/>\n"


def answer(request: Request, region: str, request_id: bytes) -> tuple[bytes, bytes]:
    """Give head and body."""
    if request.method == b"OPTIONS":
        return _preflight(request.headers, request_id), b""
    path = request.url.partition(b"?")[0]
    if request.method in {b"GET", b"HEAD"} and path == b"/":
        text = f"healthy: dynamodb.{region}.amazonaws.com ".encode()
        head = b"HTTP/1.1 200 OK\r\nx-amzn-RequestId: %b\r\n" % request_id
        return head, b"" if request.method == b"HEAD" else text
    head = b"HTTP/1.1 404 Not Found\r\nx-amzn-RequestId: %b\r\n" % request_id
    return head, b"" if request.method == b"HEAD" else _NOT_FOUND_BODY


def _preflight(headers: Mapping[bytes, bytes], request_id: bytes) -> bytes:
    lines = [
        b"HTTP/1.1 200 OK",
        b"x-amzn-RequestId: " + request_id,
        b"Access-Control-Allow-Origin: *",
        b"Access-Control-Max-Age: 172800",
    ]
    for asked, allowed in (
        (b"Access-Control-Request-Headers", b"Access-Control-Allow-Headers: "),
        (b"Access-Control-Request-Method", b"Access-Control-Allow-Methods: "),
    ):
        if asked in headers:
            lines.append(allowed + headers[asked])
    return b"\r\n".join(lines) + b"\r\n"
