"""The vault, opened when somebody first asks for it: most servers have no keys, and need not load the cipher."""

from hashrange.kms.interface import KeyVault
from hashrange.kms.key_source import KeySource


class LazyVault:
    """Opens the vault once."""

    __slots__ = ("_source", "_vault")

    def __init__(self, source: KeySource) -> None:
        self._source = source
        self._vault: KeyVault | None = None

    def opened(self) -> KeyVault:
        """The vault; raises `RootKeyInvalid` if there is no root key, and none can be made."""
        if self._vault is None:
            from hashrange.kms.vault import Vault  # noqa: PLC0415 - it loads the cipher
            from hashrange.kms.wrapping import Wrapping  # noqa: PLC0415

            self._vault = Vault(Wrapping(self._source.needed().reveal()))
        return self._vault
