"""Exports that are encrypted under the root key: what their objects look like.

Each export has a key of its own, wrapped in an object beside its manifests. All its other objects have the names that
they would have in the clear, and are a mark, the export's id and chunks (`kms.chunks`). A chunk opens only as that
number of that object of that export of that account. The document of record is docs/design/031-encryption.md.
"""

import hashlib
from collections.abc import Iterator
from typing import Self

import msgspec

from hashrange.formats.export_names import EXPORT_ID_LENGTH, is_export_id
from hashrange.kms import chunks
from hashrange.kms.chunks import ChunkSealer
from hashrange.kms.interface import BlockCipher
from hashrange.objects.interface import Bucket, Writer, Written

# The underscore keeps it from being taken for a data file, as it does for `_started`.
KEY_NAME = "_export-key.json"
FORMAT = 1
# No text, and no file of gzip, zstd or Ion begins like this.
MARK = b"\x00hashrange sealed export \x01"
HEAD_BYTES = len(MARK) + EXPORT_ID_LENGTH


class ExportKey(msgspec.Struct, frozen=True, kw_only=True):
    """The object with an export's key. Whoever changes account or id in it has files that do not open."""

    format: int = FORMAT
    account_id: str
    export_id: str
    keys: dict[str, bytes]  # wrapped, by the id of the root key


class ExportSeal:
    """What encrypts and opens the objects of one export."""

    __slots__ = ("_cipher", "account_id", "export_id")

    def __init__(self, cipher: BlockCipher, *, account_id: str, export_id: str) -> None:
        self._cipher = cipher
        self.account_id = account_id
        self.export_id = export_id

    @property
    def head(self) -> bytes:
        """What every object begins with."""
        return MARK + self.export_id.encode("ascii")

    def sealer(self, key: str) -> ChunkSealer:
        """What encrypts an object."""
        return ChunkSealer(self._cipher, *self._names(key))

    def opened(self, pieces: Iterator[bytes], key: str) -> Iterator[bytes]:
        """An object in the clear, from what is behind its head; raises `NotAuthentic`."""
        return chunks.unsealed(pieces, self._cipher, *self._names(key))

    def _names(self, key: str) -> tuple[str, ...]:
        """An export may be copied as a whole, so the folders are not among what an object is known by."""
        return "export", self.account_id, self.export_id, key.rpartition("/")[2]


def export_of(head: bytes) -> str | None:
    """The id of the export that an object is of, by what it begins with: None in the clear, empty if it is no id."""
    if not head.startswith(MARK):
        return None
    export_id = head[len(MARK) : HEAD_BYTES].decode("ascii", "replace")
    return export_id if is_export_id(export_id) else ""


class SealingBucket:
    """A bucket into which an export is written, encrypted."""

    def __init__(self, bucket: Bucket, seal: ExportSeal) -> None:
        self._bucket = bucket
        self._seal = seal

    def put(self, key: str, data: bytes) -> Written:
        """Store a small object."""
        with self.writer(key) as writer:
            writer.write(data)
            return writer.commit()

    def writer(self, key: str) -> "SealedWriter":
        """Store a large object piece by piece."""
        return SealedWriter(self._bucket.writer(key), self._seal, key)


class SealedWriter:
    """An object on its way. What is said of it when it is stored is about its bytes in the clear."""

    def __init__(self, writer: Writer, seal: ExportSeal, key: str) -> None:
        self._writer = writer
        self._sealer = seal.sealer(key)
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._size = 0
        writer.write(seal.head)

    def write(self, data: bytes | memoryview) -> None:
        for chunk in self._sealer.add(data):
            self._writer.write(chunk)
        self._md5.update(data)
        self._size += len(data)

    def commit(self) -> Written:
        self._writer.write(self._sealer.finish())
        key = self._writer.commit().key
        return Written(key, self._size, self._md5.hexdigest(), self._md5.digest())

    def abort(self) -> None:
        self._writer.abort()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()
