"""Where a server's root key comes from: the setting, or a file beside the data, which is made when it is needed."""

from pathlib import Path

from hashrange.kms import root_key
from hashrange.kms.root_key import FILE_NAME, RootKey, RootKeyInvalid


class KeySource:
    """Finds the root key once."""

    def __init__(self, named: RootKey | None, *, folder: Path | None, shared: bool) -> None:
        """`named` is what a setting names; `folder` is that of the data, if it has one.

        Data that servers share needs a key that is named.
        """
        self.is_named = named is not None
        self._folder = folder
        self._shared = shared
        self._key = named

    def known(self) -> RootKey | None:
        """The root key, if there is one."""
        if self._key is None and self._folder is not None and (self._folder / FILE_NAME).exists():
            self._key = root_key.from_file(self._folder / FILE_NAME)
        return self._key

    def needed(self) -> RootKey:
        """The root key; if there is none yet, one is made beside the data, or in memory if the data is there."""
        known = self.known()
        if known is not None:
            return known
        if self._shared:
            raise RootKeyInvalid(
                "keys and secrets need a root key: start all servers with the same --root-key"
            )
        if self._folder is None:
            self._key = root_key.temporary()
        else:
            self._key = _made(self._folder / FILE_NAME)
        return self._key


def _made(path: Path) -> RootKey:
    try:
        return root_key.create_file(path)
    except RootKeyInvalid:
        if path.exists():
            return root_key.from_file(path)  # another worker was faster
        raise
