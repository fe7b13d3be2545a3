"""What the key service asks of whoever holds the root key; it is loaded only where there is one."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Material(NamedTuple):
    """What a key encrypts with, or did before it was rotated: wrapped under the root key."""

    key_arn: str
    number: int
    wrapped: bytes


class KeyVault(Protocol):
    """Makes and uses key material, which leaves it only wrapped."""

    @property
    def check_value(self) -> bytes:
        """What the data knows the root key by."""

    def new_material(self, key_arn: str, number: int) -> bytes:
        """New material for a key, wrapped."""

    def encrypt(self, material: Material, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        """The ciphertext under a key's material."""

    def decrypt(self, material: Material, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        """The plaintext; raises `NotAuthentic`."""
