"""Packing and unpacking while it streams: never more than a piece of it is in memory."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal, Protocol

from zlib_ng import zlib_ng

from hashrange.formats import limits
from hashrange.formats.errors import Garbage

Compression = Literal["NONE", "GZIP", "ZSTD"]
_GZIP = 31  # zlib's number for the framing, with any window size
_LEVEL = 6
_NOT_GZIP = "The object is not valid GZIP"
_NOT_ZSTD = "The object is not valid ZSTD"
_ZSTD_INPUT_BYTES = 256


def unpacked(chunks: Iterable[bytes], compression: Compression) -> Iterator[bytes]:
    """What was packed, in pieces; `Garbage` where it is damaged, is something else, or breaks off."""
    match compression:
        case "NONE":
            yield from chunks
        case "GZIP":
            yield from _gunzipped(chunks)
        case "ZSTD":
            yield from _unzstd(chunks)


def _gunzipped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """All members of a gzip file, one after the other, as `zcat` has it."""
    unpacker: Any = None
    empty_members = 0
    for chunk in chunks:
        data = chunk
        while data:
            if unpacker is None:
                unpacker = zlib_ng.decompressobj(_GZIP)
                empty_members += 1
            try:
                piece = unpacker.decompress(data, limits.PIECE_BYTES)
            except zlib_ng.error:  # type: ignore[misc]  # its stub says that it is an instance
                raise Garbage(_NOT_GZIP) from None
            if piece:
                empty_members = 0
                yield piece
            data = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if unpacker.eof:
                unpacker = None
                if empty_members > limits.EMPTY_MEMBERS_MAX:
                    raise Garbage(_NOT_GZIP)
    if unpacker is not None:
        raise Garbage(_NOT_GZIP)


def _unzstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """All frames of a zstd file, one after the other, as `zstdcat` has it."""
    import zstandard  # noqa: PLC0415 - few servers ever need it

    frames = zstandard.ZstdDecompressor(max_window_size=limits.ZSTD_WINDOW_BYTES_MAX)
    unpacker = None
    empty_frames = 0
    for data in _small(chunks):
        while data:
            if unpacker is None:
                unpacker = frames.decompressobj()
                empty_frames += 1
            try:
                piece = unpacker.decompress(data)
            except zstandard.ZstdError:
                raise Garbage(_NOT_ZSTD) from None
            if piece:
                empty_frames = 0
                yield piece
            data = unpacker.unused_data if unpacker.eof else b""  # noqa: PLW2901 - what the next frame begins with
            if unpacker.eof:
                unpacker = None
                if empty_frames > limits.EMPTY_MEMBERS_MAX:
                    raise Garbage(_NOT_ZSTD)
    if unpacker is not None:
        raise Garbage(_NOT_ZSTD)


def _small(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The library gives all that its input unpacks to at once: 128 KB for four bytes, if somebody means it."""
    for chunk in chunks:
        for start in range(0, len(chunk), _ZSTD_INPUT_BYTES):
            yield chunk[start : start + _ZSTD_INPUT_BYTES]


class Packer(Protocol):
    """What packs a file piece by piece."""

    def pack(self, data: bytes) -> bytes:
        """Take some of the file; gives what is packed by now, which may be nothing."""

    def finish(self) -> bytes:
        """Give the rest."""


class GzipPacker:
    """One gzip file; the same bytes every time, because it does not say when it was made."""

    def __init__(self) -> None:
        self._packer = zlib_ng.compressobj(_LEVEL, zlib_ng.DEFLATED, _GZIP)

    def pack(self, data: bytes) -> bytes:
        return self._packer.compress(data)

    def finish(self) -> bytes:
        return self._packer.flush()


class ZstdPacker:
    """One zstd file."""

    def __init__(self) -> None:
        import zstandard  # noqa: PLC0415 - few servers ever need it

        self._packer = zstandard.ZstdCompressor().compressobj()

    def pack(self, data: bytes) -> bytes:
        return self._packer.compress(data)

    def finish(self) -> bytes:
        return self._packer.flush()


class NoPacker:
    """A file as it is."""

    def pack(self, data: bytes) -> bytes:
        return data

    def finish(self) -> bytes:
        return b""


def packer(compression: Compression) -> Packer:
    """What packs a new file."""
    match compression:
        case "NONE":
            return NoPacker()
        case "GZIP":
            return GzipPacker()
        case "ZSTD":
            return ZstdPacker()
