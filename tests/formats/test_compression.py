"""Packing and unpacking: round trips in any pieces, damage, bombs."""

import gzip
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from hashrange.formats import limits
from hashrange.formats.compression import Compression, packer, unpacked
from hashrange.formats.errors import Garbage

COMPRESSIONS = st.sampled_from(["NONE", "GZIP", "ZSTD"])
PACKED: list[Compression] = ["GZIP", "ZSTD"]


def packed(data: bytes, compression: Compression) -> bytes:
    packing = packer(compression)
    return packing.pack(data) + packing.finish()


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@given(st.lists(st.binary(max_size=2000), max_size=5), COMPRESSIONS, st.integers(1, 500))
def test_what_was_packed_is_unpacked(parts: list[bytes], compression: Compression, size: int) -> None:
    packing = packer(compression)
    data = b"".join([*map(packing.pack, parts), packing.finish()])
    assert b"".join(unpacked(pieces(data, size), compression)) == b"".join(parts)


@given(st.lists(st.binary(max_size=50), max_size=5), st.sampled_from(PACKED), st.integers(1, 64))
def test_files_one_after_the_other_are_one(parts: list[bytes], compression: Compression, size: int) -> None:
    data = b"".join(packed(part, compression) for part in parts)
    assert b"".join(unpacked(pieces(data, size), compression)) == b"".join(parts)


@pytest.mark.parametrize("compression", PACKED)
def test_a_file_that_breaks_off_is_garbage_wherever_it_does(compression: Compression) -> None:
    data = packed(bytes(range(256)) * 20, compression)
    for length in range(1, len(data)):
        with pytest.raises(Garbage):
            list(unpacked([data[:length]], compression))
    assert list(unpacked([], compression)) == []


@pytest.mark.parametrize("compression", PACKED)
@pytest.mark.parametrize("data", [b'{"Item":{}}\n', b"\x00" * 100, b"\xff"])
def test_what_is_something_else_is_garbage(compression: Compression, data: bytes) -> None:
    with pytest.raises(Garbage):
        list(unpacked([data], compression))
    with pytest.raises(Garbage):
        list(unpacked([packed(b"x", compression) + data], compression))


def test_other_tools_read_what_we_pack_and_we_what_they_do() -> None:
    data = b"line\n" * 1000
    assert gzip.decompress(packed(data, "GZIP")) == data
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed(data, "ZSTD")) == data
    assert b"".join(unpacked([gzip.compress(data)], "GZIP")) == data
    assert b"".join(unpacked([zstandard.compress(data, 19)], "ZSTD")) == data


def test_gzip_is_the_same_every_time() -> None:
    assert packed(b"x" * 100, "GZIP") == packed(b"x" * 100, "GZIP")


@pytest.mark.parametrize("compression", PACKED)
def test_a_bomb_is_unpacked_in_small_pieces(compression: Compression) -> None:
    size = 60 * 1024 * 1024
    packing = packer(compression)
    bomb = b"".join([*(packing.pack(bytes(1024 * 1024)) for _ in range(60)), packing.finish()])
    assert len(bomb) < size // 500
    tracemalloc.start()
    try:
        assert sum(map(len, unpacked([bomb], compression))) == size
        assert tracemalloc.get_traced_memory()[1] < 30 * 1024 * 1024
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("compression", PACKED)
def test_nothing_but_empty_files_is_garbage(compression: Compression) -> None:
    empty = packed(b"", compression)
    assert list(unpacked([empty * limits.EMPTY_MEMBERS_MAX], compression)) == []
    with pytest.raises(Garbage):
        list(unpacked([empty * (limits.EMPTY_MEMBERS_MAX + 1)], compression))


def test_a_window_larger_than_most_tools_take_is_garbage() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=28, enable_ldm=True, write_content_size=False)
    packing = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = packing.compress(b"x" * 1000) + packing.flush()
    with pytest.raises(Garbage):
        list(unpacked([data], "ZSTD"))
