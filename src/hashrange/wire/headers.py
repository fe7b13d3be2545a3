"""Headers: under names that can be looked up, and as they were sent.

Header names have no case on the wire; here they are in Title-Case, which most clients send anyway.
"""

import contextlib
from collections.abc import Iterable

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

_ODD = (b"amz-sdk-invocation-id", b"amz-sdk-request")  # how the SDKs spell these two
_TITLED = (
    b"Accept",
    b"Accept-Encoding",
    b"Authorization",
    b"Connection",
    b"Content-Length",
    b"Content-Type",
    b"Host",
    b"User-Agent",
    b"X-Amz-Content-Sha256",
    b"X-Amz-Date",
    b"X-Amz-Security-Token",
    b"X-Amz-Target",
    b"X-Amz-User-Agent",
    b"X-Amzn-Trace-Id",
)
# Transfer-Encoding is not among them on purpose: its trailers must not get into the dictionary that is given on.
# Asking whether all names are usual ones takes an eighth of the time of making a new dictionary.
USUAL = frozenset(_TITLED + _ODD)
_SPELLINGS = {name.lower(): name for name in _TITLED}


def titled(fields: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """The headers under names that can be looked up; not needed where all of them are `USUAL`."""
    spellings = _SPELLINGS
    return {spellings.get(name) or name.title(): value for name, value in fields.items()}


def fields_of(received: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """All headers of the request that these bytes begin with, in the order in which they were sent, repeats included.

    They are parsed once more: a call into Python for each header of every request would cost it 3 %, and hardly
    anybody asks.
    """
    collector = _Collector()
    parser = HttpRequestParser(collector)
    # It was parsed before, so an error means that the head is complete and the parser was told to stop.
    with contextlib.suppress(HttpParserError, HttpParserUpgrade):
        for data in received:
            parser.feed_data(data)
    return collector.fields


def are_unique(received: bytes, names: int) -> bool:
    """Whether the request that these bytes begin with has as many lines of headers as names of headers."""
    end = received.find(b"\r\n\r\n")
    return end > 0 and received.count(b"\n", 0, end) == names


def is_old(received: Iterable[bytes]) -> bool:
    """Whether the request that these bytes begin with is one of HTTP/1.0."""
    return b"".join(received).lstrip(b"\r\n").partition(b"\r\n")[0].endswith(b" HTTP/1.0")


def head(first_line: bytes, fields: list[tuple[bytes, bytes]]) -> bytes:
    """The head of a request with these headers."""
    return b"\r\n".join([first_line, *(b"%b: %b" % field for field in fields), b"", b""])


class _Enough(Exception):
    """The head is complete."""


class _Collector:
    """The parser's callbacks."""

    def __init__(self) -> None:
        self.fields: list[tuple[bytes, bytes]] = []

    def on_header(self, name: bytes, value: bytes) -> None:
        self.fields.append((name, value))

    def on_headers_complete(self) -> None:
        raise _Enough
