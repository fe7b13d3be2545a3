"""A short name for a root key, by which people tell one from another."""

_ID_BYTES = 8


def key_id(check_value: bytes) -> str:
    """The id, from what the data knows the key by; nothing about the key follows from it."""
    return check_value[:_ID_BYTES].hex()
