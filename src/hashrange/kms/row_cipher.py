"""Rows under a data key: AES-256-GCM, bound to the key bytes of the row.

A stored row is a byte for the format, a salt, a nonce, the ciphertext and the tag. The salt makes a key of its own for
every process that writes, and for every 2^28 rows: under one key random nonces of 96 bits are safe for 2^32 messages
only (NIST SP 800-38D, 8.3), and neither a fork nor a clone of a machine may repeat one, as a counter would.
"""

import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from hashrange.kms.cipher import derived_key
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.sizes import NONCE_BYTES, TAG_BYTES

_FORMAT = b"\x01"
_SALT_BYTES = 8
HEAD_BYTES = 1 + _SALT_BYTES
_CIPHERTEXT_AT = HEAD_BYTES + NONCE_BYTES
OVERHEAD_BYTES = _CIPHERTEXT_AT + TAG_BYTES
_ROWS_PER_SALT = 2**28
_CIPHERS_MAX = 1024


class Salt:
    """What the rows of a table begin with that this process writes: the format and a salt. It is no secret."""

    __slots__ = ("head", "left")

    def __init__(self) -> None:
        self.head = b""
        self.left = 0  # rows that may still be written with it


class RowCipher:
    """Seals and opens rows under one data key. Any thread may use it.

    A cipher that is made anew for the same key goes on with the salt of the one before: every salt costs the readers of
    its rows a key to derive.
    """

    __slots__ = ("_ciphers", "_key", "_salt", "_writing")

    def __init__(self, key: bytes, salt: Salt | None = None) -> None:
        self._key = key
        self._salt = salt or Salt()
        self._ciphers: dict[bytes, AESGCM] = {}  # by what rows begin with
        self._writing: tuple[bytes, AESGCM] | None = None  # what rows begin with, and the cipher for it

    def __repr__(self) -> str:
        return "RowCipher()"

    def seal(self, row_key: bytes, value: bytes) -> bytes:
        """The stored form of a row's value."""
        writing = self._writing
        salt = self._salt
        # Several threads may count at once and miss some: the bound is far enough from the one that matters.
        salt.left -= 1
        if writing is None or salt.left < 0:
            writing = self._begin_writing()
        head, cipher = writing
        nonce = os.urandom(NONCE_BYTES)
        return head + nonce + cipher.encrypt(nonce, value, row_key)

    def unseal(self, row_key: bytes, stored: bytes) -> bytes:
        """The value; raises `NotAuthentic` if it is not what was stored at this key."""
        cipher = self._ciphers.get(stored[:HEAD_BYTES]) or self._cipher_of(stored)
        try:
            return cipher.decrypt(stored[HEAD_BYTES:_CIPHERTEXT_AT], stored[_CIPHERTEXT_AT:], row_key)
        except (InvalidTag, ValueError):
            raise NotAuthentic from None

    def unseal_packed(
        self, row_keys: Sequence[bytes], heads: bytes, nonces: Sequence[bytes], texts: Sequence[bytes]
    ) -> list[bytes]:
        """The values of many rows whose stored forms were cut in three, as `HEAD_BYTES` and `NONCE_BYTES` say."""
        try:
            if heads == heads[:HEAD_BYTES] * len(row_keys):
                return list(map(self._cipher_of(heads).decrypt, nonces, texts, row_keys)) if heads else []
            starts = range(0, len(heads), HEAD_BYTES)
            ciphers = [self._cipher_of(heads[start : start + HEAD_BYTES]) for start in starts]
            return [
                cipher.decrypt(*row) for cipher, *row in zip(ciphers, nonces, texts, row_keys, strict=True)
            ]
        except (InvalidTag, ValueError):
            raise NotAuthentic from None

    def _begin_writing(self) -> tuple[bytes, AESGCM]:
        salt = self._salt
        if salt.left < 0 or not salt.head:
            salt.head, salt.left = _FORMAT + os.urandom(_SALT_BYTES), _ROWS_PER_SALT
        writing = self._writing = (salt.head, self._derived(salt.head))
        return writing

    def _cipher_of(self, stored: bytes) -> AESGCM:
        """The cipher for a stored form, or for what one begins with."""
        head = stored[:HEAD_BYTES]
        cipher = self._ciphers.get(head)
        if cipher is None:
            if len(head) < HEAD_BYTES or not head.startswith(_FORMAT):
                raise NotAuthentic
            if len(self._ciphers) >= _CIPHERS_MAX:
                self._ciphers.clear()
            cipher = self._ciphers[head] = self._derived(head)
        return cipher

    def _derived(self, head: bytes) -> AESGCM:
        """The cipher for what begins with a format and a salt: another format makes another key."""
        return AESGCM(derived_key(self._key, b"hashrange rows", head))
