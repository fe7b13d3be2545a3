"""Bodies that come compressed, and answers to clients that ask for compressed ones."""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any

from zlib_ng import zlib_ng

from hashrange.api import errors
from hashrange.api.errors import ApiError
from hashrange.caches import BoundedCache
from hashrange.wire.interfaces import AnswerStream, Exchange, Peer
from hashrange.wire.usual_requests import Repeat

_GZIP, _ZLIB, _RAW = 31, 15, -15  # zlib's numbers for the framings, with any window size
_FRAMINGS = {b"gzip": _GZIP, b"x-gzip": _GZIP, b"deflate": _ZLIB}
_DEFLATE_METHOD, _ZLIB_CHECK = 8, 31  # RFC 1950: the method, and what the first two bytes are a multiple of
# Each member costs a decompressor; a body of nothing but empty ones would have hundreds of thousands.
_MEMBERS_MAX = 256
_PIECE_BYTES = 64 * 1024
_BEGINNING_BYTES = 4096
_ANSWER_BYTES_MIN = 4096  # up to this the service sends answers as they are
# 4.6 ms for a megabyte of items, a fifth of which is left. Level 1 takes 3.1 ms and leaves 3/10, level 6 13 ms and 1/5.
_LEVEL = 2
_LOOP_BYTES_MAX = 32 * 1024  # larger answers are packed on another thread
_LENGTH = re.compile(rb"x-amz-crc32: [0-9]+\r\n(.*)Content-Length: [0-9]+\r\n", re.DOTALL)
_QUALITY = re.compile(rb"q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)", re.IGNORECASE)
_ACCEPTED_MAX = 256


def unpacked(encoding: bytes, body: bytes | bytearray, bytes_max: int) -> bytes | bytearray:
    """Unpack a body, but never more of it than a plain one might have."""
    name = encoding.strip().lower()
    if name in {b"", b"identity"}:
        return body
    framing = _FRAMINGS.get(name)
    if framing is None:
        raise errors.serialization(None)
    if framing == _ZLIB and not _has_zlib_header(body):
        framing = _RAW
    try:
        return _inflated(memoryview(body), framing, bytes_max)
    except zlib_ng.error:  # type: ignore[misc]  # its stub says that it is an instance
        raise _undecodable() from None


def beginning(encoding: bytes, body: bytes | bytearray) -> bytes:
    """The first few bytes of a body; none of one that cannot be unpacked."""
    framing = _FRAMINGS.get(encoding.strip().lower())
    if framing is None:
        return bytes(body[:_BEGINNING_BYTES])
    if framing == _ZLIB and not _has_zlib_header(body):
        framing = _RAW
    try:
        return zlib_ng.decompressobj(framing).decompress(bytes(body[:_BEGINNING_BYTES]), _BEGINNING_BYTES)
    except zlib_ng.error:  # type: ignore[misc]  # as in `unpacked`
        return b""


def _inflated(packed: memoryview, framing: int, bytes_max: int) -> bytes:
    """All members of a gzip body, or the one of another, in pieces."""
    plain = bytearray()
    begin = members = 0
    while True:
        unpacker = zlib_ng.decompressobj(framing)
        while not unpacker.eof:
            piece = unpacker.unconsumed_tail or packed[begin : begin + _PIECE_BYTES]
            if not len(piece):
                raise _undecodable()
            if not unpacker.unconsumed_tail:
                begin += len(piece)
            plain += unpacker.decompress(piece, bytes_max + 1 - len(plain))
            if len(plain) > bytes_max:
                raise errors.too_large()
        begin -= len(unpacker.unused_data)
        members += 1
        if begin == len(packed):
            return bytes(plain)
        if framing != _GZIP or members == _MEMBERS_MAX:
            raise _undecodable()


def _has_zlib_header(body: bytes | bytearray) -> bool:
    """Clients disagree on what deflate is: RFC 9110 says zlib's framing, some send the bare stream."""
    return len(body) > 1 and body[0] & 15 == _DEFLATE_METHOD and (body[0] * 256 + body[1]) % _ZLIB_CHECK == 0


