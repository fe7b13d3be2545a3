"""Sizes of keys and of what encryption adds."""

KEY_BYTES = 32
NONCE_BYTES = 12
SALT_BYTES = 16
TAG_BYTES = 16
SEALED_OVERHEAD_BYTES = SALT_BYTES + TAG_BYTES
