"""The rules for the head of a request that the parser does not hold to: RFC 9112, and our own limits."""

import re

from httptools import HttpRequestParser

from hashrange.wire import headers, refusals
from hashrange.wire.limits import Limits
from hashrange.wire.refusals import RequestRefused

EMPTY_LINE = b"\r\n\r\n"
# The parser also takes two spaces, HTTP/0.9, RTSP and ICE.
_FIRST_LINE = re.compile(rb"[A-Z][A-Z-]* [^ ]+ HTTP/1\.[01]")
_ABSOLUTE = re.compile(rb"https?://([^/?#]*)([^#]*)", re.IGNORECASE)
# A name or an address, and a port: RFC 9110 7.2. Underscores are no DNS, but container names have them.
_HOST = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+(?:%25[\w.~-]+)?\])(?::[0-9]{0,5})?")


def checked(
    received: list[bytes], parser: HttpRequestParser, url: list[bytes], limits: Limits
) -> dict[bytes, bytes]:
    """Give the headers under names that can be looked up, or refuse the request.

    The bytes received begin with the request. A target in absolute form is replaced by its path in `url`, and decides
    what the host is.
    """
    head = b"".join(received).lstrip(b"\r\n").partition(EMPTY_LINE)[0]
    if len(head) > limits.head_bytes_max:
        raise RequestRefused(refusals.HEAD_TOO_LARGE)
    if not _FIRST_LINE.fullmatch(head.partition(b"\r\n")[0]):
        raise RequestRefused(refusals.NOT_HTTP)
    if head.startswith(b"CONNECT "):
        raise RequestRefused(refusals.CONNECT)
    fields = headers.fields_of(received)
    if len(fields) > limits.headers_max:
        raise RequestRefused(refusals.HEAD_TOO_LARGE)
    is_old = parser.get_http_version() == "1.0"
    named = headers.titled(dict(fields))
    if b"Authorization" in named:
        named[b"Authorization"] = _first(fields, b"authorization")
    _check_host(fields, is_old=is_old)
    _check_coding(fields, is_old=is_old)
    absolute = _ABSOLUTE.fullmatch(b"".join(url))
    if absolute is not None:
        named[b"Host"] = _valid_host(absolute[1])
        url[:] = [absolute[2] if absolute[2].startswith(b"/") else b"/" + absolute[2]]
    return named


def _first(fields: list[tuple[bytes, bytes]], lowered: bytes) -> bytes:
    """The first value of a header that is there; of several Authorization headers the service takes that."""
    return next(value for name, value in fields if name.lower() == lowered)


def _check_host(fields: list[tuple[bytes, bytes]], *, is_old: bool) -> None:
    """RFC 9112 3.2: exactly one, unless the client is older than the header."""
    hosts = [value for name, value in fields if name.lower() == b"host"]
    if len(hosts) != 1 and not (is_old and not hosts):
        raise RequestRefused(refusals.BAD_HOST)
    for host in hosts:
        _valid_host(host)


def _valid_host(host: bytes) -> bytes:
    if not _HOST.fullmatch(host):
        raise RequestRefused(refusals.BAD_HOST)
    return host


def _check_coding(fields: list[tuple[bytes, bytes]], *, is_old: bool) -> None:
    """RFC 9112 6.1 and 6.3: chunked is the last coding, or nobody knows where the body ends; others are not read."""
    values = [value for name, value in fields if name.lower() == b"transfer-encoding"]
    codings = [coding.strip().lower() for value in values for coding in value.split(b",")]
    if not codings or (codings == [b"chunked"] and not is_old):
        return
    if is_old or codings[-1] != b"chunked" or codings.count(b"chunked") > 1:
        raise RequestRefused(refusals.NOT_HTTP)
    raise RequestRefused(refusals.CODING)
