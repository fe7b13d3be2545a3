"""The key of the pages of a data directory: in a file beside them, wrapped under the root key."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hashrange.config import SettingInvalid, Settings
from hashrange.core.schema import changed
from hashrange.kms.errors import NotAuthentic, OtherRootKey
from hashrange.storage.errors import OpenError
from hashrange.storage.sqlite import page_encryption
from hashrange.storage.sqlite.schema import data_file
from hashrange.vaults import named_root_key

if TYPE_CHECKING:
    from hashrange.kms.file_seals import RootFileSeals

_FORMAT = 1


class PageKey(msgspec.Struct, frozen=True):
    """What the file has."""

    format: int
    keys: dict[str, bytes]  # the key, wrapped, by the id of a root key


def unlock_pages(directory: Path, root_key: str, *, encrypt_new: bool = False) -> None:
    """Make the pages of a data directory readable, if they are encrypted; `encrypt_new`: those of new data are to be.

    To be called before the data is opened.
    """
    if not page_encryption.is_encrypted(directory):
        if not encrypt_new:
            return
        _begin(directory, root_key)
    seals = _seals(directory, root_key)
    path = directory / page_encryption.KEY_NAME
    try:
        key = seals.page_key(_read(path).keys)
    except OtherRootKey as problem:
        raise OpenError(f"{path} cannot be used: {problem}") from None
    except NotAuthentic:
        raise OpenError(f"{path} is damaged: restore it from a backup of the data directory") from None
    page_encryption.unlock(directory, key)


def unlock_settings(settings: Settings) -> None:
    """Likewise, for a server."""
    if settings.in_memory or settings.engine != "sqlite":
        if settings.encrypt_pages:
            raise SettingInvalid(
                "--encrypt-pages is for data in a directory: encrypt the volume of the database"
            )
        return
    unlock_pages(settings.data_dir, settings.root_key, encrypt_new=settings.encrypt_pages)


def share(directory: Path, old: "RootFileSeals", new: "RootFileSeals") -> None:
    """Put the key under another root key as well."""
    if page_encryption.is_encrypted(directory):
        path = directory / page_encryption.KEY_NAME
        stored = _read(path)
        try:
            _replace(path, changed(stored, keys=old.shared_with(new, stored.keys)))
        except OtherRootKey as problem:
            raise OpenError(f"{path} cannot be used: {problem}") from None


def drop_all_but(directory: Path, new: "RootFileSeals") -> None:
    """Take every root key but one out of the file."""
    if page_encryption.is_encrypted(directory):
        path = directory / page_encryption.KEY_NAME
        stored = _read(path)
        _replace(path, changed(stored, keys={new.key_id: stored.keys[new.key_id]}))


def _begin(directory: Path, root_key: str) -> None:
    """Make the key of new data."""
    if data_file(directory).exists():
        raise OpenError(
            f"--encrypt-pages: the pages of {directory} are not encrypted. `hashrange migrate --encrypt-pages` makes a "
            "copy whose pages are"
        )
    page_encryption.check_available(directory)
    seals = _seals(directory, root_key)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(directory / page_encryption.KEY_NAME, PageKey(_FORMAT, seals.new_keys()), is_new=True)
    except OSError as error:
        raise OpenError(f"cannot write into {directory}: {error.strerror}") from None


def _seals(directory: Path, root_key: str) -> "RootFileSeals":
    from hashrange.kms.file_seals import RootFileSeals  # noqa: PLC0415 - it loads the cipher

    key = named_root_key(root_key)
    if key is None:
        raise OpenError(f"the pages of {directory} are encrypted under a root key: name it with --root-key")
    return RootFileSeals(key, seals_new=False)


def _read(path: Path) -> PageKey:
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=PageKey)
    except OSError as error:
        raise OpenError(f"cannot read {path}: {error.strerror}") from None
    except msgspec.MsgspecError:
        raise OpenError(f"{path} is damaged: restore it from a backup of the data directory") from None
    if stored.format != _FORMAT:
        raise OpenError(f"{path} has format {stored.format}, this version reads {_FORMAT}")
    return stored


def _replace(path: Path, content: PageKey, *, is_new: bool = False) -> None:
    """Write the file, durably; a new one never replaces another."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(content) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            with suppress(FileExistsError):  # somebody else was faster
                path.hardlink_to(draft)
        else:
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
