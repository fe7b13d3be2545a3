"""Opening the vault: the root key is read once, before workers part, and must be the one of the data."""

import os
from functools import cache
from typing import TYPE_CHECKING

from hashrange import logs
from hashrange.config import SettingInvalid, Settings
from hashrange.kms.errors import RootKeyUnavailable
from hashrange.kms.interface import KeyVault
from hashrange.kms.root_key_sources import read_root_key
from hashrange.storage import root_key_record
from hashrange.storage.engine import Engine
from hashrange.storage.errors import OpenError

_PLAIN = (
    "this data was begun without a root key: keys and secrets are encrypted from now on, but items stay in the clear. "
    "Export them and import them into a new data directory to have them encrypted"
)
log = logs.Log("vaults")

if TYPE_CHECKING:
    from hashrange.kms.wrapping import Wrapping
    from hashrange.storage.encrypting import ReadStep


@cache
def root_key(source: str) -> "Wrapping":
    """The root key; a command is run once, whatever the number of workers, which are forked later."""
    from hashrange.kms.wrapping import Wrapping  # noqa: PLC0415 - it loads the cipher, which most servers do not need

    try:
        return Wrapping(read_root_key(source, os.environ))
    except RootKeyUnavailable as error:
        raise SettingInvalid(f"--root-key: {error}") from None


def open_vault(settings: Settings, engine: Engine) -> tuple[Engine, KeyVault | None]:
    """The engine, with its rows encrypted if they are, and the vault of this data, if there is a root key.

    Waits for the disk.
    """
    if not settings.root_key:
        root_key_record.agree(engine, None)
        return engine, None
    from hashrange.kms.vault import Vault  # noqa: PLC0415 - likewise
    from hashrange.storage.data_keys import DataKeys  # noqa: PLC0415 - they load the cipher, too
    from hashrange.storage.encrypting import open_encrypted  # noqa: PLC0415

    root = root_key(settings.root_key)
    root_key_record.agree(engine, root.fingerprint)
    encrypted = open_encrypted(engine, DataKeys(root))
    if encrypted is None:
        log.warning("rows.plain", reason=_PLAIN)
    return encrypted or engine, Vault(root)


def decrypted_read(source: str, description: str, read: "ReadStep") -> "ReadStep":
    """The `read` of a store with its rows opened, if they are encrypted; without the root key that is an error."""
    if not read(root_key_record.is_encrypted):
        return read
    if not source:
        raise OpenError(f"the data in {description} is encrypted under a root key: name it with --root-key")
    from hashrange.storage.data_keys import DataKeys  # noqa: PLC0415 - as above
    from hashrange.storage.encrypting import EncryptedReads  # noqa: PLC0415

    root = root_key(source)
    if read(root_key_record.stored_fingerprint) != root.fingerprint:
        raise OpenError(f"the data in {description} is encrypted under another root key")
    return EncryptedReads(read, DataKeys(root)).read
