"""The ciphertexts that clients get: version, key id, number of the key material, and the sealed bytes.

They are opaque to clients. What stands before the sealed bytes is authenticated along with the encryption context, so a
ciphertext opens under exactly the key and the material that made it.
"""

from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

from hashrange.kms.errors import NotAuthentic
from hashrange.kms.interface import Material
from hashrange.kms.sizes import SEALED_OVERHEAD_BYTES

_VERSION = 1
_KEY_ID = slice(1, 17)
_NUMBER = slice(17, 21)
HEAD_BYTES = 21


class Head(NamedTuple):
    """What a ciphertext says of itself; nothing of it is proven before it is decrypted."""

    key_id: str
    material_number: int


def head_of(ciphertext: bytes) -> Head:
    """Whose ciphertext it is; raises `NotAuthentic` for what cannot be one."""
    if len(ciphertext) < HEAD_BYTES + SEALED_OVERHEAD_BYTES or ciphertext[0] != _VERSION:
        raise NotAuthentic
    return Head(str(UUID(bytes=ciphertext[_KEY_ID])), int.from_bytes(ciphertext[_NUMBER], "big"))


def encoded_head(material: Material) -> bytes:
    """The head of all ciphertexts under a key's material."""
    key_id = material.key_arn.rpartition("/")[2]
    return bytes([_VERSION]) + UUID(key_id).bytes + material.number.to_bytes(4, "big")


def material_id(key_id: str, number: int) -> str:
    """The public id of key material, which stays the same when the root key is rotated."""
    return sha256(f"{key_id} {number}".encode()).hexdigest()
