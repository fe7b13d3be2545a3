"""AES-256-GCM: what is encrypted here cannot be changed, shortened or put elsewhere without being noticed.

A message is a salt, the ciphertext and the tag. `seal` derives a key of its own for every message, from a random
salt, so that any number of messages may be made under one key: 96 random bits alone would allow 2^32 (NIST SP
800-38D, 8.3).
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from hashrange.kms.errors import NotAuthentic
from hashrange.kms.sizes import KEY_BYTES, NONCE_BYTES, SALT_BYTES, SEALED_OVERHEAD_BYTES

_ZERO_NONCE = bytes(NONCE_BYTES)


def derived_key(key: bytes, purpose: bytes, salt: bytes = b"") -> bytes:
    """A key for one purpose, from which neither the other keys nor `key` can be told."""
    return HKDF(SHA256(), KEY_BYTES, salt=salt or None, info=purpose).derive(key)


def seal(key: bytes, plaintext: bytes, associated: bytes) -> bytes:
    """Encrypt a message; `associated` is needed to open it again, and is not in it."""
    salt = os.urandom(SALT_BYTES)
    message_key = derived_key(key, b"message", salt)
    # The key is used for this message alone, so the nonce need not differ.
    return salt + AESGCM(message_key).encrypt(_ZERO_NONCE, plaintext, associated)


def unseal(key: bytes, message: bytes, associated: bytes) -> bytes:
    """The plaintext of a message of `seal`."""
    if len(message) < SEALED_OVERHEAD_BYTES:
        raise NotAuthentic
    message_key = derived_key(key, b"message", message[:SALT_BYTES])
    try:
        return AESGCM(message_key).decrypt(_ZERO_NONCE, message[SALT_BYTES:], associated)
    except InvalidTag:
        raise NotAuthentic from None
