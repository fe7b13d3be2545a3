"""The headers of an answer with its checksum."""

from collections.abc import Callable

from zlib_ng import zlib_ng

JSON_1_0 = b"application/x-amz-json-1.0"
CORS = (
    b"Access-Control-Allow-Origin: *\r\n"
    b"Access-Control-Expose-Headers: x-amzn-RequestId,x-amzn-ErrorType,x-amz-crc32,Date\r\n"
)


# Status line and headers up to the request id; request id; checksum and length of the body.
OK_HEAD = b"%b%b\r\nx-amz-crc32: %d\r\nContent-Length: %d\r\n"


def formatted_ok_head(begin: bytes, request_id: bytes, checksum: int, length: int, /) -> bytes:
    """The head of a good answer, but for the headers that are the same for all."""
    return OK_HEAD % (begin, request_id, checksum, length)


ok_head: Callable[[bytes, bytes, int, int], bytes]
try:
    from hashrange.wire._head import ok_head
except ImportError:
    ok_head = formatted_ok_head


class Form:
    """The headers of an answer that depend on the request: content type, and what browsers ask for."""

    __slots__ = ("_head", "ok")

    def __init__(self, content_type: bytes = JSON_1_0, *, cors: bool = False) -> None:
        self._head = b"Content-Type: %b\r\n%bx-amzn-RequestId: " % (content_type, CORS if cors else b"")
        self.ok = b"HTTP/1.1 200 OK\r\n" + self._head  # what a good answer begins with: see `ok_head`

    def failed(self, status: bytes, code: bytes, request_id: bytes, body: bytes, lines: bytes = b"") -> bytes:
        """Give the head of an error; `lines` are more headers."""
        return (
            b"HTTP/1.1 %b\r\n%b%b\r\nx-amz-crc32: %d\r\nx-amzn-errortype: %b\r\n%bContent-Length: %d\r\n"
            % (
                status,
                self._head,
                request_id,
                zlib_ng.crc32(body),
                code,
                lines,
                len(body),
            )
        )
