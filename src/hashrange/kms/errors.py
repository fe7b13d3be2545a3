"""What can be wrong with keys and with what is encrypted under them."""


class NotAuthentic(Exception):
    """The bytes are not what was encrypted under this key, for this purpose: some of them were changed, or moved."""
