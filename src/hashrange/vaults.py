"""Opening data with its keys: the root key is read once, before workers part, and must be the one of the data."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hashrange import logs, wrapped_root_key
from hashrange.config import SettingInvalid, Settings
from hashrange.kms import root_key
from hashrange.kms.key_source import KeySource
from hashrange.kms.root_key import RootKey, RootKeyInvalid
from hashrange.kms.sealing import check_value
from hashrange.passwords import hide_variable
from hashrange.remote_keys.patient import patient_keys
from hashrange.storage import root_key_record
from hashrange.storage.engine import Engine
from hashrange.storage.errors import OpenError

# The cipher takes a while to load, so only those wait for it who have something encrypted.
# ruff: noqa: PLC0415

_PLAIN = (
    "this data was begun without --root-key: keys and secrets are encrypted, but items stay in the clear. "
    "`hashrange migrate --root-key` makes a copy that is encrypted"
)
log = logs.Log("vaults")

if TYPE_CHECKING:
    from hashrange.kms.interface import FileSeals
    from hashrange.kms.table_key import TableKeys
    from hashrange.storage.copying import Copyable
    from hashrange.storage.data_keys import DataKeys
    from hashrange.storage.encrypted_copies import Stored
    from hashrange.storage.encrypting import ReadStep


@cache
def named_root_key(place: str) -> RootKey | None:
    """The root key that a setting names; a command is run once, whatever the number of workers, forked later."""
    kind, _, name = place.partition(":")
    try:
        if kind == "kms" and name:
            return wrapped_root_key.load(Path(name))
        key = root_key.load(place, os.environ) if place else None
    except RootKeyInvalid as error:
        raise SettingInvalid(f"--root-key: {error}") from None
    if kind == "env":
        hide_variable(os.environ, name)
    return key


class Opened(NamedTuple):
    """Data with its keys."""

    engine: Engine  # with its rows encrypted, if they are
    source: KeySource
    forget: Callable[[float, float], None] | None = (
        None  # unwrapped keys: at a moment, those so many seconds old
    )
    is_plain: bool = False  # a root key is named, and rows are in the clear all the same


def open_served_keys(settings: Settings, engine: Engine, table_keys: "TableKeys | None" = None) -> Opened:
    """Open the keys of data that a server is to serve; `table_keys` are those that another key service opens.

    Data in the clear may have been put in the place of encrypted data. Who verifies signatures relies on what it says
    of identities, so it is refused then, unless somebody says that it is meant.
    """
    opened = open_keys(settings.root_key, engine, table_keys)
    if opened.is_plain and settings.auth != "off" and not settings.allow_plain_rows:
        raise OpenError(
            f"{engine.description} is in the clear although --root-key is named, so it may have been put in the place "
            "of encrypted data. `hashrange migrate --root-key` makes an encrypted copy; --allow-plain-rows says that "
            "it is meant to be so"
        )
    return opened


def open_keys(place: str, engine: Engine, table_keys: "TableKeys | None" = None) -> Opened:
    """Open the keys of some data.

    A root key that is named has new data encrypted. The file beside the data, which is made for secrets without anybody
    asking for it, has not. Waits for the disk.
    """
    source = KeySource(named_root_key(place), folder=engine.directory, shared=engine.shared)
    try:
        key = source.known()
    except RootKeyInvalid as problem:
        raise OpenError(str(problem)) from None
    if key is None:
        root_key_record.check(engine, None, "")
        return Opened(engine, source)
    root_key_record.check(engine, check_value(key), key.source)
    if not source.is_named and not engine.read(root_key_record.is_encrypted):
        return Opened(engine, source)
    from hashrange.storage.encrypting import open_encrypted

    data_keys = _data_keys(key, table_keys=table_keys)
    encrypted = open_encrypted(engine, data_keys)
    if encrypted is None:
        if table_keys is not None:
            raise OpenError(
                f"{engine.description} is in the clear, so --kms-endpoint would protect nothing: {_PLAIN}"
            )
        log.warning("rows.plain", reason=_PLAIN)
        return Opened(engine, source, is_plain=True)
    encrypted.write(lambda tx: root_key_record.claim(tx, check_value(key)))
    return Opened(encrypted, source, data_keys.forget)


def file_seals(key: RootKey | None, *, seals_new: bool) -> "FileSeals | None":
    """What encrypts files beside the database, such as backups; None if there is no root key."""
    if key is None:
        return None
    from hashrange.kms.file_seals import RootFileSeals

    return RootFileSeals(key, seals_new=seals_new)


class DecryptedStore:
    """A store that is only read, with its rows opened if they are encrypted."""

    def __init__(self, store: "Stored", root_key: str) -> None:
        self.description = store.description
        self.counters = store.counters
        self.is_encrypted = store.read(root_key_record.is_encrypted)
        self.read = decrypted_read(root_key, store.description, store.read)


def decrypted_read(place: str, description: str, read: "ReadStep") -> "ReadStep":
    """The `read` of a store with its rows opened, if they are encrypted; without the root key that is an error."""
    if not read(root_key_record.is_encrypted):
        return read
    key = named_root_key(place)
    if key is None:
        raise OpenError(f"{description} is encrypted under a root key: name it with --root-key")
    check_named_key(place, description, read)
    from hashrange.storage.encrypting import EncryptedReads

    # Whoever has the root key may see whether the data is whole.
    return EncryptedReads(read, _data_keys(key, checks_states=False, table_keys=patient_keys())).read


def encrypted_target(place: str, engine: "Copyable") -> "Copyable":
    """An empty engine that encrypts what is copied into it, or one with an unfinished copy of that kind."""
    from hashrange.storage.encrypted_copies import EncryptedTarget
    from hashrange.storage.encrypting import open_encrypted

    key = named_root_key(place)
    if key is None:
        raise OpenError(
            f"what is copied to {engine.description} is encrypted: name the root key with --root-key"
        )
    keys = _data_keys(key, checks_states=False, table_keys=patient_keys())
    if open_encrypted(engine, keys) is None:
        raise OpenError(f"{engine.description} is not empty")
    return EncryptedTarget(engine, keys)


def check_named_key(place: str, description: str, read: "ReadStep") -> None:
    """Refuse a named root key that is not the one of the data."""
    key = named_root_key(place)
    if key is not None:
        stored = read(root_key_record.stored_check_value)
        root_key_record.compare(stored, check_value(key), description, key.source)


def claim_named_key(place: str, engine: Engine) -> None:
    """Note in a finished copy under which root key it is."""
    key = named_root_key(place)
    if key is not None:
        engine.write(lambda tx: root_key_record.claim(tx, check_value(key)))


def _data_keys(
    key: RootKey, *, checks_states: bool = True, table_keys: "TableKeys | None" = None
) -> "DataKeys":
    from hashrange.kms.wrapping import Wrapping
    from hashrange.storage.data_keys import DataKeys

    return DataKeys(Wrapping(key.reveal()), checks_states=checks_states, table_keys=table_keys)
