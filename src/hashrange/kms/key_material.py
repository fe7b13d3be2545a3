"""What a KMS key encrypts with, and the ciphertexts that clients get.

A ciphertext is opaque to clients: version, key id, number of the key material, and the sealed bytes. The key and the
material are authenticated along with the encryption context, so a ciphertext opens under exactly the key that made it.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

from hashrange.kms import cipher
from hashrange.kms.cipher import KEY_BYTES, NotAuthentic
from hashrange.kms.framing import framed, framed_context
from hashrange.kms.root_key import RootKey

_VERSION = 1
_KEY_ID = slice(1, 17)
_NUMBER = slice(17, 21)
_HEAD_BYTES = 21
_PURPOSE = "key material"


class Ciphertext(NamedTuple):
    """A ciphertext that was taken apart; nothing of it is proven before it is decrypted."""

    key_id: str
    material_number: int
    sealed: bytes


class Vault:
    """Makes and uses key material, which leaves it only wrapped."""

    __slots__ = ("_root",)

    def __init__(self, root: RootKey) -> None:
        self._root = root

    def new_material(self, key_arn: str, number: int) -> bytes:
        """New material for a key, wrapped."""
        return self._root.wrap(_PURPOSE, os.urandom(KEY_BYTES), key_arn, str(number))

    def encrypt(
        self, key_arn: str, material: tuple[int, bytes], plaintext: bytes, context: Mapping[str, str]
    ) -> bytes:
        """The ciphertext under a key's material, which is a number and wrapped bytes."""
        number, wrapped = material
        head = bytes([_VERSION]) + UUID(_id_of(key_arn)).bytes + number.to_bytes(4, "big")
        key = self._root.unwrap(_PURPOSE, wrapped, key_arn, str(number))
        return head + cipher.seal(key, plaintext, framed(head, framed_context(context)))

    def decrypt(
        self, key_arn: str, material: tuple[int, bytes], ciphertext: Ciphertext, context: Mapping[str, str]
    ) -> bytes:
        """The plaintext; raises `NotAuthentic`."""
        number, wrapped = material
        head = bytes([_VERSION]) + UUID(_id_of(key_arn)).bytes + number.to_bytes(4, "big")
        key = self._root.unwrap(_PURPOSE, wrapped, key_arn, str(number))
        return cipher.unseal(key, ciphertext.sealed, framed(head, framed_context(context)))


def taken_apart(blob: bytes) -> Ciphertext:
    """The parts of a ciphertext; raises `NotAuthentic` for what cannot be one."""
    if len(blob) < _HEAD_BYTES + cipher.SEALED_OVERHEAD_BYTES or blob[0] != _VERSION:
        raise NotAuthentic
    number = int.from_bytes(blob[_NUMBER], "big")
    return Ciphertext(str(UUID(bytes=blob[_KEY_ID])), number, blob[_HEAD_BYTES:])


def material_id(wrapped: bytes) -> str:
    """The public id of key material."""
    return sha256(wrapped).hexdigest()


def _id_of(key_arn: str) -> str:
    return key_arn.rpartition("/")[2]
