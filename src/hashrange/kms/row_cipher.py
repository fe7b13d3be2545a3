"""Rows under a data key: AES-256-GCM, bound to the key bytes of the row.

A stored row is a byte for the format, a salt, a nonce, the ciphertext and the tag. The salt makes a key of its own for
every process that writes, and for every 2^28 rows: under one key random nonces of 96 bits are safe for 2^32 messages
only (NIST SP 800-38D, 8.3), and neither a fork nor a clone of a machine may repeat one, as a counter would.
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from hashrange.kms.cipher import derived_key
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.sizes import NONCE_BYTES, TAG_BYTES

_FORMAT = b"\x01"
_SALT_BYTES = 8
_NONCE_AT = 1 + _SALT_BYTES
_CIPHERTEXT_AT = _NONCE_AT + NONCE_BYTES
OVERHEAD_BYTES = _CIPHERTEXT_AT + TAG_BYTES
_ROWS_PER_SALT = 2**28
_CIPHERS_MAX = 1024


class RowCipher:
    """Seals and opens rows under one data key. Any thread may use it."""

    __slots__ = ("_ciphers", "_key", "_left", "_writing")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._ciphers: dict[bytes, AESGCM] = {}  # by salt
        self._left = 0  # rows that may still be written with this salt
        self._writing: tuple[bytes, AESGCM] | None = None  # what rows begin with, and the cipher for it

    def __repr__(self) -> str:
        return "RowCipher()"

    def seal(self, row_key: bytes, value: bytes) -> bytes:
        """The stored form of a row's value."""
        writing = self._writing
        # Several threads may count at once and miss some: the bound is far enough from the one that matters.
        self._left -= 1
        if writing is None or self._left < 0:
            writing = self._new_salt()
        head, cipher = writing
        nonce = os.urandom(NONCE_BYTES)
        return head + nonce + cipher.encrypt(nonce, value, _FORMAT + row_key)

    def unseal(self, row_key: bytes, stored: bytes) -> bytes:
        """The value; raises `NotAuthentic` if it is not what was stored at this key."""
        cipher = self._ciphers.get(stored[1:_NONCE_AT])
        if cipher is None:
            cipher = self._cipher_of(stored)
        try:
            return cipher.decrypt(
                stored[_NONCE_AT:_CIPHERTEXT_AT], stored[_CIPHERTEXT_AT:], stored[:1] + row_key
            )
        except (InvalidTag, ValueError):
            raise NotAuthentic from None

    def _new_salt(self) -> tuple[bytes, AESGCM]:
        salt = os.urandom(_SALT_BYTES)
        writing = self._writing = (_FORMAT + salt, self._derived(salt))
        self._left = _ROWS_PER_SALT
        return writing

    def _cipher_of(self, stored: bytes) -> AESGCM:
        if len(stored) < OVERHEAD_BYTES:
            raise NotAuthentic
        if len(self._ciphers) >= _CIPHERS_MAX:
            self._ciphers.clear()
        salt = stored[1:_NONCE_AT]
        cipher = self._ciphers[salt] = self._derived(salt)
        return cipher

    def _derived(self, salt: bytes) -> AESGCM:
        return AESGCM(derived_key(self._key, b"hashrange rows", salt))
