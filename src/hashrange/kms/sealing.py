"""Sealing: short secrets under keys that are derived from the root key, one for each purpose.

AES-256-GCM with a random nonce of 96 bits. A sealed text is bound to its purpose and to its label, such as the id of
an access key: moved to another row it does not open.
"""

# The library takes a while to load, so only those wait for it who have something to seal.
# ruff: noqa: PLC0415

import secrets

from hashrange.kms.root_key import RootKey
from hashrange.kms.sizes import NONCE_BYTES, TAG_BYTES

ACCESS_KEYS = "hashrange/access-keys/1"
SESSIONS = "hashrange/sessions/1"
CHECK = b"hashrange/root-key-check/1"


class NotSealed(Exception):
    """What should open does not: it was changed, is another's, or the key is another one."""


class Seal:
    """Seals and opens the texts of one purpose."""

    __slots__ = ("_cipher", "_invalid")

    def __init__(self, root_key: RootKey, purpose: str) -> None:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._invalid = InvalidTag
        self._cipher = AESGCM(_derived(root_key, purpose.encode()))

    def seal(self, text: bytes, label: bytes) -> bytes:
        """The sealed form of a text."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, text, label)

    def open(self, sealed: bytes, label: bytes) -> bytes:
        """The text."""
        if len(sealed) < NONCE_BYTES + TAG_BYTES:
            raise NotSealed
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], label)
        except self._invalid:
            raise NotSealed from None


def check_value(root_key: RootKey) -> bytes:
    """What a database keeps to know its root key by; nothing about the key follows from it."""
    return _derived(root_key, CHECK)


def _derived(root_key: RootKey, purpose: bytes) -> bytes:
    from hashrange.kms.cipher import derived_key

    return derived_key(root_key.reveal(), purpose)
