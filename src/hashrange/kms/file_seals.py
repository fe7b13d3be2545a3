"""Files outside of the database (backups, reports): encrypted in blocks, under a key of their own for each file set.

That key is wrapped under the root key and kept in the file's head, under the id of the root key. While the root key is
being rotated a head has it twice, so that an interruption leaves files that open with either.
"""

import os
from collections.abc import Mapping

from hashrange.kms import cipher
from hashrange.kms.errors import OtherRootKey
from hashrange.kms.framing import framed
from hashrange.kms.key_id import key_id
from hashrange.kms.root_key import RootKey
from hashrange.kms.sealing import check_value
from hashrange.kms.sizes import KEY_BYTES, SALT_BYTES
from hashrange.kms.wrapping import Wrapping

_PURPOSE = "file key"


class FileCipher:
    """Seals and opens the blocks of files under one key. A block opens only under the names it was sealed with."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "FileCipher()"

    def seal(self, block: bytes, *names: str) -> bytes:
        """The encrypted block; the names say which one it is: of which file, and which number."""
        return cipher.seal(self._key, block, _framed(names))

    def unseal(self, sealed: bytes, *names: str) -> bytes:
        """The block; raises `NotAuthentic`."""
        return cipher.unseal(self._key, sealed, _framed(names))


class RootFileSeals:
    """The keys of files, under a root key."""

    __slots__ = ("_wrapping", "key_id", "seals_new")

    def __init__(self, key: RootKey, *, seals_new: bool) -> None:
        """`seals_new`: new files are encrypted, as the rows of the data are; otherwise files are only read."""
        self._wrapping = Wrapping(key.reveal())
        self.key_id = key_id(check_value(key))
        self.seals_new = seals_new

    def new_keys(self) -> dict[str, bytes]:
        """A new key, wrapped, for the head of a file."""
        return {self.key_id: self._wrapping.wrap(_PURPOSE, os.urandom(KEY_BYTES))}

    def cipher(self, keys: Mapping[str, bytes]) -> FileCipher:
        """The cipher of a file by its head; raises `OtherRootKey` or `NotAuthentic`."""
        return FileCipher(self._unwrapped(keys))

    def page_key(self, keys: Mapping[str, bytes]) -> bytes:
        """What the pages of a data file are encrypted with: a key of 32 bytes and a salt of 16."""
        key = self._unwrapped(keys)
        salt = cipher.derived_key(key, b"salt of pages")
        return cipher.derived_key(key, b"key of pages") + salt[:SALT_BYTES]

    def shared_with(self, other: "RootFileSeals", keys: Mapping[str, bytes]) -> dict[str, bytes]:
        """The head of a file for both root keys."""
        if other.key_id in keys:
            return dict(keys)
        wrapped = other._wrapping.wrap(_PURPOSE, self._unwrapped(keys))  # noqa: SLF001 - one of its own kind
        return {**keys, other.key_id: wrapped}

    def _unwrapped(self, keys: Mapping[str, bytes]) -> bytes:
        wrapped = keys.get(self.key_id)
        if wrapped is None:
            raise OtherRootKey(keys, self.key_id)
        return self._wrapping.unwrap(_PURPOSE, wrapped)


def _framed(names: tuple[str, ...]) -> bytes:
    return framed(*(name.encode() for name in names))
