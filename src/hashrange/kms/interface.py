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


class BlockCipher(Protocol):
    """Seals and opens the blocks of a file."""

    def seal(self, block: bytes, *names: str) -> bytes:
        """The encrypted block, under the names that say which one it is."""

    def unseal(self, sealed: bytes, *names: str) -> bytes:
        """The block; raises `NotAuthentic`."""


class FileSeals(Protocol):
    """Makes and opens the keys of files outside of the database."""

    @property
    def seals_new(self) -> bool:
        """Whether new files are encrypted; otherwise they are only read."""

    def new_keys(self) -> dict[str, bytes]:
        """A new key, wrapped, by the id of the root key: what the head of a file has."""

    def cipher(self, keys: Mapping[str, bytes]) -> BlockCipher:
        """The cipher by a file's head; raises `OtherRootKey` or `NotAuthentic`."""
