"""Encryption of whole pages: SQLite3 Multiple Ciphers, which comes as another build of APSW (`apsw-sqlite3mc`).

It hides what must be in the clear for rows to sort: their keys, and names. Each page, in the file and in its log, is
ChaCha20 with a Poly1305 tag. The tag takes the place of the page's checksum: the two extensions do not go together, for
the one that SQLite calls last would see the other's ciphertext. The first 96 bytes of the file, which are sizes and
versions, stay readable: a start compares them with the log before anything is opened.
"""

import os
from contextlib import suppress
from pathlib import Path

import apsw

from hashrange.storage.errors import OpenError

KEY_NAME = "hashrange.key"  # beside the data file: its key, wrapped under the root key
KEY_BYTES = 48  # a key and a salt
_VFS = "multipleciphers-unix"
_CIPHER = "chacha20"
_HEADER_BYTES = 96
_RESERVED_AT = 20  # where a file's first page says how many bytes of every page are reserved
_RESERVED_BYTES = 32  # for the nonce and the tag

_keys: dict[Path, bytes] = {}  # of the data directories that this process has unlocked


def is_available() -> bool:
    """Whether this build of APSW can encrypt pages."""
    return hasattr(apsw, "mc_version")


def is_encrypted(directory: Path) -> bool:
    """Whether the pages of the data in a directory are encrypted."""
    # Not `Path.exists`, which raises for names that no directory has; those who open it say what is wrong.
    return os.path.exists(directory / KEY_NAME)  # noqa: PTH110


def check_available(directory: Path) -> None:
    """Raise if this build of APSW cannot encrypt pages."""
    if not is_available():
        raise OpenError(
            f"the pages of {directory} are, or are to be, encrypted, which needs another build of APSW: "
            "pip uninstall --yes apsw && pip install apsw-sqlite3mc"
        )


def unlock(directory: Path, key: bytes) -> None:
    """Have connections to the data in a directory use a key from now on."""
    check_available(directory)
    _keys[directory.resolve()] = key


def unlock_copy(copy: Path, original: Path) -> None:
    """Have connections to a copy of the data use the key of the original, if that has one."""
    key = _keys.get(original.resolve())
    if key is not None:
        _keys[copy.resolve()] = key


def is_unlocked(path: Path) -> bool:
    """Whether connections to a data file decrypt its pages."""
    return path.parent.resolve() in _keys


def connect(path: str, name: str, flags: int, statement_cache_size: int) -> apsw.Connection:
    """Open a connection to the data file at `path`, whose name for SQLite may be a URI."""
    directory = Path(path).parent
    key = None if path == ":memory:" else _keys.get(directory.resolve())
    if key is None:
        if path != ":memory:":
            _refuse_encrypted(Path(path))
        return apsw.Connection(name, flags=flags, statementcachesize=statement_cache_size)
    # By its name: the default is the extension of the checksums, through which the log would be in the clear.
    connection = apsw.Connection(name, flags=flags, statementcachesize=statement_cache_size, vfs=_VFS)
    for setting in (
        f"cipher = '{_CIPHER}'",
        f"plaintext_header_size = {_HEADER_BYTES}",
        f"key = 'raw:{key.hex()}'",
    ):
        connection.execute(f"PRAGMA {setting}").fetchall()
    return connection


def _refuse_encrypted(path: Path) -> None:
    """Raise if the pages of a file are encrypted, or its directory says that they should be."""
    if is_encrypted(path.parent):
        raise OpenError(f"the pages of {path} are encrypted under a root key: name it with --root-key")
    with suppress(OSError), path.open("rb") as file:
        if file.read(_RESERVED_AT + 1)[_RESERVED_AT:] == bytes([_RESERVED_BYTES]):
            raise OpenError(
                f"the pages of {path} are encrypted, and {KEY_NAME} beside it is missing: put it back"
            )
