"""The vault: key material under the root key, and the ciphertexts that clients get."""

import os
from collections.abc import Mapping

from hashrange.kms import cipher
from hashrange.kms.ciphertexts import HEAD_BYTES, encoded_head
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.framing import framed, framed_context
from hashrange.kms.interface import Material
from hashrange.kms.sizes import KEY_BYTES
from hashrange.kms.wrapping import Wrapping

_PURPOSE = "key material"


def rewrapped(material: Material, old: Wrapping, new: Wrapping) -> bytes:
    """Key material under another root key; raises `NotAuthentic`."""
    names = (material.key_arn, str(material.number))
    return new.wrap(_PURPOSE, old.unwrap(_PURPOSE, material.wrapped, *names), *names)


class Vault:
    """Makes and uses key material, which leaves it only wrapped."""

    __slots__ = ("_root",)

    def __init__(self, root: Wrapping) -> None:
        self._root = root

    @property
    def check_value(self) -> bytes:
        """What the data knows the root key by."""
        return self._root.check_value

    def new_material(self, key_arn: str, number: int) -> bytes:
        """New material for a key, wrapped."""
        return self._root.wrap(_PURPOSE, os.urandom(KEY_BYTES), key_arn, str(number))

    def encrypt(self, material: Material, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        """The ciphertext under a key's material."""
        head = encoded_head(material)
        return head + cipher.seal(self._key(material), plaintext, framed(head, framed_context(context)))

    def decrypt(self, material: Material, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        """The plaintext; raises `NotAuthentic`."""
        head = encoded_head(material)
        if ciphertext[:HEAD_BYTES] != head:
            raise NotAuthentic
        associated = framed(head, framed_context(context))
        return cipher.unseal(self._key(material), ciphertext[HEAD_BYTES:], associated)

    def _key(self, material: Material) -> bytes:
        return self._root.unwrap(_PURPOSE, material.wrapped, material.key_arn, str(material.number))
