"""Wrapping: what the root key does, on which everything secret in the database hangs, and which is not in it."""

from hashrange.kms import cipher
from hashrange.kms.framing import framed
from hashrange.kms.sealing import CHECK
from hashrange.kms.sizes import KEY_BYTES


class Wrapping:
    """Wraps the keys and secrets that the database keeps. What it holds shows in no representation."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a root key has {KEY_BYTES} bytes")
        self._key = key

    def __repr__(self) -> str:
        return "Wrapping()"

    def __reduce__(self) -> str:
        raise TypeError("a root key is not to be written down")

    @property
    def check_value(self) -> bytes:
        """What the data knows the key by; nothing about the key follows from it."""
        return cipher.derived_key(self._key, CHECK)

    def wrap(self, purpose: str, secret: bytes, *names: str) -> bytes:
        """Encrypt a secret, for a purpose and under the names of what it belongs to."""
        return cipher.seal(self._purpose_key(purpose), secret, _names(names))

    def unwrap(self, purpose: str, wrapped: bytes, *names: str) -> bytes:
        """The secret; raises `NotAuthentic` if it is another root key's, or was wrapped for something else."""
        return cipher.unseal(self._purpose_key(purpose), wrapped, _names(names))

    def _purpose_key(self, purpose: str) -> bytes:
        return cipher.derived_key(self._key, f"hashrange {purpose}".encode())


def _names(names: tuple[str, ...]) -> bytes:
    return framed(*(name.encode() for name in names))
