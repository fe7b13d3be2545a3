"""Opening the vault: the root key is read once, before workers part, and must be the one of the data."""

import os
from functools import cache
from typing import TYPE_CHECKING

from hashrange.config import SettingInvalid, Settings
from hashrange.kms.errors import RootKeyUnavailable
from hashrange.kms.interface import KeyVault
from hashrange.kms.root_key_sources import read_root_key
from hashrange.storage import root_key_record
from hashrange.storage.engine import Engine

if TYPE_CHECKING:
    from hashrange.kms.wrapping import Wrapping


@cache
def root_key(source: str) -> "Wrapping":
    """The root key; a command is run once, whatever the number of workers, which are forked later."""
    from hashrange.kms.wrapping import Wrapping  # noqa: PLC0415 - it loads the cipher, which most servers do not need

    try:
        return Wrapping(read_root_key(source, os.environ))
    except RootKeyUnavailable as error:
        raise SettingInvalid(f"--root-key: {error}") from None


def open_vault(settings: Settings, engine: Engine) -> KeyVault | None:
    """The vault of this data; None if the server is started without a root key. Waits for the disk."""
    if not settings.root_key:
        root_key_record.agree(engine, None)
        return None
    from hashrange.kms.vault import Vault  # noqa: PLC0415 - likewise

    root = root_key(settings.root_key)
    root_key_record.agree(engine, root.fingerprint)
    return Vault(root)
