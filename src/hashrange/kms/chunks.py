"""Long files under one key, encrypted in chunks, so that neither side has more than a chunk in memory.

All chunks but the last have the same size. Each opens only as its number of its file, and the last one only as the
last: chunks that were exchanged, repeated or brought from another file do not open, nor does a file that was cut or
extended.
"""

from collections.abc import Iterable, Iterator

from hashrange.kms.interface import BlockCipher
from hashrange.kms.sizes import SEALED_OVERHEAD_BYTES

CHUNK_BYTES = 1024 * 1024
_STORED_BYTES = CHUNK_BYTES + SEALED_OVERHEAD_BYTES
_MORE, _LAST = "more", "last"


class ChunkSealer:
    """Encrypts one file, whose names say which it is, piece by piece."""

    def __init__(self, cipher: BlockCipher, *names: str) -> None:
        self._cipher = cipher
        self._names = names
        self._waiting = bytearray()
        self._number = 0

    def add(self, data: bytes | memoryview) -> Iterator[bytes]:
        """Take some of the file; gives the chunks that are known not to be the last."""
        self._waiting += data
        while len(self._waiting) > CHUNK_BYTES:
            chunk = bytes(self._waiting[:CHUNK_BYTES])
            del self._waiting[:CHUNK_BYTES]
            yield self._sealed(chunk, _MORE)

    def finish(self) -> bytes:
        """The last chunk; that of an empty file is empty."""
        return self._sealed(bytes(self._waiting), _LAST)

    def _sealed(self, chunk: bytes, place: str) -> bytes:
        number, self._number = self._number, self._number + 1
        return self._cipher.seal(chunk, *self._names, str(number), place)


def unsealed(pieces: Iterable[bytes], cipher: BlockCipher, *names: str) -> Iterator[bytes]:
    """The file, in chunks; raises `NotAuthentic` before it gives a byte that was not sealed at this place."""
    waiting = bytearray()
    number = 0
    for piece in pieces:
        waiting += piece
        while len(waiting) > _STORED_BYTES:
            chunk = bytes(waiting[:_STORED_BYTES])
            del waiting[:_STORED_BYTES]
            yield cipher.unseal(chunk, *names, str(number), _MORE)
            number += 1
    yield cipher.unseal(bytes(waiting), *names, str(number), _LAST)
