"""Small files that are encrypted as a whole: JSON with the wrapped key, by the id of the root key, and the rest."""

import msgspec

from hashrange.kms.interface import BlockCipher

SEALED_FORMAT = 2  # manifests in the clear have 1
SUFFIX = ".sealed"
_WHOLE = "whole file"  # what no block of a data file is called


class SealedFile(msgspec.Struct, frozen=True, kw_only=True):
    """What such a file has."""

    format: int
    keys: dict[str, bytes]
    sealed: bytes


def sealed(content: bytes, cipher: BlockCipher, keys: dict[str, bytes]) -> bytes:
    """A file with this content, encrypted; `keys` are the wrapped ones of the cipher."""
    return msgspec.json.encode(
        SealedFile(format=SEALED_FORMAT, keys=keys, sealed=cipher.seal(content, _WHOLE))
    )


def unsealed(file: SealedFile, cipher: BlockCipher) -> bytes:
    """The content; raises `NotAuthentic`."""
    return cipher.unseal(file.sealed, _WHOLE)