def _undecodable() -> ApiError:
    """The service takes it for a failure of its own."""
    return ApiError("InternalFailure", None, status=500)


def chosen(accepted: bytes) -> bytes:
    """The coding for an Accept-Encoding header: gzip or deflate, whichever is wanted more, or nothing for none."""
    wanted = {b"gzip": 0.0, b"deflate": 0.0}
    for item in accepted.lower().split(b","):
        name, *parameters = (part.strip() for part in item.split(b";"))
        if name in wanted:
            quality = _QUALITY.fullmatch(parameters[0]) if parameters else None
            wanted[name] = float(quality[1]) if quality else float(not parameters)
    best = max(wanted, key=lambda name: wanted[name])
    return best if wanted[best] else b""


class Codings:
    """Remembers what the clients' headers ask for: there are few of them."""

    def __init__(self) -> None:
        self._chosen: BoundedCache[bytes, bytes] = BoundedCache(_ACCEPTED_MAX)

    def packing(self, exchange: Exchange, accepted: bytes) -> Exchange:
        """The exchange itself, or one that packs large answers if the client asks for that."""
        coding = self._chosen.get(accepted)
        if coding is None:
            coding = chosen(accepted)
            self._chosen.put(accepted, coding)
        return PackingExchange(exchange, coding) if coding else exchange


class PackingExchange:
    """An exchange whose large answers leave packed."""

    __slots__ = ("_coding", "_exchange", "body", "headers", "method", "repeats", "url")

    def __init__(self, exchange: Exchange, coding: bytes) -> None:
        self._exchange = exchange
        self._coding = coding
        self.method = exchange.method
        self.url = exchange.url
        self.headers = exchange.headers
        self.body = exchange.body
        self.repeats: dict[bytes, Repeat] | None = None

    @property
    def identity_cache(self) -> tuple[Any, Any] | None:
        """Kept by the connection."""
        return self._exchange.identity_cache

    @identity_cache.setter
    def identity_cache(self, value: tuple[Any, Any] | None) -> None:
        self._exchange.identity_cache = value

    @property
    def repeats_headers(self) -> bool:
        """Whether a header may have been sent more than once."""
        return self._exchange.repeats_headers

    @property
    def peer(self) -> Peer:
        """Who sent the request."""
        return self._exchange.peer

    @property
    def fields(self) -> Sequence[tuple[bytes, bytes]]:
        """All headers as they were sent."""
        return self._exchange.fields

    def stream(self, head: bytes) -> AnswerStream:
        """Begin an answer that is not packed, since its pieces are to arrive one by one."""
        return self._exchange.stream(head)

    def send(self, head: bytes, body: bytes) -> None:
        """Send an answer, packed if it is large."""
        if len(body) <= _ANSWER_BYTES_MIN:
            self._exchange.send(head, body)
        elif len(body) <= _LOOP_BYTES_MAX:
            self._exchange.send(*packed(head, body, self._coding))
        else:
            loop = asyncio.get_running_loop()
            packing = loop.run_in_executor(None, packed, head, body, self._coding)
            packing.add_done_callback(_sender(self._exchange, head, body))


def _sender(
    exchange: Exchange, head: bytes, body: bytes
) -> Callable[[asyncio.Future[tuple[bytes, bytes]]], None]:
    def send(packing: asyncio.Future[tuple[bytes, bytes]]) -> None:
        # Whatever went wrong, the answer is still there as it was.
        exchange.send(*((head, body) if packing.exception() else packing.result()))

    return send


def packed(head: bytes, body: bytes, coding: bytes) -> tuple[bytes, bytes]:
    """Give head and body of the same answer, packed; the service's checksum is that of the bytes that are sent."""
    packer = zlib_ng.compressobj(_LEVEL, zlib_ng.DEFLATED, _FRAMINGS[coding])
    sent = packer.compress(body) + packer.flush()
    lines = rb"x-amz-crc32: %d\r\n\1Content-Encoding: %b\r\nContent-Length: %d\r\n"
    return _LENGTH.sub(lines % (zlib_ng.crc32(sent), coding, len(sent)), head, count=1), sent
