"""Files in chunks: whatever is done to one, it opens as it was or not at all."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.kms import chunks
from hashrange.kms.chunks import ChunkSealer, unsealed
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.file_seals import FileCipher
from hashrange.kms.sizes import SEALED_OVERHEAD_BYTES

CHUNK = 16
STORED = CHUNK + SEALED_OVERHEAD_BYTES
CIPHER = FileCipher(bytes(32))


@pytest.fixture(autouse=True, scope="module")
def small_chunks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_BYTES", CHUNK)
        patch.setattr(chunks, "_STORED_BYTES", STORED)
        yield


def sealed(content: bytes, *names: str, piece: int = 7) -> bytes:
    sealer = ChunkSealer(CIPHER, *names)
    parts = [chunk for at in range(0, len(content), piece) for chunk in sealer.add(content[at : at + piece])]
    return b"".join(parts) + sealer.finish()


def opened(stored: bytes, *names: str, piece: int = 11) -> bytes:
    pieces = (stored[at : at + piece] for at in range(0, len(stored), piece))
    return b"".join(unsealed(pieces, CIPHER, *names))


@given(st.binary(max_size=70), st.integers(1, 80), st.integers(1, 200))
def test_a_file_comes_back_however_it_is_cut(content: bytes, written: int, read: int) -> None:
    stored = sealed(content, "a", piece=written)
    assert opened(stored, "a", piece=read) == content
    # As few chunks as there can be: one at least, and none behind one that is full.
    assert len(stored) == len(content) + SEALED_OVERHEAD_BYTES * max(1, -(-len(content) // CHUNK))


@given(st.binary(max_size=70), st.data())
def test_a_file_that_was_changed_anywhere_does_not_open(content: bytes, data: st.DataObject) -> None:
    stored = bytearray(sealed(content, "a"))
    bit = data.draw(st.integers(0, 8 * len(stored) - 1))
    stored[bit // 8] ^= 1 << bit % 8
    with pytest.raises(NotAuthentic):
        opened(bytes(stored), "a")


@given(st.integers(0, 70), st.data())
def test_a_file_that_was_cut_or_extended_does_not_open(size: int, data: st.DataObject) -> None:
    stored = sealed(bytes(size), "a")
    cut = data.draw(st.integers(0, len(stored) - 1))
    for wrong in (stored[:cut], stored + stored[cut:], stored + bytes(cut + 1)):
        with pytest.raises(NotAuthentic):
            opened(wrong, "a")


def test_chunks_in_another_order_or_of_another_file_do_not_open() -> None:
    one, two = sealed(bytes(4 * CHUNK), "a"), sealed(bytes(4 * CHUNK), "b")
    parts = [one[at : at + STORED] for at in range(0, len(one), STORED)]
    assert len(parts) == 4
    others = [two[at : at + STORED] for at in range(0, len(two), STORED)]
    for wrong in (
        [parts[1], parts[0], *parts[2:]],
        [parts[0], parts[0], *parts[2:]],
        [parts[0], *parts[2:]],
        parts[1:],
        parts[:-1],
        [others[0], *parts[1:]],
        [*parts[:-1], others[-1]],
    ):
        with pytest.raises(NotAuthentic):
            opened(b"".join(wrong), "a")
    with pytest.raises(NotAuthentic):
        opened(two, "a")
