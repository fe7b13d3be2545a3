"""Where a server's root key comes from: the setting, or a file beside the data, which is made when it is needed."""

from collections.abc import Mapping
from pathlib import Path

from hashrange.kms import root_key
from hashrange.kms.root_key import FILE_NAME, RootKey, RootKeyInvalid


class KeySource:
    """Finds the root key once."""

    def __init__(
        self, place: str, environment: Mapping[str, str], *, folder: Path | None, shared: bool
    ) -> None:
        """`folder` is that of the data, if it has one; data that servers share needs a key that is named."""
        self._place = place
        self._environment = environment
        self._folder = folder
        self._shared = shared
        self._key: RootKey | None = None

    def known(self) -> RootKey | None:
        """The root key, if there is one."""
        if self._key is None:
            if self._place:
                self._key = root_key.load(self._place, self._environment)
            elif self._folder is not None and (self._folder / FILE_NAME).exists():
                self._key = root_key.from_file(self._folder / FILE_NAME)
        return self._key

    def needed(self) -> RootKey:
        """The root key; if there is none yet, one is made beside the data, or in memory if the data is there."""
        known = self.known()
        if known is not None:
            return known
        if self._shared:
            raise RootKeyInvalid("identities need a root key: start all servers with the same --root-key")
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
